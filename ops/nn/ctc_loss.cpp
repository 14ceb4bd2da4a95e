// The loss of connectionist temporal classification, with its gradient.
#include <troupe/ops/nn/ctc.hpp>

#include <algorithm>

namespace troupe {

namespace {

struct LossOptions {
  bool collapse, merge, ignore_longer;
};

/// Labels with a blank (the last class) before, between and after.
std::vector<std::int64_t> with_blanks(const std::vector<std::int64_t>& labels, std::int64_t blank) {
  std::vector<std::int64_t> all{blank};
  for (std::int64_t l : labels) {
    all.push_back(l);
    all.push_back(blank);
  }
  return all;
}

/// Logarithms of path probabilities over a sequence of labels with blanks.
class Paths {
 public:
  Paths(const std::vector<std::vector<double>>& log_y, std::vector<std::int64_t> labels, std::int64_t blank, bool merge)
      : log_y_(log_y), labels_(std::move(labels)), blank_(blank), merge_(merge), alpha_(table()), beta_(table()) {
    forward();
    backward();
  }

  double log_probability() const {
    double sum = log_zero;
    for (std::size_t u = 0; u < labels_.size(); ++u) sum = log_sum(sum, alpha_[0][u] + beta_[0][u]);
    return sum;
  }
  /// The logarithm of the probability to be at a class at a time, times that of all.
  double at_class(std::size_t t, std::int64_t c) const {
    double sum = log_zero;
    for (std::size_t u = 0; u < labels_.size(); ++u)
      if (labels_[u] == c) sum = log_sum(sum, alpha_[t][u] + beta_[t][u]);
    return sum;
  }

 private:
  using Table = std::vector<std::vector<double>>;
  Table table() const { return Table(log_y_.size(), std::vector<double>(labels_.size(), log_zero)); }
  bool may_stay(std::size_t u) const { return merge_ || labels_[u] == blank_; }
  bool may_skip_to(std::size_t u) const { return u > 1 && labels_[u] != blank_ && !(merge_ && labels_[u] == labels_[u - 2]); }
  double y(std::size_t t, std::size_t u) const { return log_y_[t][static_cast<std::size_t>(labels_[u])]; }

  void forward() {
    alpha_[0][0] = y(0, 0);
    if (labels_.size() > 1) alpha_[0][1] = y(0, 1);
    for (std::size_t t = 1; t < log_y_.size(); ++t)
      for (std::size_t u = 0; u < labels_.size(); ++u) {
        double sum = may_stay(u) ? alpha_[t - 1][u] : log_zero;
        if (u > 0) sum = log_sum(sum, alpha_[t - 1][u - 1]);
        if (may_skip_to(u)) sum = log_sum(sum, alpha_[t - 1][u - 2]);
        alpha_[t][u] = sum + y(t, u);
      }
  }
  void backward() {
    const std::size_t n = labels_.size(), last = log_y_.size() - 1;
    beta_[last][n - 1] = 0;
    if (n > 1) beta_[last][n - 2] = 0;
    for (std::size_t t = last; t-- > 0;)
      for (std::size_t u = 0; u < n; ++u) {
        double sum = may_stay(u) ? beta_[t + 1][u] + y(t + 1, u) : log_zero;
        if (u + 1 < n) sum = log_sum(sum, beta_[t + 1][u + 1] + y(t + 1, u + 1));
        if (u + 2 < n && may_skip_to(u + 2)) sum = log_sum(sum, beta_[t + 1][u + 2] + y(t + 1, u + 2));
        beta_[t][u] = sum;
      }
  }

  const std::vector<std::vector<double>>& log_y_;
  std::vector<std::int64_t> labels_;
  std::int64_t blank_;
  bool merge_;
  Table alpha_, beta_;
};

using Labels = std::vector<std::int64_t>;

/// The labels of each sequence as the sparse matrix holds them.
StatusOr<std::vector<Labels>> read_labels(const In<std::int64_t>& indices, const In<std::int32_t>& values, std::int64_t batch) {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) longest = std::max(longest, indices[2 * i + 1] + 1);
  std::vector<Labels> labels(static_cast<std::size_t>(batch));
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const std::int64_t b = indices[2 * i], at = indices[2 * i + 1];
    const auto wrong = [&](const char* how) { return invalid("label SparseTensor is not valid: indices[{}] = [{},{}] is {}", i, b, at, how); };
    if (b < 0 || b >= batch || at < 0) return wrong(fmt::format("out of bounds: need 0 <= index < [{},{}]", batch, longest).c_str());
    if (i > 0 && indices[2 * i - 2] == b && indices[2 * i - 1] == at) return wrong("repeated");
    if (i > 0 && (indices[2 * i - 2] > b || (indices[2 * i - 2] == b && indices[2 * i - 1] > at)))
      return wrong("out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n");
    labels[static_cast<std::size_t>(b)].push_back(values[i]);
  }
  return labels;
}

/// What a sequence is to say: labels from the blank on are its end.
StatusOr<Labels> target_of(const Labels& given, std::int64_t b, const CtcSizes& s, bool collapse) {
  if (given.empty()) return invalid("Labels length is zero in batch {}", b);
  Labels target;
  bool ended = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (i > 0 && collapse && given[i] == given[i - 1]) continue;
    if (given[i] >= s.classes - 1) {
      ended = true;
      continue;
    }
    if (ended)
      return invalid(
          "Saw a non-null label (index >= num_classes - 1) following a null label, batch: {} num_classes: {} labels: {} labels seen so far: {}", b,
          s.classes, fmt::join(given, ","), fmt::join(target, ","));
    target.push_back(given[i]);
  }
  for (std::int64_t label : target)
    if (label < 0) return invalid("All labels must be nonnegative integers, batch: {} labels: {}", b, fmt::join(target, ","));
  return target;
}

Status check_labels(const In<std::int64_t>& indices, const In<std::int32_t>& values) {
  if (indices.dims() != 2) return invalid("labels_indices is not a matrix");
  if (indices.dim(1) != 2) return invalid("labels_indices second dimension must be equal to 2. Received : {}", indices.dim(1));
  if (values.dims() != 1) return invalid("labels_values is not a vector");
  if (values.size() != indices.dim(0))
    return invalid("labels_indices and labels_values must contain the same number of rows, but saw shapes: {} vs. {}", indices.shape(),
                   values.shape());
  return absl::OkStatus();
}

template <class T>
Status loss(Call& call, const In<T>& inputs, const In<std::int64_t>& indices, const In<std::int32_t>& values, const In<std::int32_t>& lengths,
            const LossOptions& o) {
  if (inputs.dims() != 3) return invalid("inputs is not a 3-Tensor");
  if (lengths.dims() != 1) return invalid("sequence_length is not a vector");
  TRY(check_labels(indices, values));
  if (lengths.size() != inputs.dim(1))
    return invalid("len(sequence_length) != batch_size.  len(sequence_length):  {} batch_size: {}", lengths.size(), inputs.dim(1));
  TRY_ASSIGN(auto s, CtcSizes::of(inputs.shape(), lengths));
  if (s.classes == 0) return invalid("num_classes is 0");
  TRY_ASSIGN(auto labels, read_labels(indices, values, s.batch));
  for (std::int64_t b = 0; b < s.batch; ++b)
    if (lengths[b] > s.time) return invalid("sequence_length({}) <= {}", b, s.time);
  for (std::int64_t b = 0; b < s.batch; ++b)
    if (lengths[b] < 0) return invalid("seq_len({}) < 0", b);
  for (std::int64_t b = 0; b < s.batch; ++b) {
    auto& own = labels[static_cast<std::size_t>(b)];
    TRY_ASSIGN(own, target_of(own, b, s, o.collapse));
    const auto needed = static_cast<std::int64_t>(own.size());
    if (!o.ignore_longer && needed > lengths[b])
      return invalid(
          "Not enough time for target transition sequence (required: {}, available: {}){}You can turn this error into a warning by using the flag "
          "ignore_longer_outputs_than_inputs",
          needed, lengths[b], b);
  }
  T* out = call.alloc<T>(0, Shape{s.batch});
  T* gradient = call.alloc<T>(1, inputs.shape());
  std::fill_n(gradient, inputs.size(), T(0));
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const auto& own = labels[static_cast<std::size_t>(b)];
    out[b] = T(0);
    if (lengths[b] <= 0 || static_cast<std::int64_t>(own.size()) > lengths[b]) continue;
    std::vector<std::vector<double>> log_y;
    for (std::int64_t t = 0; t < lengths[b]; ++t) {
      const T* row = inputs.data() + (t * s.batch + b) * s.classes;
      std::vector<double> y(row, row + s.classes);
      const double most = *std::max_element(y.begin(), y.end());
      double sum = 0;
      for (double v : y) sum += std::exp(v - most);
      for (double& v : y) v -= most + std::log(sum);
      log_y.push_back(std::move(y));
    }
    const Paths paths(log_y, with_blanks(own, s.classes - 1), s.classes - 1, o.merge);
    const double log_p = paths.log_probability();
    out[b] = static_cast<T>(-log_p);
    for (std::int64_t t = 0; t < lengths[b]; ++t)
      for (std::int64_t c = 0; c < s.classes; ++c) {
        const double y = std::exp(log_y[static_cast<std::size_t>(t)][static_cast<std::size_t>(c)]);
        const double path =
            log_p == log_zero ? 0 : static_cast<double>(std::exp(static_cast<float>(paths.at_class(static_cast<std::size_t>(t), c) - log_p)));
        gradient[(t * s.batch + b) * s.classes + c] = static_cast<T>(y - path);
      }
  }
  return absl::OkStatus();
}

}  // namespace

void add_ctc_loss(Registry& ops) {
  ops.add("CTCLoss", full_floats{},
          []<class T>(Call& call, In<T> inputs, In<std::int64_t> indices, In<std::int32_t> values, In<std::int32_t> lengths,
                      Attr<"preprocess_collapse_repeated", bool> collapse, Attr<"ctc_merge_repeated", bool> merge,
                      Attr<"ignore_longer_outputs_than_inputs", bool> ignore) {
            return loss(call, inputs, indices, values, lengths, {*collapse, *merge, *ignore});
          });
  ops.cost({"CTCLoss"}, 300);
}

}  // namespace troupe
