// The master actor.
#include <troupe/actors/master.hpp>

#include <troupe/actors/recent_ids.hpp>
#include <troupe/config/device_name.hpp>
#include <troupe/messaging/caf_status.hpp>
#include <troupe/messaging/tensor_codec.hpp>

#include <map>
#include <random>

namespace troupe {
namespace {

std::string random_handle() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("{:016x}", random());
}

/// The request in TensorFlow's short form, for messages.
std::string summary(const google::protobuf::Message& request) { return request.ShortDebugString(); }
std::string summary(const RunStepRequest& request) {
  wire::RunStepRequest brief;
  brief.set_session_handle(request.session_handle);
  for (const auto& feed : request.feeds) {
    brief.add_feed()->set_name(feed.name);
    to_proto(feed.tensor, brief.mutable_feed(brief.feed_size() - 1)->mutable_tensor());
  }
  for (const auto& fetch : request.fetches) brief.add_fetch(fetch);
  for (const auto& target : request.targets) brief.add_target(target);
  if (request.options->ByteSizeLong() > 0) *brief.mutable_options() = *request.options;
  brief.set_partial_run_handle(request.partial_run_handle);
  brief.set_store_errors_in_response_body(request.store_errors_in_response_body);
  brief.set_request_id(request.request_id);
  return brief.ShortDebugString();
}

struct MasterState {
  Master::pointer self = nullptr;
  std::shared_ptr<const Surroundings> around;
  std::map<std::string, Session> sessions;
  RecentIds recent{10'000};

  Answer<wire::CreateSessionResponse> create(Asked<wire::CreateSessionRequest>& request) {
    const std::string handle = random_handle();
    auto session = spawn_session(self->system(), around, handle);
    sessions[handle] = session;
    self->monitor(session);
    by_address[session.address()] = handle;
    return self->delegate(session, std::move(request));
  }

  /// Passes a request on to its session; the reply does not come through here.
  template <class Response, class Request>
  caf::result<Parcel<Response>> pass(Parcel<Request>& request, const std::string& handle) {
    auto found = sessions.find(handle);
    if (found == sessions.end()) return to_caf(aborted("Session {} is not found.", handle));
    return self->delegate(found->second, std::move(request));
  }

  /// The same, but a repeated request is refused.
  template <class Response, class Request>
  caf::result<Parcel<Response>> pass_once(Parcel<Request>& request, const std::string& handle, std::int64_t id, const char* method) {
    if (!recent.remember(id)) return to_caf(aborted("The same {} (Master) request was received twice. {}", method, summary(*request)));
    return pass<Response>(request, handle);
  }

  Answer<wire::CloseSessionResponse> close(Asked<wire::CloseSessionRequest>& request) {
    auto found = sessions.find(request->session_handle());
    if (found == sessions.end()) return to_caf(aborted("Session {} is not found. Possibly, this master has restarted.", request->session_handle()));
    Session session = found->second;
    sessions.erase(found);
    closing[session.address()] = session;
    return self->delegate(session, std::move(request));
  }

  Answer<wire::ListDevicesResponse> list_devices(Asked<wire::ListDevicesRequest>& request) {
    if (!request->session_handle().empty()) {
      if (!sessions.contains(request->session_handle()))
        return to_caf(invalid("Session {} is not found. Possibly, this master has restarted.", request->session_handle()));
      return pass<wire::ListDevicesResponse>(request, request->session_handle());
    }
    auto promise = self->make_response_promise<Parcel<wire::ListDevicesResponse>>();
    auto reply = pack<wire::ListDevicesResponse>();
    for (const auto& device : around->devices) *reply->add_local_device() = device;
    auto left = std::make_shared<std::size_t>(around->peers->size() + 1);
    auto one_less = [promise, reply, left]() mutable {
      if (--*left == 0) promise.deliver(reply);
    };
    for (const auto& [task, worker] : *around->peers)
      self->request(worker, caf::infinite, pack<wire::GetStatusRequest>())
          .then(
              [reply, one_less](Asked<wire::GetStatusResponse>& status) mutable {
                for (const auto& device : status->device_attributes()) *reply->add_remote_device() = device;
                one_less();
              },
              [one_less](caf::error&) mutable { one_less(); });
    one_less();
    return promise;
  }

  Answer<wire::ResetResponse> reset(Asked<wire::ResetRequest>& request) {
    for (const auto& [handle, session] : sessions) {
      closing[session.address()] = session;
      self->send(session, Evict{aborted("Session {} is not found. Possibly, this master has been reset.", handle)});
    }
    sessions.clear();
    auto promise = self->make_response_promise<Parcel<wire::ResetResponse>>();
    std::vector<Worker> workers{around->worker};
    for (const auto& [task, worker] : *around->peers)
      if (wanted(*request, task)) workers.push_back(worker);
    auto left = std::make_shared<std::size_t>(workers.size());
    auto failed = std::make_shared<Status>();
    auto one_less = [promise, left, failed]() mutable {
      if (--*left > 0) return;
      if (failed->ok()) promise.deliver(pack<wire::ResetResponse>());
      else promise.deliver(to_caf(*failed));
    };
    for (const auto& worker : workers) {
      auto cleanup = pack<wire::CleanupAllRequest>();
      *cleanup->mutable_container() = request->container();
      self->request(worker, caf::infinite, std::move(cleanup))
          .then([one_less](Asked<wire::CleanupAllResponse>&) mutable { one_less(); },
                [one_less, failed](caf::error& error) mutable {
                  failed->Update(from_caf(error));
                  one_less();
                });
    }
    return promise;
  }

  static bool wanted(const wire::ResetRequest& request, const std::string& task) {
    if (request.device_filters().empty()) return true;
    auto full = parse_device(task);
    for (const auto& filter : request.device_filters()) {
      auto spec = parse_device(filter);
      if (spec.ok() && full.ok() && matches(*spec, *full)) return true;
    }
    return false;
  }

  void cancel(const CancelCall& message) {
    for (const auto& [handle, session] : sessions) self->send(session, message);
    for (const auto& [address, session] : closing) self->send(session, message);
  }

  void down(const caf::down_msg& message) {
    closing.erase(message.source);
    auto found = by_address.find(message.source);
    if (found == by_address.end()) return;
    sessions.erase(found->second);
    by_address.erase(found);
  }

  std::map<caf::actor_addr, std::string> by_address;
  std::map<caf::actor_addr, Session> closing;
};

Master::behavior_type master(Master::stateful_pointer<MasterState> self, std::shared_ptr<const Surroundings> around) {
  self->state.self = self;
  self->state.around = std::move(around);
  self->set_down_handler([self](caf::down_msg& message) { self->state.down(message); });
  return {
      [=](Asked<wire::RunStepRequest>& r) { return self->state.pass_once<RunStepResponse>(r, r->session_handle, r->request_id, "RunStep"); },
      [=](const CancelCall& message) { self->state.cancel(message); },
      [=](Asked<wire::CreateSessionRequest>& r) { return self->state.create(r); },
      [=](Asked<wire::ExtendSessionRequest>& r) { return self->state.pass<wire::ExtendSessionResponse>(r, r->session_handle()); },
      [=](Asked<wire::PartialRunSetupRequest>& r) {
        return self->state.pass_once<wire::PartialRunSetupResponse>(r, r->session_handle(), r->request_id(), "PartialRunSetup");
      },
      [=](Asked<wire::CloseSessionRequest>& r) { return self->state.close(r); },
      [=](Asked<wire::ListDevicesRequest>& r) { return self->state.list_devices(r); },
      [=](Asked<wire::ResetRequest>& r) { return self->state.reset(r); },
      [=](Asked<wire::MakeCallableRequest>& r) {
        return self->state.pass_once<wire::MakeCallableResponse>(r, r->session_handle(), r->request_id(), "MakeCallable");
      },
      [=](Asked<wire::RunCallableRequest>& r) {
        return self->state.pass_once<wire::RunCallableResponse>(r, r->session_handle(), r->request_id(), "RunCallable");
      },
      [=](Asked<wire::ReleaseCallableRequest>& r) { return self->state.pass<wire::ReleaseCallableResponse>(r, r->session_handle()); },
  };
}

}  // namespace

Master spawn_master(caf::actor_system& system, std::shared_ptr<const Surroundings> surroundings) {
  return system.spawn(master, std::move(surroundings));
}

}  // namespace troupe
