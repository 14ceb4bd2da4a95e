// Non-maximum suppression: of overlapping boxes, only the best stay.
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace troupe {

namespace {

/// How much two boxes share, from 0 to 1; corners may come in any order.
template <class T>
float overlap(const T* boxes, std::int64_t i, std::int64_t j) {
  struct Box {
    float top, left, bottom, right;
    explicit Box(const T* v)
        : top(static_cast<float>(std::min(v[0], v[2]))),
          left(static_cast<float>(std::min(v[1], v[3]))),
          bottom(static_cast<float>(std::max(v[0], v[2]))),
          right(static_cast<float>(std::max(v[1], v[3]))) {}
    float area() const { return (bottom - top) * (right - left); }
  };
  const Box a(boxes + i * 4), b(boxes + j * 4);
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0f),
              width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0f);
  const float shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

struct Rules {
  std::int64_t most;
  float overlap_threshold, score_threshold = std::numeric_limits<float>::lowest(), sigma = 0;
};

struct Chosen {
  std::vector<std::int32_t> boxes;
  std::vector<float> scores;
};

/// The best candidates in order. With a sigma, overlapping ones lose score rather than their place.
Chosen choose(std::int64_t count, const std::function<float(std::int64_t)>& score, const std::function<float(std::int64_t, std::int64_t)>& similarity,
              const Rules& rules) {
  struct Candidate {
    std::int64_t box;
    float score;
    std::size_t compared;
    bool operator<(const Candidate& o) const { return score < o.score || (score == o.score && box > o.box); }
  };
  std::priority_queue<Candidate> queue;
  for (std::int64_t i = 0; i < count; ++i)
    if (score(i) > rules.score_threshold) queue.push({i, score(i), 0});
  const bool soft = rules.sigma > 0;
  const float scale = soft ? -0.5f / rules.sigma : 0;
  Chosen chosen;
  while (static_cast<std::int64_t>(chosen.boxes.size()) < rules.most && !queue.empty()) {
    Candidate next = queue.top();
    const float before = next.score;
    queue.pop();
    bool suppressed = false;
    for (std::size_t j = chosen.boxes.size(); j-- > next.compared;) {
      const float shared = similarity(next.box, chosen.boxes[j]);
      next.score *= soft || shared <= rules.overlap_threshold ? std::exp(scale * shared * shared) : 0.0f;
      if (!soft && shared > rules.overlap_threshold) {
        suppressed = true;
        break;
      }
      if (next.score <= rules.score_threshold) break;
    }
    next.compared = chosen.boxes.size();
    if (suppressed) continue;
    if (next.score == before) {
      chosen.boxes.push_back(static_cast<std::int32_t>(next.box));
      chosen.scores.push_back(next.score);
    } else if (next.score > rules.score_threshold) {
      queue.push(next);
    }
  }
  return chosen;
}

/// TensorFlow words the same checks differently where it batches the ops.
Status check_scalar(const Tensor& t, const char* name, const char* suffix = "") {
  return t.rank() == 0 ? absl::OkStatus() : invalid("{} must be 0-D, got shape {}{}", name, t.shape(), suffix);
}

template <class T>
Status check_inputs(const In<T>& boxes, const In<T>& scores) {
  if (boxes.dims() != 2) return invalid("boxes must be 2-D{} (Shape must be rank 2 but is rank {})", boxes.shape(), boxes.dims());
  if (boxes.dim(1) != 4) return invalid("boxes must have 4 columns (Dimension must be 4 but is {})", boxes.dim(1));
  if (scores.dims() != 1) return invalid("scores must be 1-D{} (Shape must be rank 1 but is rank {})", scores.shape(), scores.dims());
  if (scores.dim(0) != boxes.dim(0))
    return invalid("scores has incompatible shape (Dimensions must be equal, but are {} and {})", boxes.dim(0), scores.dim(0));
  return absl::OkStatus();
}

Status check_threshold(float threshold, const char* name = "iou_threshold") {
  return threshold >= 0 && threshold <= 1 ? absl::OkStatus() : invalid("{} must be in [0, 1]", name);
}

template <class T>
float value_of(const In<T>& x) {
  return static_cast<float>(x[0]);
}

template <class T>
StatusOr<Chosen> suppress(const In<T>& boxes, const In<T>& scores, const Rules& rules) {
  TRY(check_threshold(rules.overlap_threshold));
  TRY(check_inputs(boxes, scores));
  if (rules.most < 0) return invalid("output size must be non-negative");
  return choose(
      scores.size(), [&](std::int64_t i) { return static_cast<float>(scores[i]); },
      [&](std::int64_t i, std::int64_t j) { return overlap(boxes.data(), i, j); }, rules);
}

void store_boxes(Call& call, const Chosen& chosen, std::int64_t size) {
  std::int32_t* out = call.alloc<std::int32_t>(0, Shape{size});
  std::fill_n(out, size, 0);
  std::copy(chosen.boxes.begin(), chosen.boxes.end(), out);
}

std::int64_t padded_size(const Chosen& chosen, std::int64_t most, bool pad) { return pad ? most : static_cast<std::int64_t>(chosen.boxes.size()); }

}  // namespace

void add_suppression(Registry& ops) {
  using Boxes = types<half, float>;
  ops.add("NonMaxSuppression",
          [](Call& call, In<float> boxes, In<float> scores, In<std::int32_t> most, Attr<"iou_threshold", float> threshold) -> Status {
            TRY(check_threshold(*threshold));
            TRY(check_scalar(most.tensor, "max_output_size"));
            TRY_ASSIGN(auto chosen, suppress(boxes, scores, {most[0], *threshold}));
            store_boxes(call, chosen, padded_size(chosen, 0, false));
            return absl::OkStatus();
          });
  ops.add("NonMaxSuppressionV2", Boxes{}, []<class T>(Call& call, In<T> boxes, In<T> scores, In<std::int32_t> most, Any threshold) -> Status {
    TRY(check_scalar(most.tensor, "max_output_size"));
    TRY(check_scalar(threshold.tensor, "iou_threshold"));
    const float shared = threshold->dtype() == DType::f16 ? static_cast<float>(threshold->item<half>()) : threshold->item<float>();
    TRY_ASSIGN(auto chosen, suppress(boxes, scores, {most[0], shared}));
    store_boxes(call, chosen, padded_size(chosen, 0, false));
    return absl::OkStatus();
  });
  ops.add("NonMaxSuppressionV3", On<"T", Boxes>{}, On<"T_threshold", Boxes>{},
          []<class T, class U>(Call& call, In<T> boxes, In<T> scores, In<std::int32_t> most, In<U> shared, In<U> least) -> Status {
            TRY(check_scalar(most.tensor, "max_output_size", " (Shape must be rank 0 but is rank 1)"));
            TRY(check_scalar(shared.tensor, "iou_threshold", " (Shape must be rank 0 but is rank 1)"));
            TRY(check_scalar(least.tensor, "score_threshold"));
            TRY_ASSIGN(auto chosen, suppress(boxes, scores, {most[0], value_of(shared), value_of(least)}));
            store_boxes(call, chosen, padded_size(chosen, 0, false));
            return absl::OkStatus();
          });
  ops.add("NonMaxSuppressionV4", On<"T", Boxes>{}, On<"T_threshold", Boxes>{},
          []<class T, class U>(Call& call, In<T> boxes, In<T> scores, In<std::int32_t> most, In<U> shared, In<U> least,
                               Attr<"pad_to_max_output_size", bool> pad) -> Status {
            TRY(check_scalar(most.tensor, "max_output_size"));
            TRY(check_scalar(shared.tensor, "iou_threshold"));
            TRY(check_scalar(least.tensor, "score_threshold"));
            TRY_ASSIGN(auto chosen, suppress(boxes, scores, {most[0], value_of(shared), value_of(least)}));
            store_boxes(call, chosen, padded_size(chosen, most[0], *pad));
            call.set_scalar<std::int32_t>(1, static_cast<std::int32_t>(chosen.boxes.size()));
            return absl::OkStatus();
          });
  ops.add("NonMaxSuppressionV5", Boxes{},
          []<class T>(Call& call, In<T> boxes, In<T> scores, In<std::int32_t> most, In<T> shared, In<T> least, In<T> sigma,
                      Attr<"pad_to_max_output_size", bool> pad) -> Status {
            TRY(check_scalar(most.tensor, "max_output_size"));
            TRY(check_scalar(shared.tensor, "iou_threshold"));
            TRY(check_scalar(least.tensor, "score_threshold"));
            TRY(check_scalar(sigma.tensor, "soft_nms_sigma"));
            if (value_of(sigma) < 0) return invalid("soft_nms_sigma_val must be >= 0");
            TRY_ASSIGN(auto chosen, suppress(boxes, scores, {most[0], value_of(shared), value_of(least), value_of(sigma)}));
            const std::int64_t size = padded_size(chosen, most[0], *pad);
            store_boxes(call, chosen, size);
            T* kept = call.alloc<T>(1, Shape{size});
            std::fill_n(kept, size, T(0));
            std::transform(chosen.scores.begin(), chosen.scores.end(), kept, [](float v) { return static_cast<T>(v); });
            call.set_scalar<std::int32_t>(2, static_cast<std::int32_t>(chosen.boxes.size()));
            return absl::OkStatus();
          });
  ops.add("NonMaxSuppressionWithOverlaps",
          [](Call& call, In<float> overlaps, In<float> scores, In<std::int32_t> most, In<float> shared, In<float> least) -> Status {
            TRY(check_scalar(most.tensor, "max_output_size"));
            TRY(check_scalar(shared.tensor, "overlap_threshold"));
            TRY(check_scalar(least.tensor, "score_threshold"));
            if (overlaps.dims() != 2) return invalid("overlaps must be 2-D{}", overlaps.shape());
            if (overlaps.dim(0) != overlaps.dim(1)) return invalid("overlaps must be square{}", overlaps.shape());
            if (scores.dims() != 1) return invalid("scores must be 1-D{} (Shape must be rank 1 but is rank {})", scores.shape(), scores.dims());
            if (scores.dim(0) != overlaps.dim(0))
              return invalid("scores has incompatible shape (Dimensions must be equal, but are {} and {})", overlaps.dim(0), scores.dim(0));
            if (most[0] < 0) return invalid("output size must be non-negative");
            const auto chosen = choose(
                scores.size(), [&](std::int64_t i) { return scores[i]; },
                [&](std::int64_t i, std::int64_t j) { return overlaps[i * overlaps.dim(1) + j]; }, {most[0], shared[0], least[0]});
            store_boxes(call, chosen, padded_size(chosen, 0, false));
            return absl::OkStatus();
          });
}

}  // namespace troupe
