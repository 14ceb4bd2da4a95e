// Datasets as graphs.
#pragma once

#include <troupe/wire/graph.pb.h>
#include <troupe/ops/data/dataset.hpp>

namespace troupe {

/// A graph whose only result is a dataset like this one; what variables and tables hold is in it.
StatusOr<wire::GraphDef> to_graph(const DatasetPtr& dataset, ResourceStore& resources);

}  // namespace troupe
