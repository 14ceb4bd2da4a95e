// The kernels of a node without the node: runs a graph on the calling thread, always in the same order.
#pragma once

#include <troupe/actors/lab/runner.hpp>
#include <troupe/devices/plan.hpp>
#include <troupe/ops/resources/store.hpp>

namespace troupe::lab {

/// What is fed must be a placeholder. Equal runs give equal bytes.
class Engine final : public Runner {
 public:
  static StatusOr<std::unique_ptr<Engine>> open(wire::GraphDef graph);
  StatusOr<std::vector<Tensor>> run(const std::map<std::string, Tensor>& feeds, const std::vector<std::string>& fetches,
                                    const std::vector<std::string>& targets) override;

 private:
  explicit Engine(wire::GraphDef graph);
  StatusOr<std::shared_ptr<const Plan>> compile(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                                                const std::vector<std::string>& targets);
  wire::GraphDef graph_;
  LibraryPtr library_;
  std::map<std::string, int> by_name_;
  std::map<std::string, std::shared_ptr<const Plan>> plans_;
  KernelCache kernels_;
  ResourceStore store_{"localhost"};
};

}  // namespace troupe::lab
