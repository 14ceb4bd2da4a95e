// The models of experiments, each as two kinds of graph: one that workers compute gradients with, one for each shard of the parameters.
#pragma once

#include <troupe/wire/graph.pb.h>
#include <troupe/actors/lab/data.hpp>
#include <troupe/ops/builder/gradients.hpp>
#include <troupe/ops/builder/variable.hpp>

#include <string>
#include <vector>

namespace troupe::lab {

struct Parameter {
  std::string name;
  Shape shape;
  build::Initial initial;
  bool sparse = false;  // its gradient is rows with their numbers
};

/// A pure function of inputs, labels and parameters (by name): the loss, what counts in the end (the score: accuracy, or the share of the
/// variance that is explained), and a gradient for every parameter.
struct Model {
  std::string inputs = "x:0", labels = "y:0", loss = "loss:0", score = "score:0";
  wire::GraphDef graph;
  std::vector<Parameter> parameters;
  std::vector<std::string> gradients;  // fetches: of each parameter the gradient, or its rows and then their numbers
};

StatusOr<Model> build_model(const ModelSpec& spec, const Data& data, std::uint64_t seed);
/// The same of a graph that somebody has written: its variables become parameters.
StatusOr<Model> own_model(const ModelSpec& spec, const Data& data, std::uint64_t seed);
/// Notes the gradients of the loss by the parameters, in their order.
Status note_gradients(const std::vector<build::Grad>& grads, Model& model);

/// The parameters that live on one shard; they go round the shards in turn.
std::vector<std::size_t> parameters_of_shard(const Model& model, int shard, int shards);

/// Variables under the parameters' names, "init", and "apply", which takes gradients as "<name>/gradient:0" (and "<name>/rows:0") and the rate as
/// "rate:0". "reset" assigns "<name>/value:0".
StatusOr<wire::GraphDef> build_shard(const Model& model, const std::vector<std::size_t>& which, const OptimizerSpec& optimizer);

/// What reads a parameter.
std::string read_name(const Parameter& parameter);

}  // namespace troupe::lab
