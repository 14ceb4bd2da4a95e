// Who runs a graph: a node that is asked over the wire, or the kernels right here.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>

#include <map>
#include <string>
#include <vector>

namespace troupe::lab {

/// Keeps variables between runs. Used by one thread.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual StatusOr<std::vector<Tensor>> run(const std::map<std::string, Tensor>& feeds, const std::vector<std::string>& fetches,
                                            const std::vector<std::string>& targets) = 0;
};

}  // namespace troupe::lab
