// Merging of dimensions for broadcasting.
#include <troupe/ops/broadcast.hpp>

#include <algorithm>

namespace troupe {

std::optional<Broadcast> Broadcast::of(const Shape& left, const Shape& right) {
  Broadcast b;
  const int rank = std::max(left.rank(), right.rank());
  auto padded = [rank](const Shape& s, int i) {
    const int at = i - (rank - s.rank());
    return at < 0 ? std::int64_t{1} : s.dim(at);
  };
  enum Kind { both, only_left, only_right };
  std::optional<Kind> last;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t l = padded(left, i), r = padded(right, i);
    if (l != r && l != 1 && r != 1) return std::nullopt;
    const std::int64_t n = l == 1 ? r : l;
    b.output.add_dim(n);
    if (l == 1 && r == 1) continue;
    const Kind kind = l == r ? both : (r == 1 ? only_left : only_right);
    if (last == kind) {
      b.size.back() *= n;
    } else {
      b.size.push_back(n);
      b.left_step.push_back(kind == only_right ? 0 : 1);
      b.right_step.push_back(kind == only_left ? 0 : 1);
      last = kind;
    }
  }
  if (b.size.empty()) {
    b.size.push_back(1);
    b.left_step.push_back(1);
    b.right_step.push_back(1);
  }
  std::int64_t l = 1, r = 1;
  for (std::size_t d = b.size.size(); d-- > 0;) {
    const bool steps_left = b.left_step[d] != 0, steps_right = b.right_step[d] != 0;
    b.left_step[d] = steps_left ? l : 0;
    b.right_step[d] = steps_right ? r : 0;
    if (steps_left) l *= b.size[d];
    if (steps_right) r *= b.size[d];
  }
  return b;
}

}  // namespace troupe
