// The order of operands, as TensorFlow's optimizer leaves it: errors, partition graphs and sums of many floats show it.
#pragma once

#include <troupe/wire/rewriter_config.pb.h>
#include <troupe/ops/graph.hpp>

namespace troupe {

/// Whether TensorFlow would change the order in a graph that it optimizes at all.
bool sorts_operands(const wire::RewriterConfig& wishes);
/// Where operands may change places, they stand in the order of their names.
void sort_operands(Graph& step);

}  // namespace troupe
