// Gradients of convolutions, pooling, normalisation and losses.
#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/gradients.hpp>
#include <troupe/ops/builder/nn.hpp>

namespace troupe::build {
namespace {

Attrs window_attrs(const Backward& g) {
  return g.attrs({"strides", "padding", "explicit_paddings", "data_format", "dilations", "use_cudnn_on_gpu", "ksize"});
}

void convolution(Backward& g) {
  const std::string kind = g.op.kind();
  g.give(0, g.b.op(kind + "BackpropInput", {shape_of(g.x(0)), g.x(1), g.dy()}, window_attrs(g)));
  g.give(1, g.b.op(kind + "BackpropFilter", {g.x(0), shape_of(g.x(1)), g.dy()}, window_attrs(g)));
}

void transposed_convolution(Backward& g) {
  g.give(1, g.b.op("Conv2DBackpropFilter", {g.dy(), shape_of(g.x(1)), g.x(2)}, window_attrs(g)));
  g.give(2, g.b.op("Conv2D", {g.dy(), g.x(1)}, window_attrs(g)));
}

void normalized(Backward& g) {
  const bool training = g.attr<bool>("is_training");
  const Out mean = training ? g.y(3) : g.x(3), variance = training ? g.y(4) : g.x(4);
  const std::string version = g.op.kind().substr(std::string("FusedBatchNorm").size());
  std::vector<In> inputs{g.dy(), g.x(0), g.x(1), mean, variance};
  if (version == "V3") {
    // Averages are of a wider type than halves.
    inputs[2] = cast(g.x(1), DType::f32);
    inputs.push_back(g.y(5));
  }
  const Op back = g.b.op("FusedBatchNormGrad" + version, inputs, g.attrs({"epsilon", "data_format", "is_training"}));
  for (int i = 0; i < 3 && back.valid(); ++i) g.give(i, back[i]);
}

void softmax_loss(Backward& g) {
  const Out dy = expand_dims(g.dy(), -1);
  g.give(0, unbroadcast(dy * g.y(1), g.x(0), g.y(1)));
  g.give(1, unbroadcast(dy * neg(log_softmax(g.x(0))), g.x(1), g.y(1)));
}

}  // namespace

void add_nn_gradients(GradientTable& t) {
  t["Conv2D"] = t["DepthwiseConv2dNative"] = convolution;
  t["Conv2DBackpropInput"] = transposed_convolution;
  t["MaxPool"] = [](Backward& g) { g.give(0, g.b.op("MaxPoolGrad", {g.x(), g.y(), g.dy()}, window_attrs(g))); };
  t["AvgPool"] = [](Backward& g) { g.give(0, g.b.op("AvgPoolGrad", {shape_of(g.x()), g.dy()}, window_attrs(g))); };
  t["BiasAdd"] = [](Backward& g) {
    g.give(0, g.dy());
    g.give(1, g.b.op("BiasAddGrad", {g.dy()}, g.attrs({"data_format"})));
  };
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}) t[op] = normalized;
  t["Softmax"] = [](Backward& g) { g.give(0, (g.dy() - sum(g.dy() * g.y(), {{-1}, true})) * g.y()); };
  t["LogSoftmax"] = [](Backward& g) { g.give(0, g.dy() - sum(g.dy(), {{-1}, true}) * exp(g.y())); };
  t["SoftmaxCrossEntropyWithLogits"] = softmax_loss;
  t["SparseSoftmaxCrossEntropyWithLogits"] = [](Backward& g) { g.give(0, expand_dims(g.dy(), -1) * g.y(1)); };
  t["L2Loss"] = [](Backward& g) { g.give(0, g.x() * g.dy()); };
  t["LRN"] = [](Backward& g) { g.give(0, g.b.op("LRNGrad", {g.dy(), g.x(), g.y()}, g.attrs({"depth_radius", "bias", "alpha", "beta"}))); };
  t["InTopK"] = t["InTopKV2"] = nullptr;
}

}  // namespace troupe::build
