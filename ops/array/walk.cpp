// Walks over strided layouts.
#include <troupe/ops/array/walk.hpp>

namespace troupe {

Dims steps_of(const Shape& shape) {
  Dims steps(static_cast<std::size_t>(shape.rank()), 1);
  for (std::size_t d = steps.size(); d-- > 1;) steps[d - 1] = steps[d] * shape.dim(static_cast<int>(d));
  return steps;
}

Walk Walk::simplified() const {
  Walk w;
  w.from = from;
  w.to = to;
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (size[d] == 1) continue;
    if (!w.size.empty() && w.from_step.back() == from_step[d] * size[d] && w.to_step.back() == to_step[d] * size[d]) {
      w.size.back() *= size[d];
      w.from_step.back() = from_step[d];
      w.to_step.back() = to_step[d];
    } else {
      w.add(size[d], from_step[d], to_step[d]);
    }
  }
  if (w.size.empty()) w.size = w.from_step = w.to_step = Dims{1};
  return w;
}

void Walk::swap_dimensions(std::size_t a, std::size_t b) {
  std::swap(size[a], size[b]);
  std::swap(from_step[a], from_step[b]);
  std::swap(to_step[a], to_step[b]);
}

Walk Walk::part(std::int64_t first, std::int64_t last) const {
  Walk w = *this;
  w.size[0] = last - first;
  w.from += first * from_step[0];
  w.to += first * to_step[0];
  return w;
}

void copy_along(const Walk& walk, const Tensor& from, Tensor& to) {
  by_storage(to.dtype(), [&]<class S>() { copy_along<S>(walk, from.data<S>(), to.mutable_data<S>()); });
}

void copy_into(const Tensor& from, Tensor& to, std::int64_t at) {
  by_storage(to.dtype(), [&]<class S>() { std::copy_n(from.data<S>(), from.size(), to.mutable_data<S>() + at); });
}

void fill_with(const Tensor& value, Tensor& to) {
  by_storage(to.dtype(), [&]<class S>() {
    Walk walk;
    walk.add(to.size(), 0, 1);
    if (to.size() > 0) detail::copy_rows(walk, value.data<S>(), to.mutable_data<S>());
  });
}

}  // namespace troupe
