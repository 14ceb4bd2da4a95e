// Building of layers and losses.
#include <troupe/ops/builder/nn.hpp>

namespace troupe::build {
namespace {

std::vector<std::int64_t> spread(const char* format, std::int64_t height, std::int64_t width) {
  return std::string_view(format) == "NCHW" ? std::vector<std::int64_t>{1, 1, height, width} : std::vector<std::int64_t>{1, height, width, 1};
}

Out slide(const char* kind, const Out& x, const Out& filter, const Window& w, const Name& name) {
  if (!x.valid()) return {};
  return x.builder->op(kind, {x, filter},
                       {{"strides", spread(w.data_format, w.height, w.width)}, {"padding", w.padding}, {"data_format", w.data_format}}, name);
}

Out pool(const char* kind, const Out& x, std::int64_t height, std::int64_t width, Window w, const Name& name) {
  if (!x.valid()) return {};
  if (w.height == 0) w.height = height;
  if (w.width == 0) w.width = width;
  return x.builder->op(kind, {x},
                       {{"ksize", spread(w.data_format, height, width)},
                        {"strides", spread(w.data_format, w.height, w.width)},
                        {"padding", w.padding},
                        {"data_format", w.data_format}},
                       name);
}

/// All but the last dimension made one; what the losses want.
Out as_rows(const Out& x) {
  if (x.rank() <= 2) return x;
  const Out last = slice(shape_of(x), {x.rank() - 1}, {1});
  return reshape(x, concat({x.builder->constant(std::vector<std::int32_t>{-1}), last}, 0));
}

}  // namespace

Out leaky_relu(const Out& x, double alpha, const Name& name) {
  return x.valid() ? Out(x.builder->op("LeakyRelu", {x}, {{"alpha", alpha}}, name)) : Out{};
}

Out conv2d(const Out& x, const Out& filter, const Window& strides, const Name& name) { return slide("Conv2D", x, filter, strides, name); }
Out depthwise_conv2d(const Out& x, const Out& filter, const Window& strides, const Name& name) {
  return slide("DepthwiseConv2dNative", x, filter, strides, name);
}
Out max_pool(const Out& x, std::int64_t height, std::int64_t width, Window strides, const Name& name) {
  return pool("MaxPool", x, height, width, strides, name);
}
Out avg_pool(const Out& x, std::int64_t height, std::int64_t width, Window strides, const Name& name) {
  return pool("AvgPool", x, height, width, strides, name);
}
Out bias_add(const Out& x, const Out& bias, const Name& name) { return x.valid() ? Out(x.builder->op("BiasAdd", {x, bias}, {}, name)) : Out{}; }

BatchNorm batch_norm(const Out& x, const Out& scale, const Out& offset, const Out& mean, const Out& variance, bool training, double epsilon,
                     const Name& name) {
  if (!x.valid()) return {};
  Builder& b = *x.builder;
  auto empty = [&](const Out& given) { return given.valid() || !training ? given : b.constant(std::vector<float>{}); };
  const Op op = b.op("FusedBatchNormV3", {x, scale, offset, empty(mean), empty(variance)}, {{"epsilon", epsilon}, {"is_training", training}}, name);
  if (!op.valid()) return {};
  return {op[0], op[1], op[2]};
}

Out dropout(const Out& x, double rate, std::int64_t seed, std::int64_t seed2, const Name& name) {
  if (!x.valid()) return {};
  Builder& b = *x.builder;
  if (rate < 0 || rate >= 1) {
    b.fail(invalid("`rate` must be a float in the range [0, 1), got {} for the dropout of '{}'", rate, x.name()));
    return {};
  }
  auto scope = b.scope(name.empty() ? "dropout" : name);
  const Out random = b.op("RandomUniform", {shape_of(x)}, {{"dtype", x.dtype()}, {"seed", seed}, {"seed2", seed2}}, "random_uniform");
  return where(greater_equal(random, rate), x * (1.0 / (1.0 - rate)), zeros_like(x));
}

Out softmax_cross_entropy(const Out& labels, const Out& logits, const Name& name) {
  if (!logits.valid() || !labels.valid()) return {};
  Builder& b = *logits.builder;
  auto scope = b.scope(name.empty() ? "softmax_cross_entropy_with_logits" : name);
  const Op loss = b.op("SoftmaxCrossEntropyWithLogits", {as_rows(logits), as_rows(labels)}, {}, logits.rank() > 2 ? "" : b.scope_name());
  if (logits.rank() <= 2 || !loss.valid()) return loss;
  return reshape(loss, slice(shape_of(logits), {0}, {logits.rank() - 1}), b.scope_name());
}

Out sparse_softmax_cross_entropy(const Out& labels, const Out& logits, const Name& name) {
  if (!logits.valid() || !labels.valid()) return {};
  Builder& b = *logits.builder;
  auto scope = b.scope(name.empty() ? "SparseSoftmaxCrossEntropyWithLogits" : name);
  const bool flat = logits.rank() <= 2;
  const Op loss = b.op("SparseSoftmaxCrossEntropyWithLogits", {as_rows(logits), flat ? labels : reshape(labels, {-1})});
  return flat || !loss.valid() ? Out(loss) : reshape(loss, shape_of(labels));
}

Out sigmoid_cross_entropy(const Out& labels, const Out& logits, const Name& name) {
  if (!logits.valid() || !labels.valid()) return {};
  Builder& b = *logits.builder;
  auto scope = b.scope(name.empty() ? "logistic_loss" : name);
  // max(x, 0) - x z + log(1 + exp(-|x|)): the exponent is never positive, so that nothing overflows.
  const Out zero = zeros_like(logits), positive = greater_equal(logits, zero);
  const Out part = where(positive, logits, zero), magnitude = where(positive, neg(logits), logits);
  const Out left = part - logits * labels;
  return add(left, log1p(exp(magnitude)), b.scope_name());
}

Out in_top_k(const Out& predictions, const Out& labels, int k, const Name& name) {
  if (!predictions.valid() || !labels.valid()) return {};
  Builder& b = *predictions.builder;
  auto scope = b.scope(name.empty() ? "in_top_k" : name);
  return b.op("InTopKV2", {predictions, labels, b.number(k, labels.dtype(), "k")});
}

Out embedding_lookup(const Variable& table, const Out& ids, const Name& name) {
  if (!table.valid() || !ids.valid()) return {};
  Builder& b = *ids.builder;
  auto scope = b.scope(name.empty() ? "embedding_lookup" : name);
  auto beside = b.beside(op_of(table.handle));
  if (table.resource) return b.op("ResourceGather", {table.handle, ids}, {{"dtype", table.dtype}}, b.scope_name());
  return b.op("GatherV2", {table.handle, ids, b.constant(0, "axis")}, {}, b.scope_name());
}

Out embedding_lookup(const std::vector<Variable>& parts, const Out& ids, const Name& name) {
  if (parts.empty() || !ids.valid()) return {};
  if (parts.size() == 1) return embedding_lookup(parts[0], ids, name);
  Builder& b = *ids.builder;
  auto scope = b.scope(name.empty() ? "embedding_lookup" : name);
  const auto count = static_cast<int>(parts.size());
  const Out flat = reshape(ids, {-1});
  const Out rows = floor_div(flat, count), owners = cast(mod(flat, count), DType::i32);
  const Op asked = b.op("DynamicPartition", {rows, owners}, {{"num_partitions", count}});
  const Op places = b.op("DynamicPartition", {range(b.constant(0), size_of(flat), b.constant(1)), owners}, {{"num_partitions", count}});
  if (!asked.valid() || !places.valid()) return {};
  std::vector<Out> found, where_to;
  for (int i = 0; i < count; ++i) {
    found.push_back(embedding_lookup(parts[static_cast<std::size_t>(i)], asked[i], "Gather"));
    where_to.push_back(places[i]);
  }
  const Out together = b.op("DynamicStitch", {where_to, found});
  const PartialShape& row = parts[0].shape;
  std::vector<std::int32_t> inner;
  for (int i = 1; i < row.rank(); ++i) inner.push_back(static_cast<std::int32_t>(row.dim(i)));
  return reshape(together, concat({shape_of(ids), b.constant(inner)}, 0));
}

}  // namespace troupe::build
