// Softmax, its logarithm, and the cross entropies with their gradients.
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/vector_functions.hpp>
#include <troupe/ops/nn/wide.hpp>
#include <troupe/ops/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace troupe {

namespace {

template <class T>
using Row = Eigen::Array<Wide<T>, Eigen::Dynamic, 1>;

/// What a logit costs, roughly.
constexpr double ns_of_class = 2;

/// The largest number of a row. What is no number is passed over: it shows in the sum of exponentials.
template <class W>
W largest(const W* x, std::int64_t n) {
  constexpr std::int64_t lanes = 32;
  if (n < lanes) {
    W all = -std::numeric_limits<W>::infinity();
    for (std::int64_t i = 0; i < n; ++i) all = x[i] > all ? x[i] : all;
    return all;
  }
  W most[lanes];
  std::fill_n(most, lanes, -std::numeric_limits<W>::infinity());
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t k = 0; k < lanes; ++k) most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
  for (; i < n; ++i) most[0] = x[i] > most[0] ? x[i] : most[0];
  for (std::int64_t k = 1; k < lanes; ++k) most[0] = most[k] > most[0] ? most[k] : most[0];
  return most[0];
}

/// Logits less their maximum, such that the exponential cannot overflow. Infinite maxima make all of it NaN.
template <class Logits>
void shift(Logits& row) {
  row -= largest(row.data(), row.size());
}

template <class T>
Status softmax(Call& call, In<T> logits, bool logarithm) {
  if (logits.dims() < 1) return invalid("logits must have >= 1 dimension, got {}", logits.shape());
  const std::int64_t classes = logits.dim(logits.dims() - 1);
  const T* in = logits.data();
  T* out = call.alloc_over<T>(0, logits.index, logits.shape());
  if (logits.size() == 0) return absl::OkStatus();
  in_parallel(logits.size() / classes, ns_of_class * static_cast<double>(classes), [&](std::int64_t first, std::int64_t last) {
    Row<T> row(classes), exponential(classes);
    for (std::int64_t i = first * classes; i < last * classes; i += classes) {
      row = ConstArrayMap<T>(in + i, classes).template cast<Wide<T>>();
      shift(row);
      vector_functions<Wide<T>>().exp(row.data(), exponential.data(), classes);
      if (logarithm) ArrayMap<T>(out + i, classes) = (row - std::log(exponential.sum())).template cast<T>();
      else ArrayMap<T>(out + i, classes) = (exponential * (1 / exponential.sum())).template cast<T>();
    }
  });
  return absl::OkStatus();
}

Status reject_label(std::int64_t label, std::int64_t classes, const Tensor& labels) {
  std::string all;
  const auto append = [&]<class I>() { all = fmt::format("{}", fmt::join(labels.values<I>(), " ")); };
  visit_dtype(indices{}, labels.dtype(), append);
  return invalid("Received a label value of {} which is outside the valid range of [0, {}).  Label values: {}", label, classes, all);
}

template <class T, class I>
Status sparse_cross_entropy(Call& call, In<T> logits, In<I> labels) {
  if (logits.dims() != 2) return invalid("logits must be 2-D, but got shape {}", logits.shape());
  if (labels.dims() != 1) return invalid("labels must be 1-D, but got shape {}", labels.shape());
  if (logits.dim(0) != labels.dim(0))
    return invalid("logits and labels must have the same first dimension, got logits shape {} and labels shape {}", logits.shape(), labels.shape());
  const std::int64_t batch = logits.dim(0), classes = logits.dim(1);
  if (classes < 1) return invalid("Must have at least one class, but got logits shape {}", logits.shape());
  for (I label : labels.values())
    if (label < 0 || label >= classes) return reject_label(label, classes, labels.tensor);
  T* loss = call.alloc<T>(0, Shape{batch});
  const T* in = logits.data();
  T* gradient = call.alloc_over<T>(1, logits.index, logits.shape());
  in_parallel(batch, ns_of_class * static_cast<double>(classes), [&](std::int64_t first, std::int64_t last) {
    Row<T> row(classes);
    for (std::int64_t b = first; b < last; ++b) {
      row = ConstArrayMap<T>(in + b * classes, classes).template cast<Wide<T>>();
      shift(row);
      const Wide<T> at_label = row[labels[b]];
      vector_functions<Wide<T>>().exp(row.data(), row.data(), classes);
      const Wide<T> sum = row.sum();
      loss[b] = static_cast<T>(std::log(sum) - at_label);
      row /= sum;
      row[labels[b]] -= 1;
      ArrayMap<T>(gradient + b * classes, classes) = row.template cast<T>();
    }
  });
  return absl::OkStatus();
}

/// Where row b of a matrix that may be broadcast begins, and whether its columns repeat.
template <class T>
struct Rows {
  const T* data;
  std::int64_t step;
  bool repeats;

  Rows(const In<T>& x, const Shape& all)
      : data(x.data()),
        step(x.dims() < 2 || (x.dim(0) == 1 && all[0] != 1) ? 0 : x.dim(1)),
        repeats(x.dims() == 0 || x.dim(x.dims() - 1) != all[1]) {}
  void load(std::int64_t b, Row<T>& row) const {
    const T* at = data + b * step;
    if (repeats) row.setConstant(static_cast<Wide<T>>(*at));
    else row = ConstArrayMap<T>(at, row.size()).template cast<Wide<T>>();
  }
};

template <class T>
Status cross_entropy(Call& call, In<T> logits, In<T> labels) {
  Shape all = logits.shape();
  if (all != labels.shape()) {
    auto both = Broadcast::of(logits.shape(), labels.shape());
    if (!both) return invalid("logits and labels must be broadcastable: logits_size={} labels_size={}", logits.shape(), labels.shape());
    all = both->output;
  }
  if (all.rank() != 2) return invalid("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  const std::int64_t classes = all[1];
  const Rows<T> from(logits, all), against(labels, all);
  T* loss = call.alloc<T>(0, Shape{all[0]});
  T* gradient = call.alloc<T>(1, all);
  if (classes == 0) {
    std::fill_n(loss, all[0], T(0));
    return absl::OkStatus();
  }
  in_parallel(all[0], ns_of_class * static_cast<double>(classes), [&](std::int64_t first, std::int64_t last) {
    Row<T> row(classes), label(classes), exponential(classes);
    for (std::int64_t b = first; b < last; ++b) {
      from.load(b, row);
      against.load(b, label);
      shift(row);
      vector_functions<Wide<T>>().exp(row.data(), exponential.data(), classes);
      const Wide<T> sum = exponential.sum();
      loss[b] = static_cast<T>((label * (std::log(sum) - row)).sum());
      ArrayMap<T>(gradient + b * classes, classes) = (exponential / sum - label).template cast<T>();
    }
  });
  return absl::OkStatus();
}

}  // namespace

void add_softmax(Registry& ops) {
  ops.add("Softmax", floats{}, []<class T>(Call& call, In<T> logits) { return softmax(call, logits, false); });
  ops.add("LogSoftmax", floats{}, []<class T>(Call& call, In<T> logits) { return softmax(call, logits, true); });
  ops.add("SoftmaxCrossEntropyWithLogits", floats{},
          []<class T>(Call& call, In<T> logits, In<T> labels) { return cross_entropy(call, logits, labels); });
  ops.add("SparseSoftmaxCrossEntropyWithLogits", On<"T", floats>{}, On<"Tlabels", indices>{},
          []<class T, class I>(Call& call, In<T> logits, In<I> labels) { return sparse_cross_entropy(call, logits, labels); });
  ops.add("L2Loss", floats{},
          []<class T>(Call& call, In<T> x) { call.set_scalar<T>(0, static_cast<T>(x.array().template cast<Wide<T>>().square().sum() / 2)); });
  ops.cost({"Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"}, 8);
}

}  // namespace troupe
