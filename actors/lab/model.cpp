// Graphs of the models.
#include <troupe/actors/lab/model.hpp>

#include <troupe/ops/builder/gradients.hpp>
#include <troupe/ops/builder/nn.hpp>

namespace troupe::lab {
namespace {

using namespace build;

/// Adds parameters as placeholders and remembers them.
class Network {
 public:
  Network(const Data& data, std::uint64_t seed) : data_(data), seed_(static_cast<std::int64_t>(seed)) {
    const bool words = data.train.inputs.dtype() == DType::i32;
    x = b.placeholder(words ? DType::i32 : DType::f32, dims({-1, data.train.width()}), "x");
    y = b.placeholder(data.classifies() ? DType::i64 : DType::f32, dims({-1}), "y");
  }

  Out parameter(const std::string& name, const Shape& shape, Initial initial) {
    const Out out = b.placeholder(DType::f32, PartialShape(shape), name);
    model.parameters.push_back({name, shape, std::move(initial)});
    handles_.push_back(out);
    return out;
  }
  Out weights(const std::string& name, const Shape& shape) {
    return parameter(name, shape, glorot_uniform(shape, seed_ + 1, static_cast<std::int64_t>(handles_.size()) + 1));
  }
  Out dense(const Out& in, std::int64_t from, std::int64_t to, const std::string& name) {
    const Out w = weights(name + "_w", {from, to});
    return bias_add(matmul(in, w), parameter(name + "_b", {to}, zeros({to})));
  }
  Out convolve(const Out& in, std::int64_t from, std::int64_t to, const std::string& name) {
    const Out w = weights(name + "_w", {5, 5, from, to});
    return max_pool(relu(bias_add(conv2d(in, w), parameter(name + "_b", {to}, zeros({to})))), 2, 2);
  }
  Out table(const std::string& name, std::int64_t rows, std::int64_t width) {
    return parameter(name, {rows, width}, random_uniform({rows, width}, -0.5, 0.5, seed_ + 1, static_cast<std::int64_t>(handles_.size()) + 1));
  }
  std::int64_t answers() const { return data_.classifies() ? data_.classes : 1; }

  /// Loss, score and gradients of what was built.
  StatusOr<Model> finish(const Out& answer) {
    Out loss;
    if (data_.classifies()) {
      loss = mean(sparse_softmax_cross_entropy(y, answer), {}, "loss");
      mean(cast(equal(argmax(answer, 1), y), DType::f32), {}, "score");
    } else {
      const Out errors = squared_difference(reshape(answer, {-1}), y);
      loss = mean(errors, {}, "loss");
      sub(1.0, div(mean(errors), mean(squared_difference(y, mean(y)))), "score");
    }
    const auto grads = gradients({loss}, handles_);
    TRY(b.status());
    TRY(note_gradients(grads, model));
    TRY_ASSIGN(model.graph, b.graph());
    return std::move(model);
  }

  Builder b;
  Out x, y;
  Model model;

 private:
  const Data& data_;
  std::int64_t seed_;
  std::vector<Out> handles_;
};

Out mlp(Network& n, const ModelSpec& spec, std::int64_t width) {
  Out h = n.x;
  for (std::size_t i = 0; i < spec.hidden.size(); ++i) {
    h = relu(n.dense(h, width, spec.hidden[i], fmt::format("hidden{}", i)));
    width = spec.hidden[i];
  }
  return n.dense(h, width, n.answers(), "out");
}

Out cnn(Network& n) {
  Out h = reshape(n.x, {-1, 28, 28, 1});
  h = n.convolve(h, 1, 8, "conv0");
  h = n.convolve(h, 8, 16, "conv1");
  h = relu(n.dense(reshape(h, {-1, 7 * 7 * 16}), 7 * 7 * 16, 64, "hidden"));
  return n.dense(h, 64, n.answers(), "out");
}

Out embedding(Network& n, const ModelSpec& spec, const Data& data) {
  std::int32_t words = 0;
  for (const Examples* some : {&data.train, &data.test})
    for (std::int32_t word : some->inputs.values<std::int32_t>()) words = std::max(words, word + 1);
  const Out found = gather(n.table("words", words, spec.width), n.x);
  return n.dense(mean(found, {{1}}), spec.width, n.answers(), "out");
}

}  // namespace

Status note_gradients(const std::vector<Grad>& grads, Model& model) {
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].none()) return invalid("the loss does not depend on {}", model.parameters[i].name);
    model.parameters[i].sparse = grads[i].is_sparse();
    if (!grads[i].is_sparse()) {
      model.gradients.push_back(grads[i].dense().name());
      continue;
    }
    model.gradients.push_back(grads[i].sparse().values.name());
    const Out rows = grads[i].sparse().indices;
    model.gradients.push_back((rows.dtype() == DType::i32 ? rows : cast(rows, DType::i32)).name());
  }
  return absl::OkStatus();
}

StatusOr<Model> build_model(const ModelSpec& spec, const Data& data, std::uint64_t seed) {
  if (spec.kind == "graph") return own_model(spec, data, seed);
  Network n(data, seed);
  const std::int64_t width = data.train.width();
  if (spec.kind == "linear" && data.classifies()) return invalid("the model linear predicts a number, but the labels are classes; take softmax");
  if (spec.kind == "softmax" && !data.classifies()) return invalid("the model softmax predicts classes, but the labels are numbers; take linear");
  if (spec.kind == "mlp") return n.finish(mlp(n, spec, width));
  if (spec.kind == "cnn") return n.finish(cnn(n));
  if (spec.kind == "embedding") return n.finish(embedding(n, spec, data));
  return n.finish(n.dense(n.x, width, n.answers(), "out"));
}

}  // namespace troupe::lab
