// Graphs that the micro-benchmarks run, and one that runs them.
#pragma once

#include <troupe/devices/execution.hpp>

#include <functional>
#include <string>
#include <vector>

namespace troupe::bench {

/// Appends nodes to a graph of float scalars.
class GraphText {
 public:
  GraphText& add(const std::string& name, const std::string& op, std::vector<std::string> inputs = {});
  GraphText& constant(const std::string& name, float value, std::vector<std::string> inputs = {});
  GraphText& enter(const std::string& name, const std::string& input, bool is_constant);
  GraphText& set(const char* attr, std::int64_t value);
  const wire::GraphDef& def() const { return def_; }

 private:
  wire::GraphDef def_;
};

/// y = x + 1 + 1 + ...
wire::GraphDef chain(int length);
/// y = AddN(x + 1, x + 2, ...)
wire::GraphDef fan(int width);
/// A loop of version 1 that counts to x as tf.while_loop writes it.
wire::GraphDef counting_loop();

/// One node, its inputs being the arguments in their order.
wire::GraphDef single(const std::string& op, int inputs, const std::function<void(wire::NodeDef&)>& complete = nullptr);

/// A plan of one result, run where it stands.
class Runner {
 public:
  explicit Runner(const wire::GraphDef& def);
  float operator()(float x) { return (*this)(std::vector<Tensor>{Tensor::scalar(x)}).item<float>(); }
  Tensor operator()(std::vector<Tensor> arguments);
  const Plan& plan() const { return *plan_; }

 private:
  KernelCache kernels_;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace troupe::bench
