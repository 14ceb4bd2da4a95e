// Save and restore of variables by the graph itself, and graphs with what belongs to them.
#pragma once

#include <troupe/wire/meta_graph.pb.h>
#include <troupe/ops/builder/variable.hpp>

namespace troupe::build {

/// To save: feed `filename` with a checkpoint's prefix and fetch `saved`. To restore: feed it likewise and run `restore`.
struct Saver {
  Out filename;
  Out saved;
  Op restore;
  /// What a MetaGraphDef says of the above.
  wire::SaverDef def() const;
};

/// For all variables made so far where none are named. Checkpoints are those of version 2, with the names of the variables.
Saver saver(Builder& b, std::vector<Variable> variables = {});

/// Inputs and outputs by the names that callers know them under.
wire::SignatureDef signature(const std::vector<std::pair<std::string, Out>>& inputs, const std::vector<std::pair<std::string, Out>>& outputs,
                             const std::string& method = "tensorflow/serving/predict");

/// The graph with its saver and signatures; what saved models are made of.
StatusOr<wire::MetaGraphDef> meta_graph(const Builder& b, const Saver& saver,
                                        const std::vector<std::pair<std::string, wire::SignatureDef>>& signatures = {},
                                        const std::vector<std::string>& tags = {"serve"});

}  // namespace troupe::build
