// Sums and products of quantised numbers.
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/math/quantized_range.hpp>

#include <vector>

namespace troupe {
namespace {

Status check_scalar(const Any& t, const std::string& name) { return t->rank() == 0 ? absl::OkStatus() : invalid("{} must be a scalar", name); }

struct Operands {
  QuantizedRange x, y;
};

StatusOr<Operands> ranges_of(const Any& min_x, const Any& max_x, const Any& min_y, const Any& max_y, const char* x, const char* y) {
  TRY(check_scalar(min_x, fmt::format("min_{}", x)));
  TRY(check_scalar(max_x, fmt::format("max_{}", x)));
  TRY(check_scalar(min_y, fmt::format("min_{}", y)));
  TRY(check_scalar(max_y, fmt::format("max_{}", y)));
  return Operands{{min_x->item<float>(), max_x->item<float>()}, {min_y->item<float>(), max_y->item<float>()}};
}

Status check_widths(const Operands& ranges) {
  if (!(ranges.x.high > ranges.x.low)) return invalid("max_x must be larger than min_a.");
  if (!(ranges.y.high > ranges.y.low)) return invalid("max_x must be larger than min_b.");
  return absl::OkStatus();
}

void give_range(Call& call, QuantizedRange range) {
  call.set_scalar<float>(1, range.low);
  call.set_scalar<float>(2, range.high);
}

/// Bytes as numbers of another range: where zero lands, and what one step is worth.
struct Line {
  std::int64_t zero, step;
  Line(QuantizedRange from, QuantizedRange to)
      : zero(stored_anywhere<qint32>(meant<quint8>(0, from), to)),
        step(static_cast<std::int32_t>(stored_anywhere<qint32>(meant<quint8>(1, from), to) - zero)) {}
  std::int64_t operator()(std::uint8_t x) const {
    return std::clamp<std::int64_t>(zero + x * step, std::numeric_limits<std::int32_t>::lowest(), std::numeric_limits<std::int32_t>::max());
  }
};

/// Applies f to bytes of both sides under the rules of broadcasting.
template <class F>
Status for_pairs(Call& call, const In<quint8>& x, const In<quint8>& y, F&& f) {
  const auto plan = Broadcast::of(x.shape(), y.shape());
  if (!plan) return invalid("Incompatible shapes: {} vs. {}", x.shape(), y.shape());
  auto* out = call.alloc<qint32>(0, plan->output);
  plan->for_each_row([&](std::int64_t o, std::int64_t a, std::int64_t b) {
    for (std::int64_t i = 0; i < plan->size.back(); ++i)
      out[o + i].value = f(x[a + i * plan->left_step.back()].value, y[b + i * plan->right_step.back()].value);
  });
  return absl::OkStatus();
}

std::int32_t wrapped(std::int64_t x) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(x)); }

template <class T>
Status add_bias(Call& call, const In<T>& x, const In<T>& bias, const Operands& ranges) {
  const std::int64_t depth = x.dims() > 0 ? x.dim(x.dims() - 1) : 1;
  if (x.dims() == 0 || bias.dims() != 1 || bias.size() != depth)
    return invalid("Must provide as many biases as the last dimension of the input tensor: {} vs. {}", bias.shape(), x.shape());
  const QuantizedRange sums = range_of_sums(ranges.x, ranges.y, 17);
  const Meaning<T> input(ranges.x), biases(ranges.y);
  const Storing<qint32> storing(sums);
  auto* out = call.alloc<qint32>(0, x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) out[i].value = storing(input(x[i].value) + biases(bias[i % depth].value));
  give_range(call, sums);
  return absl::OkStatus();
}

Status multiply(Call& call, const In<quint8>& a, const In<quint8>& b, const Operands& ranges, bool transpose_a, bool transpose_b) {
  if (a.dims() != 2) return invalid("In[0] is not a matrix");
  if (b.dims() != 2) return invalid("In[1] is not a matrix");
  const std::int64_t m = a.dim(transpose_a ? 1 : 0), k = a.dim(transpose_a ? 0 : 1), n = b.dim(transpose_b ? 0 : 1);
  if (k != b.dim(transpose_b ? 1 : 0)) return invalid("Matrix size-incompatible: In[0]: {}, In[1]: {}", a.shape(), b.shape());
  const std::int64_t zero_a = stored_anywhere<quint8>(0, ranges.x), zero_b = stored_anywhere<quint8>(0, ranges.y);
  const std::int64_t dims[] = {m, n};
  TRY_ASSIGN(const Shape shape, Shape::checked(dims));
  auto* out = call.alloc<qint32>(0, shape);
  std::vector<std::uint32_t> row(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0u);
    for (std::int64_t j = 0; j < k; ++j) {
      const auto x = static_cast<std::uint32_t>(a[transpose_a ? j * m + i : i * k + j].value - zero_a);
      for (std::int64_t c = 0; c < n; ++c)
        row[static_cast<std::size_t>(c)] += x * static_cast<std::uint32_t>(b[transpose_b ? c * k + j : j * n + c].value - zero_b);
    }
    for (std::int64_t c = 0; c < n; ++c) out[i * n + c].value = static_cast<std::int32_t>(row[static_cast<std::size_t>(c)]);
  }
  give_range(call, range_of_products<quint8, quint8, qint32>(ranges.x, ranges.y));
  return absl::OkStatus();
}

}  // namespace

void add_quantized_math(Registry& ops) {
  ops.add("QuantizedAdd", [](Call& call, In<quint8> x, In<quint8> y, Any min_x, Any max_x, Any min_y, Any max_y) -> Status {
    const std::pair<const char*, const Any*> bounds[] = {{"min_x", &min_x}, {"max_x", &max_x}, {"min_y", &min_y}, {"max_y", &max_y}};
    for (const auto& [name, bound] : bounds)
      if ((*bound)->rank() != 0) return invalid("`{}` must be rank 0 but is rank {}", name, (*bound)->rank());
    const Operands ranges{{min_x->item<float>(), max_x->item<float>()}, {min_y->item<float>(), max_y->item<float>()}};
    if (!(ranges.x.high > ranges.x.low)) return invalid("max_x must be larger than min_x.");
    if (!(ranges.y.high > ranges.y.low)) return invalid("max_y must be larger than min_y.");
    const QuantizedRange sums = range_of_sums(ranges.x, ranges.y, 14);
    const Line first(ranges.x, sums), second(ranges.y, sums);
    // A single number is brought into the new range on its own, without the line's rounding.
    const auto place = [&](const Line& line, const In<quint8>& all, QuantizedRange range, std::uint8_t v) {
      return all.dims() == 0 ? stored<qint32>(meant<quint8>(v, range), sums) : line(v);
    };
    TRY(for_pairs(call, x, y, [&](std::uint8_t a, std::uint8_t b) { return wrapped(place(first, x, ranges.x, a) + place(second, y, ranges.y, b)); }));
    give_range(call, sums);
    return absl::OkStatus();
  });
  ops.add("QuantizedMul", [](Call& call, In<quint8> x, In<quint8> y, Any min_x, Any max_x, Any min_y, Any max_y) -> Status {
    TRY_ASSIGN(const Operands ranges, ranges_of(min_x, max_x, min_y, max_y, "x", "y"));
    TRY(check_widths(ranges));
    const std::int64_t zero_x = stored_anywhere<quint8>(0, ranges.x), zero_y = stored_anywhere<quint8>(0, ranges.y);
    TRY(for_pairs(call, x, y, [&](std::uint8_t a, std::uint8_t b) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(a - zero_x) * static_cast<std::uint32_t>(b - zero_y));
    }));
    give_range(call, range_of_products<quint8, quint8, qint32>(ranges.x, ranges.y));
    return absl::OkStatus();
  });
  ops.add("QuantizedMatMul",
          [](Call& call, In<quint8> a, In<quint8> b, Any min_a, Any max_a, Any min_b, Any max_b, Attr<"transpose_a", bool> ta,
             Attr<"transpose_b", bool> tb) -> Status {
            TRY_ASSIGN(const Operands ranges, ranges_of(min_a, max_a, min_b, max_b, "a", "b"));
            return multiply(call, a, b, ranges, *ta, *tb);
          });
  ops.add("QuantizedBiasAdd", On<"T1", types<quint8, qint8>>{},
          []<class T>(Call& call, In<T> x, In<T> bias, Any min_x, Any max_x, Any min_y, Any max_y) -> Status {
            TRY_ASSIGN(const Operands ranges, ranges_of(min_x, max_x, min_y, max_y, "input", "bias"));
            return add_bias(call, x, bias, ranges);
          });
  ops.cost({"QuantizedMatMul"}, 100);
}

}  // namespace troupe
