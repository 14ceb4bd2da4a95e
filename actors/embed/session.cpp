// Requests and replies of a client's session.
#include <troupe/actors/embed/session.hpp>

#include <troupe/actors/embed/node_core.hpp>

#include <algorithm>
#include <string_view>

namespace troupe::embed {

namespace {

/// Keeps the door open until the server has heard that the session is over.
struct LastWord final : ReplyTaker {
  explicit LastWord(std::shared_ptr<Door> d) : door(std::move(d)) {}
  void take(caf::type_erased_tuple&) override {}
  void fail(const caf::error&) override {}
  std::shared_ptr<Door> door;
};

}  // namespace

Session::Core::~Core() {
  if (handle.empty() || !door->desk()->stage().alive() || !door->desk()->refusal().ok()) return;
  auto request = pack<wire::CloseSessionRequest>();
  request->set_session_handle(handle);
  const auto id = door->desk()->expect(std::make_unique<LastWord>(door), 0);
  door->desk()->send(master, id, std::move(request));
}

Parcel<RunStepRequest> Session::Core::run_request(Feeds feeds, const std::vector<std::string>& fetches, std::vector<std::string> targets) const {
  auto request = pack<RunStepRequest>();
  request->session_handle = handle;
  for (auto& [name, tensor] : feeds) request->feeds.push_back({name, std::move(tensor)});
  request->fetches = fetches;
  request->targets = std::move(targets);
  request->request_id = random_request_id();
  request.call = next_call_number();
  return request;
}

StatusOr<std::vector<Tensor>> FetchedInOrder::operator()(Parcel<RunStepResponse>& reply) const {
  if (!reply->status.ok()) return reply->status;
  std::vector<Tensor> values;
  values.reserve(fetches.size());
  for (const std::string& fetch : fetches) {
    auto found = std::find_if(reply->tensors.begin(), reply->tensors.end(), [&](const NamedTensor& named) { return named.name == fetch; });
    if (found == reply->tensors.end()) return internal("The step gave no value for {}", fetch);
    values.push_back(found->tensor);
  }
  return values;
}

void FetchedInOrder::give_up(const Status& reason) const { caf::anon_send(session->master, CancelCall{call, reason}); }

std::vector<std::string> Session::variables() const {
  std::vector<std::string> names;
  if (core_)
    for (const auto& [name, ops] : core_->variables) names.push_back(name);
  return names;
}

std::shared_ptr<Door> door_of(const Node& node) { return node.core(); }

std::shared_ptr<Door> door_of(const Stage& stage, const std::string& target) {
  constexpr std::string_view scheme = "grpc://";
  return open_remote_door(stage.core(), target.starts_with(scheme) ? target.substr(scheme.size()) : target);
}

}  // namespace troupe::embed
