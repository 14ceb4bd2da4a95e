// Decoders of connectionist temporal classification: greedy, and a search over beams.
#include <troupe/ops/nn/ctc.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace troupe {

namespace {

StatusOr<CtcSizes> check_sizes(const Shape& inputs, const In<std::int32_t>& lengths) {
  if (inputs.rank() == 3 && inputs.elements() == 0) return invalid("inputs must not be empty");
  TRY_ASSIGN(auto s, CtcSizes::of(inputs, lengths));
  for (std::int64_t b = 0; b < s.batch; ++b)
    if (lengths[b] > s.time) return failed_precondition("sequence_length({}) <= {}", b, s.time);
  return s;
}

template <class T>
Status decode_greedily(Call& call, const In<T>& inputs, const In<std::int32_t>& lengths, bool merge, std::int64_t blank) {
  TRY_ASSIGN(auto s, check_sizes(inputs.shape(), lengths));
  if (blank < 0) blank += s.classes;
  if (blank < 0 || blank >= s.classes) return invalid("blank_index expected to be between {} and {} but was {}", -s.classes, s.classes - 1, blank);
  std::vector<std::vector<std::int64_t>> labels(static_cast<std::size_t>(s.batch));
  T* score = call.alloc<T>(3, Shape{s.batch, 1});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    std::int64_t previous = -1;
    score[b] = T(0);
    for (std::int64_t t = 0; t < lengths[b]; ++t) {
      const T* row = inputs.data() + (t * s.batch + b) * s.classes;
      const std::int64_t best = std::max_element(row, row + s.classes) - row;
      score[b] -= row[best];
      if (best != blank && !(merge && best == previous)) labels[static_cast<std::size_t>(b)].push_back(best);
      previous = best;
    }
  }
  put_sparse(call, 0, 1, 2, labels);
  return absl::OkStatus();
}

/// Logarithms of the probabilities of all paths to a prefix: those that end in a blank, in its last label, and both.
struct Ending {
  double total = log_zero, blank = log_zero, label = log_zero;
};

/// A prefix of labels; children are longer by one.
struct Prefix {
  Prefix* parent;
  std::int64_t label;
  Ending before, now;
  std::map<std::int64_t, std::unique_ptr<Prefix>> children;

  bool active() const { return now.total != log_zero; }
  Prefix& child(std::int64_t l) {
    auto& c = children[l];
    if (!c) c = std::make_unique<Prefix>(Prefix{this, l, {}, {}, {}});
    return *c;
  }
};

/// The best prefixes of one sequence, kept through its steps.
class Beams {
 public:
  Beams(std::size_t width, std::int64_t classes) : width_(width), blank_(classes - 1), root_{nullptr, -1, {}, {}, {}} {
    root_.now = {0, 0, log_zero};
    leaves_ = {&root_};
  }

  void step(const std::vector<double>& scores) {
    sort(leaves_);
    const std::vector<Prefix*> branches = leaves_;
    for (Prefix* b : branches) b->before = b->now;
    for (Prefix* b : branches) extend_in_place(*b, scores);
    sort(leaves_);
    for (Prefix* b : branches) {
      if (!is_candidate(b->before)) continue;
      for (std::int64_t label = 0; label < blank_; ++label) grow(*b, label, scores[static_cast<std::size_t>(label)]);
    }
  }

  /// The best prefixes, at most `count`, with the logarithms of their probabilities.
  std::vector<std::pair<std::vector<std::int64_t>, double>> best(std::size_t count, bool merge) {
    sort(leaves_);
    std::vector<std::pair<std::vector<std::int64_t>, double>> found;
    for (std::size_t i = 0; i < std::min(count, leaves_.size()); ++i) {
      std::vector<std::int64_t> labels;
      std::int64_t previous = -1;
      for (const Prefix* p = leaves_[i]; p->parent; p = p->parent) {
        if (!merge || p->label != previous) labels.push_back(p->label);
        previous = p->label;
      }
      std::reverse(labels.begin(), labels.end());
      found.emplace_back(std::move(labels), leaves_[i]->now.total);
    }
    return found;
  }

 private:
  static void sort(std::vector<Prefix*>& prefixes) {
    std::stable_sort(prefixes.begin(), prefixes.end(), [](const Prefix* a, const Prefix* b) { return a->now.total > b->now.total; });
  }
  void extend_in_place(Prefix& b, const std::vector<double>& scores) const {
    double label = b.before.label;
    if (b.parent) {
      if (b.parent->active()) label = log_sum(label, b.label == b.parent->label ? b.parent->before.blank : b.parent->before.total);
      label += scores[static_cast<std::size_t>(b.label)];
    }
    b.now = {0, b.before.total + scores[static_cast<std::size_t>(blank_)], b.parent ? label : log_zero};
    b.now.total = log_sum(b.now.blank, b.now.label);
  }
  bool is_candidate(const Ending& e) const { return e.total > log_zero && (leaves_.size() < width_ || e.total > leaves_.back()->now.total); }
  void grow(Prefix& b, std::int64_t label, double score) {
    Prefix& c = b.child(label);
    if (c.active()) return;
    const double from = label == b.label ? b.before.blank : b.before.total;
    Ending next{score + from, log_zero, score + from};
    if (!is_candidate(next)) {
      c.before = {};
      return;
    }
    c.now = next;
    if (leaves_.size() == width_) {
      leaves_.back()->now = {};
      leaves_.pop_back();
    }
    const auto at =
        std::upper_bound(leaves_.begin(), leaves_.end(), &c, [](const Prefix* x, const Prefix* y) { return x->now.total > y->now.total; });
    leaves_.insert(at, &c);
  }

  std::size_t width_;
  std::int64_t blank_;
  Prefix root_;
  std::vector<Prefix*> leaves_;
};

template <class T>
std::vector<double> log_softmax(const T* row, std::int64_t classes) {
  std::vector<double> y(row, row + classes);
  const double most = *std::max_element(y.begin(), y.end());
  double sum = 0;
  for (double v : y) sum += std::exp(v - most);
  for (double& v : y) v -= most + std::log(sum);
  return y;
}

template <class T>
Status search(Call& call, const In<T>& inputs, const In<std::int32_t>& lengths, std::int64_t width, std::int64_t paths, bool merge) {
  TRY_ASSIGN(auto s, check_sizes(inputs.shape(), lengths));
  if (width < 1 || paths < 1 || paths > width) return invalid("requested more paths than the beam width.");
  const auto wanted = static_cast<std::size_t>(paths);
  std::vector<std::vector<std::vector<std::int64_t>>> labels(wanted, std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(s.batch)));
  T* score = call.alloc<T>(static_cast<int>(3 * paths), Shape{s.batch, paths});
  for (std::int64_t b = 0; b < s.batch; ++b) {
    Beams beams(static_cast<std::size_t>(width), s.classes);
    for (std::int64_t t = 0; t < lengths[b]; ++t) beams.step(log_softmax(inputs.data() + (t * s.batch + b) * s.classes, s.classes));
    auto found = beams.best(wanted, merge);
    if (found.size() < wanted) return invalid("Less leaves in the beam search than requested.");
    for (std::size_t k = 0; k < wanted; ++k) {
      labels[k][static_cast<std::size_t>(b)] = std::move(found[k].first);
      score[b * paths + static_cast<std::int64_t>(k)] = static_cast<T>(found[k].second);
    }
  }
  for (int k = 0; k < static_cast<int>(paths); ++k)
    put_sparse(call, k, static_cast<int>(paths) + k, 2 * static_cast<int>(paths) + k, labels[static_cast<std::size_t>(k)]);
  return absl::OkStatus();
}

}  // namespace

void add_ctc_decode(Registry& ops) {
  ops.add("CTCGreedyDecoder", full_floats{},
          []<class T>(Call& call, In<T> inputs, In<std::int32_t> lengths, Attr<"merge_repeated", bool> merge,
                      Attr<"blank_index", std::int64_t> blank) { return decode_greedily(call, inputs, lengths, *merge, *blank); });
  ops.add(
      "CTCBeamSearchDecoder", full_floats{},
      []<class T>(Call& call, In<T> inputs, In<std::int32_t> lengths, Attr<"beam_width", std::int64_t> width, Attr<"top_paths", std::int64_t> paths,
                  Attr<"merge_repeated", bool> merge) { return search(call, inputs, lengths, *width, *paths, *merge); });
  ops.cost({"CTCGreedyDecoder"}, 3);
  ops.cost({"CTCBeamSearchDecoder"}, 2000);
}

}  // namespace troupe
