// The models: classifiers of digits, tables with sparse gradients, synchronous replicas, and a bit of every op.
#include "networks.hpp"

#include <troupe/ops/builder/nn.hpp>
#include <troupe/ops/builder/replicas.hpp>
#include <troupe/ops/builder/saver.hpp>

#include <functional>
#include <map>

namespace troupe::models {
namespace {

using namespace build;
using build::Variable;  // not the node's own

struct Parts {
  Builder b;
  std::map<std::string, std::vector<std::string>> collections;

  void note(const std::vector<Out>& xs, const std::vector<Grad>& grads) {
    for (std::size_t i = 0; i < xs.size(); ++i) {
      collections["xs"].push_back(xs[i].name());
      const Grad& g = grads[i];
      collections["grads"].push_back(g.none() ? "" : (g.is_sparse() ? g.sparse().values.name() + "|" + g.sparse().indices.name() : g.dense().name()));
    }
  }

  void note(const std::vector<GradientOf>& all) {
    for (const auto& g : all) note({g.variable.handle}, {g.grad});
  }

  /// Loss and accuracy of a classifier, trained by Adam.
  void classify(const Out& logits, const Out& labels) {
    const Out loss = mean(sparse_softmax_cross_entropy(labels, logits), {}, "loss");
    mean(cast(equal(argmax(logits, 1), labels), DType::f32), {}, "accuracy");
    const Variable step = global_step(b);
    Adam adam(0.001);
    const auto grads = adam.compute_gradients(loss);
    note(grads);
    finish(adam.apply_gradients(grads, step), logits);
  }

  void finish(const Op& train, const Out& answer) {
    b.group({train}, "train");
    answer_ = answer;
    b.initializer();
  }

  StatusOr<wire::MetaGraphDef> take() {
    auto x = b.find_output("x:0");
    const Saver s = saver(b);
    std::vector<std::pair<std::string, wire::SignatureDef>> signatures;
    if (x.ok() && answer_.valid()) signatures.emplace_back("serving_default", signature({{"x", *x}}, {{"answer", answer_}}));
    TRY_ASSIGN(auto meta, meta_graph(b, s, signatures));
    for (const auto& [key, names] : collections)
      for (const auto& name : names) (*meta.mutable_collection_def())[key].mutable_node_list()->add_value(name);
    return meta;
  }

 private:
  Out answer_;
};

Out dense(Builder& b, const Out& x, std::int64_t in, std::int64_t out, int seed, const std::string& name) {
  auto scope = b.scope(name);
  const Variable kernel = variable(b, "kernel", glorot_uniform({in, out}, seed, 17)), bias = variable(b, "bias", zeros({out}));
  return bias_add(matmul(x, kernel), bias);
}

Out convolve(Builder& b, const Out& x, std::int64_t in, std::int64_t out, int seed, const std::string& name) {
  auto scope = b.scope(name);
  const Variable kernel = variable(b, "kernel", glorot_uniform({5, 5, in, out}, seed, 17));
  const Variable gain = variable(b, "gamma", ones({out})), offset = variable(b, "beta", zeros({out}));
  return max_pool(relu(batch_norm(conv2d(x, kernel), gain, offset, {}, {}, true).y), 2, 2);
}

struct Digits {
  Out images, labels;
  explicit Digits(Builder& b) : images(b.placeholder(DType::f32, dims({-1, 784}), "x")), labels(b.placeholder(DType::i64, dims({-1}), "y")) {}
};

void mlp(Parts& p) {
  const Digits d(p.b);
  const Out hidden = relu(dense(p.b, d.images, 784, 256, 1, "hidden"));
  p.classify(dense(p.b, hidden, 256, 10, 2, "logits"), d.labels);
}

void cnn(Parts& p) {
  const Digits d(p.b);
  Out h = reshape(d.images, {-1, 28, 28, 1});
  h = convolve(p.b, h, 1, 16, 1, "first");
  h = convolve(p.b, h, 16, 32, 2, "second");
  h = reshape(h, {-1, 7 * 7 * 32});
  h = relu(dense(p.b, h, 7 * 7 * 32, 128, 3, "hidden"));
  p.classify(dense(p.b, h, 128, 10, 4, "logits"), d.labels);
}

/// A table of rows, looked up twice, with whatever optimizer.
template <class O, class... A>
std::function<void(Parts&)> table(bool in_parts, A... arguments) {
  return [=](Parts& p) {
    Builder& b = p.b;
    const Out ids = b.placeholder(DType::i32, dims({-1, 3}), "x"), wanted = b.placeholder(DType::f32, dims({-1}), "y");
    std::vector<Variable> rows;
    for (int i = 0; i < (in_parts ? 2 : 1); ++i) rows.push_back(variable(b, "rows", random_uniform({in_parts ? 5 : 10, 4}, -1, 1, 3 + i, 5)));
    const Variable w = variable(b, "w", random_normal({4, 1}, 0.5, 8, 9));
    const Out found = mean(embedding_lookup(rows, ids), {{1}});
    const Out loss = mean(squared_difference(reshape(matmul(found, w), {-1}), wanted), {}, "loss");
    O optimizer(arguments...);
    const auto grads = optimizer.compute_gradients(loss);
    p.note(grads);
    p.finish(optimizer.apply_gradients(grads, global_step(b)), found);
  };
}

/// Variables of the old kind.
void references(Parts& p) {
  Builder& b = p.b;
  const Out x = b.placeholder(DType::f32, dims({-1, 3}), "x"), y = b.placeholder(DType::f32, dims({-1}), "y");
  const Variable w = variable(b, "w", random_normal({3, 1}, 0.5, 1, 2), {.resource = false});
  const Variable c = variable(b, "c", zeros({}), {.resource = false});
  const Out loss = mean(squared_difference(reshape(matmul(x, w) + c, {-1}), y), {}, "loss");
  Momentum momentum(0.05, 0.9, true);
  const auto grads = momentum.compute_gradients(loss);
  p.note(grads);
  p.finish(momentum.apply_gradients(grads), x);
}

/// Workers that step together over variables of a ps.
std::function<void(Parts&)> together(int worker) {
  return [worker](Parts& p) {
    Builder& b = p.b;
    auto replica = b.device(replica_device_setter({.ps_tasks = 1, .worker_device = fmt::format("/job:worker/task:{}", worker)}));
    const Out x = b.placeholder(DType::f32, dims({-1, 2}), "x"), y = b.placeholder(DType::f32, dims({-1}), "y");
    const Out ids = b.constant(std::vector<std::int32_t>{1, 3, 1}, "ids");
    const Variable w = variable(b, "w", ones({2, 1})), rows = variable(b, "rows", ones({5, 2})), step = global_step(b);
    const Out bonus = mean(embedding_lookup(rows, ids));
    const Out loss = mean(squared_difference(reshape(matmul(x, w), {-1}) + bonus, y), {}, "loss");
    GradientDescent descent(0.1);
    const auto sync = synchronize(descent, descent.compute_gradients(loss), step, {.replicas_to_aggregate = 2, .total_replicas = 2});
    const std::map<std::string, Op> starts{
        {"update", sync.update}, {"init_tokens", sync.init_tokens}, {"chief_start", sync.chief_init}, {"local_start", sync.local_init}};
    for (const auto& [name, op] : starts) p.collections[name] = {op.name()};
    p.finish(sync.train, x);
  };
}

/// One long way through many ops, differentiated by its inputs.
void zoo(Parts& p) {
  Builder& b = p.b;
  const Out x = b.placeholder(DType::f32, dims({-1, 6, 6, 2}), "x"), y = b.placeholder(DType::f32, dims({-1, 4}), "y");
  const Out filter = b.placeholder(DType::f32, dims({3, 3, 2, 4}), "filter"), scale = b.placeholder(DType::f32, dims({4}), "scale");
  std::vector<Out> ways;
  const Out image = batch_norm(conv2d(x, filter, {1, 1, "SAME"}), scale, scale * 0.5, {}, {}, true).y;
  ways.push_back(mean(max_pool(elu(image), 2, 2), {{1, 2}}));
  ways.push_back(sum(avg_pool(softplus(image), 3, 3, {2, 2, "VALID"}), {{1, 2}}) * 0.1);
  ways.push_back(max(reshape(transpose(image, {0, 3, 1, 2}), {-1, 4, 36}), {{2}}));
  ways.push_back(slice(gather(y, b.constant(std::vector<std::int32_t>{3, 0, 1, 1, 2}), 1), {0, 1}, {-1, 4}));
  ways.push_back(tanh(y) / (1 + exp(neg(y))) + minimum(y, scale) - pow(abs(y) + 0.5, 1.5));
  const auto halves = split(concat({sigmoid(y), softsign(y)}, 1), 2, 1);
  ways.push_back(where(greater(y, 0), halves[0], halves[1] * selu(y)));
  ways.push_back(matmul(log_softmax(y), softmax(y), {true, false}) * b.constant(0.1f) + 0.0);
  ways.back() = strided_slice(tile(ways.back(), {2, 1}), {0, 0}, {2, 4}, {1, 1});
  ways.back() = sum(ways.back(), {{0}, true}) * ones_like(y);
  ways.push_back(strided_slice(pad(y, {{0, 0}, {2, 1}}), {0, 1}, {1 << 30, 5}));
  ways.push_back(sigmoid_cross_entropy(sigmoid(y), leaky_relu(y)) + rsqrt(square(y) + 1) * log1p(square(y)));
  const Out all = add_n(ways);
  const Out weights = b.constant(std::vector<float>{1, -2, 3, 0.5f});
  const Out loss = sum(stack({sum(all * weights), sum(softmax_cross_entropy(softmax(y), all)), l2_loss(all) * 0.01,
                              sum(sparse_softmax_cross_entropy(argmax(y, 1), all)), prod(sum(y * 0.1, {{0}}) + 1)}),
                       {}, "loss");
  const std::vector<Out> xs{x, y, filter, scale};
  p.note(xs, gradients({loss}, xs));
  variable(b, "unused", zeros({}));
  p.finish(b.op("NoOp", {}), all);
}

const std::map<std::string, std::function<void(Parts&)>>& all_networks() {
  static const std::map<std::string, std::function<void(Parts&)>> all{
      {"mlp", mlp},
      {"cnn", cnn},
      {"zoo", zoo},
      {"references", references},
      {"descent", table<GradientDescent>(false, 0.1)},
      {"momentum", table<Momentum>(false, 0.1, 0.9)},
      {"adagrad", table<Adagrad>(true, 0.1)},
      {"rmsprop", table<RmsProp>(false, 0.01)},
      {"adam", table<Adam>(false, 0.05)},
      {"adam_parts", table<Adam>(true, 0.05)},
      {"ftrl", table<Ftrl>(false, 0.1)},
      {"together_0", together(0)},
      {"together_1", together(1)},
  };
  return all;
}

}  // namespace

StatusOr<wire::MetaGraphDef> network(const std::string& name) {
  auto found = all_networks().find(name);
  if (found == all_networks().end()) return not_found("There is no model '{}'", name);
  Parts parts;
  found->second(parts);
  return parts.take();
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const auto& [name, build] : all_networks()) names.push_back(name);
  return names;
}

}  // namespace troupe::models
