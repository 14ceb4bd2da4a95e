// Shapes of convolutions, pooling, normalisation and losses.
#include <troupe/ops/builder/shapes.hpp>

namespace troupe::build {
namespace {

using Many = std::vector<std::int64_t>;

/// Where the height and the channels of an image are, by its data format; the width follows the height.
struct Layout {
  std::size_t height = 1, channels = 3;
  explicit Layout(const std::string& format) {
    if (format == "NCHW") height = 2, channels = 1;
  }
};

StatusOr<std::int64_t> window_count(std::int64_t size, std::int64_t window, std::int64_t stride, std::int64_t dilation, const std::string& padding) {
  if (stride <= 0) return invalid("Strides must be positive, not {}", stride);
  if (size < 0 || window < 0) return std::int64_t{-1};
  if (padding == "SAME") return (size + stride - 1) / stride;
  const std::int64_t covered = (window - 1) * dilation + 1;
  if (size < covered) return invalid("Negative dimension size caused by subtracting {} from {}", covered, size);
  return (size - covered) / stride + 1;
}

Status slide(ShapeCall& c, const Sizes& x, const Many& window, std::int64_t channels) {
  const Layout at(c.attr<std::string>("data_format"));
  const auto strides = c.attr<Many>("strides");
  const auto padding = c.attr<std::string>("padding");
  const auto dilations = c.made().def.attr().contains("dilations") ? c.attr<Many>("dilations") : Many{1, 1, 1, 1};
  if (strides.size() != 4 || dilations.size() != 4) return invalid("Strides and dilations need 4 numbers");
  Many out(4, -1);
  if (x) out[0] = (*x)[0];
  out[at.channels] = channels;
  for (std::size_t i = 0; i < 2; ++i) {
    if (padding == "EXPLICIT") continue;
    TRY_ASSIGN(out[at.height + i], window_count(x ? (*x)[at.height + i] : -1, window[i], strides[at.height + i], dilations[at.height + i], padding));
  }
  c.set(0, out);
  return absl::OkStatus();
}

Status convolution(ShapeCall& c) {
  const Sizes x = c.in(0), filter = c.in(1);
  TRY(want_rank(x, 4));
  TRY(want_rank(filter, 4));
  const Many f = filter ? *filter : Many(4, -1);
  const Layout at(c.attr<std::string>("data_format"));
  const bool by_depth = c.made().def.op() == "DepthwiseConv2dNative";
  const std::int64_t channels = x ? (*x)[at.channels] : -1;
  if (channels >= 0 && f[2] > 0 && (by_depth ? channels != f[2] : channels % f[2] != 0))
    return invalid("Depth of input ({}) is not a multiple of input depth of filter ({})", channels, f[2]);
  return slide(c, x, {f[0], f[1]}, by_depth ? (f[2] < 0 || f[3] < 0 ? -1 : f[2] * f[3]) : f[3]);
}

Status pooling(ShapeCall& c) {
  const Sizes x = c.in(0);
  TRY(want_rank(x, 4));
  const Layout at(c.attr<std::string>("data_format"));
  const auto window = c.attr<Many>("ksize");
  if (window.size() != 4) return invalid("A pooling window needs 4 numbers");
  return slide(c, x, {window[at.height], window[at.height + 1]}, x ? (*x)[at.channels] : -1);
}

Status batch_norm(ShapeCall& c) {
  const Sizes x = c.in(0);
  TRY(want_rank(x, 4));
  std::int64_t channels = x ? (*x)[Layout(c.attr<std::string>("data_format")).channels] : -1;
  for (int i = 1; i < 3; ++i) {
    TRY(want_rank(c.in(i), 1));
    TRY_ASSIGN(channels, merge_dims(channels, c.in(i) ? (*c.in(i))[0] : -1));
  }
  c.set(0, x);
  for (int i = 1; i < 5; ++i) c.set(i, Many{channels});
  return absl::OkStatus();
}

Status softmax_loss(ShapeCall& c) {
  TRY_ASSIGN(const Sizes both, broadcast_sizes(c.in(0), c.in(1)));
  TRY(want_rank(both, 2));
  if (both) c.set(0, Many{(*both)[0]});
  c.set(1, both);
  return absl::OkStatus();
}

Status sparse_softmax_loss(ShapeCall& c) {
  const Sizes logits = c.in(0), labels = c.in(1);
  TRY(want_rank(logits, 2));
  TRY(want_rank(labels, 1));
  TRY_ASSIGN(const std::int64_t batch, merge_dims(logits ? (*logits)[0] : -1, labels ? (*labels)[0] : -1));
  c.set(0, Many{batch});
  if (logits) c.set(1, Many{batch, (*logits)[1]});
  return absl::OkStatus();
}

Status bias(ShapeCall& c) {
  Sizes x = c.in(0);
  const Sizes b = c.in(1);
  TRY(want_rank(b, 1));
  if (!x) return absl::OkStatus();
  if (x->size() < 2) return invalid("Shape must be at least rank 2 but is rank {}", x->size());
  auto& channels = (*x)[c.attr<std::string>("data_format") == "NCHW" ? 1 : x->size() - 1];
  TRY_ASSIGN(channels, merge_dims(channels, b ? (*b)[0] : -1));
  c.set(0, x);
  return absl::OkStatus();
}

Status gradient_of_size(ShapeCall& c) {
  c.set(0, c.shape_said_by(c.made().def.op().ends_with("Filter") ? 1 : 0));
  return absl::OkStatus();
}

}  // namespace

void add_nn_shapes(ShapeTable& table) {
  for (const char* op : {"Conv2D", "DepthwiseConv2dNative"}) table[op] = convolution;
  for (const char* op : {"MaxPool", "AvgPool"}) table[op] = pooling;
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}) table[op] = batch_norm;
  for (const char* op :
       {"Conv2DBackpropInput", "Conv2DBackpropFilter", "AvgPoolGrad", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"})
    table[op] = gradient_of_size;
  table["MaxPoolGrad"] = [](ShapeCall& c) {
    c.set(0, c.in(0));
    return absl::OkStatus();
  };
  table["SoftmaxCrossEntropyWithLogits"] = softmax_loss;
  table["SparseSoftmaxCrossEntropyWithLogits"] = sparse_softmax_loss;
  table["BiasAdd"] = bias;
  for (const char* op : {"InTopK", "InTopKV2"})
    table[op] = [](ShapeCall& c) {
      c.set(0, c.in(1));
      return absl::OkStatus();
    };
}

}  // namespace troupe::build
