// Cast between all pairs of number types.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/parallel.hpp>

#include <bit>
#include <cmath>

namespace troupe {
namespace {

using cast_types = joined<numbers, types<bool>>;

/// Quantised types cast as the integers they are stored in.
DType stored_as(DType t) {
  switch (t) {
    case DType::qi8: return DType::i8;
    case DType::qu8: return DType::u8;
    case DType::qi16: return DType::i16;
    case DType::qu16: return DType::u16;
    case DType::qi32: return DType::i32;
    default: return t;
  }
}

/// Narrow integers take the low bits of a wider one, as x86 does with numbers that do not fit.
template <class To, class From>
To integer_from(From x) {
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    constexpr From top = static_cast<From>(9223372036854775808.0);
    if (x >= top) return static_cast<std::uint64_t>(static_cast<std::int64_t>(x - top)) ^ (std::uint64_t{1} << 63);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  } else if constexpr (std::is_same_v<To, std::uint32_t>) {
    return static_cast<To>(static_cast<std::int64_t>(x));
  } else if constexpr (sizeof(To) < 4) {
    return static_cast<To>(static_cast<std::int32_t>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
To convert(const From& x) {
  if constexpr (is_complex<From>) {
    if constexpr (is_complex<To>) return To(static_cast<typename To::value_type>(x.real()), static_cast<typename To::value_type>(x.imag()));
    else return convert<To>(x.real());
  } else if constexpr (is_complex<To>) {
    return To(convert<typename To::value_type>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != static_cast<From>(0);
  } else if constexpr (std::is_same_v<From, bfloat16>) {
    return convert<To>(std::bit_cast<float>(static_cast<std::uint32_t>(x.value) << 16));
  } else if constexpr (is_floating<From> && sizeof(From) == 2) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (is_floating<To> && sizeof(To) == 2) {
    return static_cast<To>(static_cast<float>(x));
  } else if constexpr (is_floating<From> && std::is_integral_v<To>) {
    return integer_from<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class To>
constexpr int mantissa_bits = std::is_same_v<To, float>      ? 23
                              : std::is_same_v<To, half>     ? 10
                              : std::is_same_v<To, bfloat16> ? 7
                                                             : 52;

/// Clears what the narrower type has no bits for, so that the conversion does not round.
template <class To, class From>
From without_low_bits(From x) {
  using Bits = std::conditional_t<std::is_same_v<From, float>, std::uint32_t, std::uint64_t>;
  if (std::isnan(x)) return x;
  const Bits low = (Bits{1} << (mantissa_bits<From> - mantissa_bits<To>)) - 1;
  return std::bit_cast<From>(std::bit_cast<Bits>(x) & ~low);
}

template <class To, class From>
void convert_all(const Tensor& x, Tensor& out, bool truncate) {
  const From* from = x.data<From>();
  To* to = out.mutable_data<To>();
  const std::int64_t n = x.size();
  if constexpr (std::is_floating_point_v<From> && is_floating<To> && sizeof(To) < sizeof(From)) {
    if (truncate) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = convert<To>(without_low_bits<To>(from[i]));
      return;
    }
  }
  in_parallel(n, 0.5, [&](std::int64_t first, std::int64_t last) {
    const From* in = from;
    To* out_of = to;
#pragma GCC ivdep
    for (std::int64_t i = first; i < last; ++i) out_of[i] = convert<To>(in[i]);
  });
}

Status cast(Call& call, const Tensor& x, DType from, DType to, bool truncate) {
  if (from == to) {
    call.set(0, x);
    return absl::OkStatus();
  }
  Tensor& out = call.out(0);
  const bool known = visit_dtype(cast_types{}, stored_as(from), [&]<class From>() {
    visit_dtype(cast_types{}, stored_as(to), [&]<class To>() {
      out = Tensor(to, x.shape());
      convert_all<To, From>(x, out, truncate);
    });
  });
  if (!known || !out.valid()) return unimplemented("Cast {} to {} is not supported", name_of(from), name_of(to));
  return absl::OkStatus();
}

}  // namespace

void add_casts(Registry& ops) {
  ops.add("Cast", [](Call& call, Any x, Attr<"SrcT", DType> from, Attr<"DstT", DType> to, Attr<"Truncate", bool> truncate) -> Status {
    if (x->dtype() != *from) return detail::wrong_dtype(call, x.index, from);
    return cast(call, x.tensor, from, to, truncate);
  });
}

}  // namespace troupe
