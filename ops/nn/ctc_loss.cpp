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
    const std::size_t last = log_y_.size() - 1, n = labels_.size();
    return n > 1 ? log_sum(alpha_[last][n - 1], alpha_[last][n - 2]) : alpha_[last][0];
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

StatusOr<std::vector<std::vector<std::int64_t>>> read_labels(const In<std::int64_t>& indices, const In<std::int32_t>& values, const CtcSizes& s, bool collapse) {
  if (indices.dims() != 2) return invalid("labels_indices is not a matrix");
  if (indices.dim(1) != 2) return invalid("labels_indices second dimension must be equal to 2. Received : {}", indices.dim(1));
  if (values.dims() != 1) return invalid("labels_values is not a vector");
  if (values.size() != indices.dim(0))
    return failed_precondition("labels_indices and labels_values must contain the same number of rows, but saw shapes: {} vs. {}", indices.shape(), values.shape());
  std::vector<std::vector<std::int64_t>> labels(static_cast<std::size_t>(s.batch));
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const std::int64_t b = indices[2 * i], label = values[i];
    if (b < 0 || b >= s.batch) return invalid("labels batch index must be between 0 and {} but saw: {}", s.batch, b);
    if (label < 0) return invalid("All labels must be nonnegative integers, batch: {} labels: {}", b, label);
    if (label >= s.classes - 1)
      return invalid("Saw a non-null label (index >= num_classes - 1) following a null label, batch: {} num_classes: {} labels: {} labels seen so far: {}", b, s.classes, label,
                     fmt::join(labels[static_cast<std::size_t>(b)], ","));
    auto& to = labels[static_cast<std::size_t>(b)];
    if (!collapse || to.empty() || to.back() != label) to.push_back(label);
  }
  return labels;
}

template <class T>
Status loss(Call& call, const In<T>& inputs, const In<std::int64_t>& indices, const In<std::int32_t>& values, const In<std::int32_t>& lengths, const LossOptions& o) {
  if (inputs.dims() != 3) return invalid("inputs is not a 3-Tensor");
  if (lengths.dims() != 1) return invalid("sequence_length is not a vector");
  TRY_ASSIGN(auto s, CtcSizes::of(inputs.shape(), lengths));
  TRY_ASSIGN(auto labels, read_labels(indices, values, s, o.collapse));
  for (std::int64_t b = 0; b < s.batch; ++b) {
    const auto needed = static_cast<std::int64_t>(labels[static_cast<std::size_t>(b)].size());
    if (!o.ignore_longer && needed > lengths[b])
      return invalid("Not enough time for target transition sequence (required: {}, available: {}){}You can turn this error into a warning by using the flag "
                     "ignore_longer_outputs_than_inputs", needed, lengths[b], b);
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
        const double path = log_p == log_zero ? 0 : std::exp(paths.at_class(static_cast<std::size_t>(t), c) - log_p);
        gradient[(t * s.batch + b) * s.classes + c] = static_cast<T>(y - path);
      }
  }
  return absl::OkStatus();
}

}  // namespace

void add_ctc_loss(Registry& ops) {
  ops.add("CTCLoss", full_floats{},
          []<class T>(Call& call, In<T> inputs, In<std::int64_t> indices, In<std::int32_t> values, In<std::int32_t> lengths, Attr<"preprocess_collapse_repeated", bool> collapse,
                      Attr<"ctc_merge_repeated", bool> merge, Attr<"ignore_longer_outputs_than_inputs", bool> ignore) {
            return loss(call, inputs, indices, values, lengths, {*collapse, *merge, *ignore});
          });
  ops.cost({"CTCLoss"}, 300);
}

}  // namespace troupe
