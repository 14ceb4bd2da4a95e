// Writes the models for tests in Python, trains them on digits, and runs models that others have saved.
//
//   troupe_models write FOLDER                    every model as FOLDER/<name>.pb, a MetaGraphDef
//   troupe_models train MODEL ADDRESS DIGITS EPOCHS   the accuracy on the test set after each epoch
//   troupe_models serve SAVED_MODEL ADDRESS       what its serving_default answers to zeros, ones, ... one line per output
//   troupe_models await MODEL TARGET              the same model through a service's session, on "here" or "grpc://host:port"
//   troupe_models gradient GRAPH Y X FILE         reads a graph, adds the gradient of Y by X, writes the graph; prints the gradient's name
#include "awaited.hpp"
#include "networks.hpp"

#include <troupe/actors/client.hpp>
#include <troupe/actors/lab/idx_digits.hpp>
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/builder/gradients.hpp>
#include <troupe/ops/builder/loading.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

namespace troupe::models {
namespace {

using lab::Digits;
using lab::read_digits;

Status write_all(const std::string& folder) {
  for (const auto& name : network_names()) {
    auto meta = network(name);
    if (!meta.ok()) return prepend_text(name + ": ", meta.status());
    TRY(write_file(fmt::format("{}/{}.pb", folder, name), meta->SerializeAsString()));
  }
  return absl::OkStatus();
}

StatusOr<double> accuracy(ClientSession& session, const Digits& digits) {
  constexpr std::size_t batch = 1000;
  double sum = 0;
  for (std::size_t at = 0; at < digits.size(); at += batch) {
    std::vector<std::size_t> which(std::min(batch, digits.size() - at));
    std::iota(which.begin(), which.end(), at);
    TRY_ASSIGN(auto values, session.run({{"x:0", digits.images_of(which)}, {"y:0", digits.labels_of(which)}}, {"accuracy:0"}, {}));
    sum += values[0].item<float>() * static_cast<double>(which.size());
  }
  return sum / static_cast<double>(digits.size());
}

Status train(const std::string& model, const std::string& address, const std::string& folder, int epochs) {
  TRY_ASSIGN(const Digits learn, read_digits(folder, "train"));
  TRY_ASSIGN(const Digits test, read_digits(folder, "t10k"));
  TRY_ASSIGN(const auto meta, network(model));
  TRY_ASSIGN(auto session, ClientSession::open(address, meta.graph_def(), {}));
  TRY(session->run({}, {}, {"init"}).status());
  std::vector<std::size_t> order(learn.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  constexpr std::size_t batch = 100;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    float loss = 0;
    for (std::size_t at = 0; at + batch <= order.size(); at += batch) {
      const std::vector<std::size_t> which(order.begin() + static_cast<std::ptrdiff_t>(at), order.begin() + static_cast<std::ptrdiff_t>(at + batch));
      TRY_ASSIGN(auto values, session->run({{"x:0", learn.images_of(which)}, {"y:0", learn.labels_of(which)}}, {"loss:0"}, {"train"}));
      loss = values[0].item<float>();
    }
    TRY_ASSIGN(const double share, accuracy(*session, test));
    fmt::print("epoch {} loss {:.4f} accuracy {:.4f}\n", epoch, loss, share);
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

/// A feed for an input: its unknown sizes are 2, its numbers count up.
StatusOr<Tensor> counting(const wire::TensorInfo& info) {
  Shape shape;
  for (const auto& dim : info.tensor_shape().dim()) shape.add_dim(dim.size() < 0 ? 2 : dim.size());
  Tensor t(static_cast<DType>(info.dtype()), shape);
  if (t.dtype() != DType::f32) return unimplemented("Only floats are served, not {}", name_of(t.dtype()));
  std::iota(t.mutable_values<float>().begin(), t.mutable_values<float>().end(), 0.0f);
  return t;
}

Status serve(const std::string& folder, const std::string& address) {
  TRY_ASSIGN(const auto model, build::SavedModel::load(folder));
  TRY_ASSIGN(const auto signature, model.signature());
  TRY_ASSIGN(const auto values, model.variables());
  for (const auto& [name, value] : values) fmt::print("variable {} {}\n", name, to_string(value.shape()));
  TRY_ASSIGN(auto session, ClientSession::open(address, model.graph(), {}));
  if (model.has_variables()) TRY(session->run({{model.filename(), Tensor::scalar(model.variables_prefix())}}, {}, {model.restore_op()}).status());
  if (!model.init_op().empty()) TRY(session->run({}, {}, {model.init_op()}).status());
  std::map<std::string, Tensor> feeds;
  for (const auto& [name, info] : signature.inputs()) {
    TRY_ASSIGN(feeds[info.name()], counting(info));
  }
  const std::map<std::string, wire::TensorInfo> outputs(signature.outputs().begin(), signature.outputs().end());
  for (const auto& [name, info] : outputs) {
    TRY_ASSIGN(auto answers, session->run(feeds, {info.name()}, {}));
    fmt::print("output {} {}", name, to_string(answers[0].shape()));
    for (float v : answers[0].values<float>()) fmt::print(" {:.6g}", v);
    fmt::print("\n");
  }
  return absl::OkStatus();
}

Status add_gradient(const std::string& file, const std::string& y, const std::string& x, const std::string& to) {
  TRY_ASSIGN(const auto graph, build::load_graph_def(file));
  build::Builder b;
  TRY(b.add_graph(graph));
  TRY_ASSIGN(const build::Out top, b.find_output(y));
  TRY_ASSIGN(const build::Out bottom, b.find_output(x));
  const build::Out grad = build::gradients({top}, {bottom})[0].dense();
  TRY_ASSIGN(const auto whole, b.graph());
  if (!grad.valid()) return not_found("Nothing flows from {} to {}", y, x);
  TRY(write_file(to, whole.SerializeAsString()));
  fmt::print("{}\n", grad.name());
  return absl::OkStatus();
}

Status run(const std::vector<std::string>& a) {
  if (a.size() == 2 && a[0] == "write") return write_all(a[1]);
  if (a.size() == 5 && a[0] == "train") return train(a[1], a[2], a[3], std::atoi(a[4].c_str()));
  if (a.size() == 3 && a[0] == "serve") return serve(a[1], a[2]);
  if (a.size() == 3 && a[0] == "await") return await_steps(a[1], a[2]);
  if (a.size() == 5 && a[0] == "gradient") return add_gradient(a[1], a[2], a[3], a[4]);
  return invalid("write FOLDER | train MODEL ADDRESS DIGITS EPOCHS | serve SAVED_MODEL ADDRESS | await MODEL TARGET | gradient GRAPH Y X FILE");
}

}  // namespace
}  // namespace troupe::models

int main(int argc, char** argv) {
  const troupe::Status status = troupe::models::run({argv + 1, argv + argc});
  if (!status.ok()) fmt::print(stderr, "troupe_models: {}\n", troupe::text_of(status));
  return status.ok() ? 0 : 1;
}
