// The process's transport thread.
#include <troupe/messaging/poller.hpp>

#include <grpcpp/server_builder.h>
#include <pthread.h>
#include <signal.h>
#include <troupe/messaging/transport.hpp>

#include <mutex>

namespace troupe {
namespace {

using Queues = std::vector<grpc::ServerCompletionQueue*>;

// gRPC's core lets servers share a queue, its C++ builder only makes new ones: the list of the builder is reached through the one
// place where the language does not check access, an explicit instantiation.
Queues& queues_of(grpc::ServerBuilder& builder);
template <Queues grpc::ServerBuilder::*List>
struct Reach {
  friend Queues& queues_of(grpc::ServerBuilder& builder) { return builder.*List; }
};
template struct Reach<&grpc::ServerBuilder::cqs_>;

void poll(grpc::CompletionQueue& queue) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  void* tag = nullptr;
  bool ok = false;
  while (queue.Next(&tag, &ok)) {
    TransportEvent& event = TransportEvent::of(tag);
    event.home().arrived(event, ok);
  }
}

}  // namespace

void share_queue(grpc::ServerBuilder& builder, grpc::ServerCompletionQueue& queue) { queues_of(builder).push_back(&queue); }

std::shared_ptr<Poller> Poller::shared() {
  static std::mutex mutex;
  static std::weak_ptr<Poller> current;
  std::lock_guard lock(mutex);
  auto poller = current.lock();
  if (!poller) {
    poller.reset(new Poller);
    current = poller;
  }
  return poller;
}

Poller::Poller() : thread_([queue = queue_] { poll(*queue); }) { pthread_setname_np(thread_.native_handle(), "troupe-grpc"); }

Poller::~Poller() {
  queue_->Shutdown();
  if (thread_.get_id() == std::this_thread::get_id()) thread_.detach();
  else thread_.join();
}

}  // namespace troupe
