// A blocking client of TensorFlow's master service, for programs of our own.
#pragma once

#include <troupe/wire/master.pb.h>
#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace grpc {
class Channel;
}

namespace troupe {

/// A session with a node. Used by one thread; closes itself.
class ClientSession {
 public:
  static StatusOr<std::unique_ptr<ClientSession>> open(const std::string& address, const wire::GraphDef& graph, const wire::ConfigProto& config);
  ~ClientSession();

  /// Values of the fetches, in their order.
  StatusOr<std::vector<Tensor>> run(const std::map<std::string, Tensor>& feeds, const std::vector<std::string>& fetches,
                                    const std::vector<std::string>& targets);

 private:
  ClientSession();
  Status call(const std::string& method, const google::protobuf::MessageLite& request, google::protobuf::MessageLite* response);

  std::shared_ptr<grpc::Channel> channel_;
  std::string handle_;
};

}  // namespace troupe
