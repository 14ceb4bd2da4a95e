// Graphs run by a node that is asked over the wire.
#pragma once

#include <troupe/actors/client.hpp>
#include <troupe/actors/lab/runner.hpp>

namespace troupe::lab {

class NodeRunner final : public Runner {
 public:
  static StatusOr<std::unique_ptr<NodeRunner>> open(const std::string& address, const wire::GraphDef& graph) {
    TRY_ASSIGN(auto session, ClientSession::open(address, graph, {}));
    return std::unique_ptr<NodeRunner>(new NodeRunner(std::move(session)));
  }
  StatusOr<std::vector<Tensor>> run(const std::map<std::string, Tensor>& feeds, const std::vector<std::string>& fetches,
                                    const std::vector<std::string>& targets) override {
    return session_->run(feeds, fetches, targets);
  }

 private:
  explicit NodeRunner(std::unique_ptr<ClientSession> session) : session_(std::move(session)) {}
  std::unique_ptr<ClientSession> session_;
};

}  // namespace troupe::lab
