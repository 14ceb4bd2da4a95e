// Non-maximum suppression per class over a batch of images, in one op.
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace troupe {

namespace {

using Box = std::array<float, 4>;

float overlap(const Box& a, const Box& b) {
  const auto low = [](const Box& v, std::size_t i) { return std::min(v[i], v[i + 2]); };
  const auto high = [](const Box& v, std::size_t i) { return std::max(v[i], v[i + 2]); };
  const auto area = [&](const Box& v) { return (high(v, 0) - low(v, 0)) * (high(v, 1) - low(v, 1)); };
  if (area(a) <= 0 || area(b) <= 0) return 0;
  const auto common = [&](std::size_t i) { return std::max(std::min(high(a, i), high(b, i)) - std::max(low(a, i), low(b, i)), 0.0f); };
  const float shared = common(0) * common(1);
  return shared / (area(a) + area(b) - shared);
}

struct Detection {
  Box box;
  float score;
  std::int64_t kind;
};

struct Sizes {
  std::int64_t batch, boxes, box_kinds, kinds;
};

struct Rules {
  std::int64_t per_class, total;
  float overlap_threshold, score_threshold;
};

/// The detections of one class that no better one of its class covers.
void detect(const float* boxes, const float* scores, const Sizes& s, std::int64_t kind, const Rules& rules, std::vector<Detection>& found) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < s.boxes; ++i)
    if (scores[i * s.kinds + kind] > rules.score_threshold) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return scores[a * s.kinds + kind] > scores[b * s.kinds + kind]; });
  const std::size_t first = found.size();
  for (std::int64_t i : order) {
    if (static_cast<std::int64_t>(found.size() - first) >= std::min(rules.per_class, s.boxes)) return;
    Detection next{{}, scores[i * s.kinds + kind], kind};
    std::copy_n(boxes + (i * s.box_kinds + (s.box_kinds > 1 ? kind : 0)) * 4, 4, next.box.begin());
    if (std::none_of(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                     [&](const Detection& d) { return overlap(next.box, d.box) > rules.overlap_threshold; }))
      found.push_back(next);
  }
}

Status check_scalar(const Tensor& t, const char* name) {
  return t.rank() == 0 ? absl::OkStatus() : invalid("{} must be 0-D, got shape {}", name, t.shape());
}

StatusOr<Sizes> check_shapes(const Shape& boxes, const Shape& scores) {
  if (boxes.rank() < 1 || scores.rank() < 1 || boxes[0] != scores[0]) return invalid("boxes and scores must have same batch size");
  if (boxes.rank() != 4) return invalid("boxes must be 4-D{}", boxes);
  if (scores.rank() != 3) return invalid("scores must be 3-D{}", scores);
  if (boxes[2] != 1 && boxes[2] != scores[2]) return invalid("third dimension of boxes must be either 1 or num classes");
  if (boxes[3] != 4) return invalid("boxes must have 4 columns");
  if (boxes[1] != scores[1]) return invalid("scores has incompatible shape");
  return Sizes{boxes[0], boxes[1], boxes[2], scores[2]};
}

void store(Call& call, const std::vector<std::vector<Detection>>& images, std::int64_t size, bool clip) {
  const auto batch = static_cast<std::int64_t>(images.size());
  float *boxes = call.alloc<float>(0, Shape{batch, size, 4}), *scores = call.alloc<float>(1, Shape{batch, size}),
        *kinds = call.alloc<float>(2, Shape{batch, size});
  std::int32_t* valid = call.alloc<std::int32_t>(3, Shape{batch});
  std::fill_n(boxes, batch * size * 4, 0.0f);
  std::fill_n(scores, batch * size, 0.0f);
  std::fill_n(kinds, batch * size, 0.0f);
  for (const auto& found : images) {
    const std::int64_t count = std::min(static_cast<std::int64_t>(found.size()), size);
    for (std::int64_t i = 0; i < count; ++i) {
      const Detection& d = found[static_cast<std::size_t>(i)];
      for (int k = 0; k < 4; ++k)
        boxes[i * 4 + k] = clip ? std::max(std::min(d.box[static_cast<std::size_t>(k)], 1.0f), 0.0f) : d.box[static_cast<std::size_t>(k)];
      scores[i] = d.score;
      kinds[i] = static_cast<float>(d.kind);
    }
    *valid++ = static_cast<std::int32_t>(count);
    boxes += size * 4;
    scores += size;
    kinds += size;
  }
}

}  // namespace

void add_combined_suppression(Registry& ops) {
  ops.add("CombinedNonMaxSuppression",
          [](Call& call, In<float> boxes, In<float> scores, In<std::int32_t> per_class, In<std::int32_t> total, In<float> shared, In<float> least,
             Attr<"pad_per_class", bool> pad, Attr<"clip_boxes", bool> clip) -> Status {
            if (boxes.dims() < 1 || scores.dims() < 1 || boxes.dim(0) != scores.dim(0)) return invalid("boxes and scores must have same batch size");
            TRY(check_scalar(per_class.tensor, "max_size_per_class"));
            if (per_class[0] <= 0) return invalid("max_size_per_class must be positive");
            TRY(check_scalar(total.tensor, "max_total_size"));
            if (total[0] <= 0) return invalid("max_total_size must be > 0");
            TRY(check_scalar(shared.tensor, "iou_threshold"));
            TRY(check_scalar(least.tensor, "score_threshold"));
            if (!(shared[0] >= 0 && shared[0] <= 1)) return invalid("iou_threshold must be in [0, 1]");
            TRY_ASSIGN(auto s, check_shapes(boxes.shape(), scores.shape()));
            const Rules rules{per_class[0], total[0], shared[0], least[0]};
            std::vector<std::vector<Detection>> images(static_cast<std::size_t>(s.batch));
            for (std::int64_t b = 0; b < s.batch; ++b) {
              auto& found = images[static_cast<std::size_t>(b)];
              for (std::int64_t k = 0; k < s.kinds; ++k)
                detect(boxes.data() + b * s.boxes * s.box_kinds * 4, scores.data() + b * s.boxes * s.kinds, s, k, rules, found);
              std::stable_sort(found.begin(), found.end(), [](const Detection& x, const Detection& y) { return x.score > y.score; });
            }
            const std::int64_t size = *pad ? std::min<std::int64_t>(total[0], per_class[0] * s.kinds) : total[0];
            store(call, images, size, *clip);
            return absl::OkStatus();
          });
  ops.cost({"CombinedNonMaxSuppression"}, 200);
}

}  // namespace troupe
