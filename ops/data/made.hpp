// How a dataset was made, for who wants to make it again elsewhere.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/kernel.hpp>

#include <memory>
#include <vector>

namespace troupe {

class Dataset;

struct Made {
  std::shared_ptr<const wire::NodeDef> node;
  std::vector<Tensor> inputs;
};

bool makes_dataset(const wire::OpDef& op);
/// The kernel of a node that makes a dataset, which keeps with it how that was done.
Kernel remembering(Kernel kernel, const wire::NodeDef& node);

/// Refuses a dataset whose own functions keep a state elsewhere.
Status check_functions(const Dataset& dataset);
/// The same for its inputs too.
Status check_state(const Dataset& dataset);

}  // namespace troupe
