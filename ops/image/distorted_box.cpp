// Random crops of an image that still show enough of one of its objects.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/draws.hpp>
#include <troupe/ops/random/generator.hpp>

#include <cmath>
#include <limits>

namespace troupe {
namespace {

struct Box {
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;

  float area() const { return static_cast<float>(std::int64_t{right - left} * (bottom - top)); }
  Box common_with(const Box& other) const {
    const Box b{std::max(left, other.left), std::max(top, other.top), std::min(right, other.right), std::min(bottom, other.bottom)};
    return b.left > b.right || b.top > b.bottom ? Box{} : b;
  }
};

/// What a node demands of its crops.
struct Demands {
  float covered = 0;  // where it is no input
  std::vector<float> ratios, areas;
  std::int64_t attempts = 0;
  bool whole_image = false;

  static StatusOr<Demands> make(Binding& binding);
};

StatusOr<Demands> Demands::make(Binding& binding) {
  Demands d;
  if (binding.op().input_arg_size() == 2) {
    TRY_ASSIGN(d.covered, binding.attr<float>("min_object_covered"));
    if (!(d.covered >= 0)) return invalid("Min object covered must be non-negative: {}", d.covered);
  }
  TRY_ASSIGN(d.whole_image, binding.attr<bool>("use_image_if_no_bounding_boxes"));
  TRY_ASSIGN(d.ratios, binding.attr<std::vector<float>>("aspect_ratio_range"));
  if (d.ratios.size() != 2) return invalid("Aspect ratio range field must specify 2 dimensions");
  if (!(d.ratios[0] > 0 && d.ratios[1] > 0)) return invalid("Aspect ratio range must be non-negative: [{}, {}]", d.ratios[0], d.ratios[1]);
  TRY_ASSIGN(d.areas, binding.attr<std::vector<float>>("area_range"));
  if (d.areas.size() != 2) return invalid("Area range field must specify 2 dimensions");
  if (!(d.areas[0] > 0 && d.areas[1] > 0)) return invalid("Area range must be non-negative: [{}, {}]", d.areas[0], d.areas[1]);
  if (!(d.areas[0] <= 1 && d.areas[1] <= 1)) return invalid("Area range must be less then or equal to 1.0: [{}, {}]", d.areas[0], d.areas[1]);
  TRY_ASSIGN(d.attempts, binding.attr<std::int64_t>("max_attempts"));
  if (d.attempts <= 0) return invalid("Max attempts must be non-negative: {}", d.attempts);
  return d;
}

std::int64_t rounded(float x) { return std::isfinite(x) && std::abs(x) < 9e18f ? std::lrint(x) : std::numeric_limits<std::int64_t>::max(); }

/// A crop of a ratio of width to height whose area is within the demanded part of the image's; false when there is none.
bool crop_of_ratio(std::int32_t width, std::int32_t height, const Demands& demands, float ratio, Draws& draws, Box& crop) {
  if (!(ratio > 0) || width <= 0 || height <= 0 || demands.areas[0] > demands.areas[1]) return false;
  const auto fw = static_cast<float>(width), fh = static_cast<float>(height);
  const float least = demands.areas[0] * fw * fh, most = demands.areas[1] * fw * fh;
  const auto width_of = [ratio](std::int64_t h) { return rounded(static_cast<float>(h) * ratio); };
  std::int64_t h = rounded(std::sqrt(least / ratio)), highest = rounded(std::sqrt(most / ratio));
  if (width_of(highest) > width) {
    constexpr double a_bit = 0.0000001f;
    highest = static_cast<std::int64_t>((width + 0.5 - a_bit) / static_cast<double>(ratio));
    if (width_of(highest) > width) --highest;
  }
  highest = std::min<std::int64_t>(highest, height);
  h = std::min(h, highest);
  if (h < highest) h += draws.below(static_cast<std::uint32_t>(highest - h + 1));
  std::int64_t w = width_of(h);
  const auto area = [&] { return static_cast<float>(w) * static_cast<float>(h); };
  // Rounding may have made it a little too small or too large.
  for (int change : {1, -1}) {
    if (change > 0 ? !(area() < least) : !(area() > most)) continue;
    h += change;
    w = width_of(h);
  }
  if (area() < least || area() > most || w > width || h > height || w <= 0 || h <= 0) return false;
  const auto offset = [&](std::int64_t size, std::int32_t whole) {
    return size < whole ? draws.below(static_cast<std::uint32_t>(whole - size)) : 0u;
  };
  crop.top = static_cast<std::int32_t>(offset(h, height));
  crop.left = static_cast<std::int32_t>(offset(w, width));
  crop.bottom = crop.top + static_cast<std::int32_t>(h);
  crop.right = crop.left + static_cast<std::int32_t>(w);
  return true;
}

bool shows_enough(const Box& crop, float covered, const std::vector<Box>& objects) {
  if (crop.area() < 1) return false;
  return std::ranges::any_of(objects, [&](const Box& o) { return o.area() >= 1 && crop.common_with(o).area() / o.area() >= covered; });
}

StatusOr<std::vector<Box>> objects_of(const In<float>& boxes, std::int32_t width, std::int32_t height) {
  std::vector<Box> objects;
  for (std::int64_t b = 0; b < boxes.size(); b += 4) {
    for (std::int64_t i = b; i < b + 4; ++i)
      if (!(boxes[i] >= 0 && boxes[i] <= 1)) return invalid("All bounding box coordinates must be in [0.0, 1.0]: {}", boxes[i]);
    const auto at = [&](std::int64_t i, std::int32_t size) { return static_cast<std::int32_t>(boxes[b + i] * static_cast<float>(size)); };
    objects.push_back({at(1, width), at(0, height), at(3, width), at(2, height)});
  }
  return objects;
}

template <class T>
Status sample_box(Call& call, const In<T>& size, const In<float>& boxes, const Tensor* covered_input, const Demands& demands, const Philox& stream) {
  if (size.dims() != 1) return invalid("image_size must be 1-dimensional{}", size.shape());
  if (size.dim(0) != 3) return invalid("image_size must contain 3 elements{}", size.shape());
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  if (static_cast<std::uint64_t>(size[0]) >= most) return invalid("image height cannot be >= int32 max");
  if (static_cast<std::uint64_t>(size[1]) >= most) return invalid("image width cannot be >= int32 max");
  const auto height = static_cast<std::int32_t>(size[0]), width = static_cast<std::int32_t>(size[1]);
  if (boxes.dims() != 3) return invalid("input boxes must be 3-dimensional [batch, num_boxes, coords]: {}", boxes.shape());
  if (boxes.dim(2) != 4) return invalid("bounding boxes must have shape [4] or [*, 4], got {}", boxes.shape());
  float covered = demands.covered;
  if (covered_input) {
    if (covered_input->rank() != 0) return invalid("min_object_covered must be 0-D, got shape {}", covered_input->shape());
    covered = covered_input->item<float>();
    if (!(covered >= 0)) return invalid("Min object covered must be non-negative: {}", covered);
  }
  TRY_ASSIGN(std::vector<Box> objects, objects_of(boxes, width, height));
  const Box image{0, 0, width, height};
  if (objects.empty()) {
    if (!demands.whole_image)
      return invalid(
          "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes.");
    objects.push_back(image);
  }
  Draws draws(stream);
  Box crop;
  bool found = false;
  for (std::int64_t i = 0; i < demands.attempts && !found; ++i) {
    const float ratio = draws.unit() * (demands.ratios[1] - demands.ratios[0]) + demands.ratios[0];
    found = crop_of_ratio(width, height, demands, ratio, draws, crop) && shows_enough(crop, covered, objects);
  }
  if (!found) crop = image;
  T* begin = call.alloc<T>(0, Shape{3});
  T* extent = call.alloc<T>(1, Shape{3});
  float* box = call.alloc<float>(2, Shape{1, 1, 4});
  begin[0] = static_cast<T>(crop.top);
  begin[1] = static_cast<T>(crop.left);
  begin[2] = T(0);
  extent[0] = static_cast<T>(crop.bottom - crop.top);
  extent[1] = static_cast<T>(crop.right - crop.left);
  extent[2] = static_cast<T>(-1);
  const auto part = [](std::int32_t x, std::int32_t whole) { return static_cast<float>(x) / static_cast<float>(whole); };
  box[0] = part(crop.top, height);
  box[1] = part(crop.left, width);
  box[2] = part(crop.bottom, height);
  box[3] = part(crop.right, width);
  return absl::OkStatus();
}

using sizes = types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t>;

}  // namespace

void add_distorted_box(Registry& ops) {
  const auto stream = [](Generator& generator, const Demands& demands) { return generator.reserve(static_cast<std::uint64_t>(demands.attempts)); };
  ops.add("SampleDistortedBoundingBox", sizes{},
          [stream]<class T>(Call& call, In<T> size, In<float> boxes, State<Demands> demands, State<Generator> generator) {
            return sample_box<T>(call, size, boxes, nullptr, *demands, stream(*generator, *demands));
          });
  ops.add("SampleDistortedBoundingBoxV2", sizes{},
          [stream]<class T>(Call& call, In<T> size, In<float> boxes, In<float> covered, State<Demands> demands, State<Generator> generator) {
            return sample_box<T>(call, size, boxes, &covered.tensor, *demands, stream(*generator, *demands));
          });
  ops.add("StatelessSampleDistortedBoundingBox", sizes{},
          []<class T>(Call& call, In<T> size, In<float> boxes, In<float> covered, Any seed, State<Demands> demands) -> Status {
            TRY_ASSIGN(const Philox of_seed, stream_of_seed(seed.tensor));
            return sample_box<T>(call, size, boxes, &covered.tensor, *demands, of_seed);
          });
}

}  // namespace troupe
