// Matrix products: single, in batches with broadcasting, from sparse-ish operands, and fused with what follows.
#include <troupe/ops/broadcast.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/fused.hpp>
#include <troupe/ops/nn/gemm.hpp>

namespace troupe {

namespace {

enum class Ranks { two, equal, broadcast };

Status check_ranks(const Shape& x, const Shape& y, Ranks ranks) {
  if (ranks == Ranks::broadcast) {
    if (x.rank() < 2) return invalid("In[0] ndims must be >= 2: {}", x.rank());
    if (y.rank() < 2) return invalid("In[1] ndims must be >= 2: {}", y.rank());
    return absl::OkStatus();
  }
  if (x.rank() != y.rank()) return invalid("In[0] and In[1] has different ndims: {} vs. {}", x, y);
  if (ranks == Ranks::two && x.rank() != 2) return invalid("In[0] and In[1] ndims must be == 2: {}", x.rank());
  if (x.rank() < 2) return invalid("In[0] and In[1] ndims must be >= 2: {}", x.rank());
  for (int i = 0; i < x.rank() - 2; ++i)
    if (x[i] != y[i]) return invalid("In[0].dim({}) and In[1].dim({}) must be the same: {} vs {}", i, i, x, y);
  return absl::OkStatus();
}

Shape batch_of(const Shape& s) { return Shape(s.dims().first(static_cast<std::size_t>(s.rank() - 2))); }

Side side(bool flipped, bool conjugated) { return !flipped ? Side::plain : conjugated ? Side::adjoint : Side::transposed; }

/// What a batch of products needs to know: sizes of one product, shape of all, how the batches meet.
struct Batch {
  GemmSizes sizes;
  Broadcast pairs;
  Shape output;
};

StatusOr<Batch> plan(const Shape& x, const Shape& y, bool flip_x, bool flip_y, Ranks ranks) {
  TRY(check_ranks(x, y, ranks));
  auto pairs = Broadcast::of(batch_of(x), batch_of(y));
  if (!pairs) return invalid("In[0] and In[1] must have compatible batch dimensions: {} vs. {}", x, y);
  auto at = [](const Shape& s, bool last) { return s[s.rank() - (last ? 1 : 2)]; };
  const GemmSizes sizes{at(x, flip_x), at(x, !flip_x), at(y, !flip_y)};
  if (sizes.inner != at(y, flip_y)) return invalid("Matrix size-incompatible: In[0]: {}, In[1]: {}", x, y);
  auto dims = pairs->output;
  dims.add_dim(sizes.rows);
  dims.add_dim(sizes.columns);
  TRY_ASSIGN(Shape output, Shape::checked(dims.dims()));
  return Batch{sizes, std::move(*pairs), std::move(output)};
}

template <class T>
void run(const Batch& batch, const T* x, Side side_x, const T* y, Side side_y, T* out) {
  const GemmSizes& s = batch.sizes;
  const auto& pairs = batch.pairs;
  if (batch.output.elements() == 0) return;
  pairs.for_each_row([&](std::int64_t o, std::int64_t l, std::int64_t r) {
    const std::int64_t left = pairs.left_step.back(), right = pairs.right_step.back();
    for (std::int64_t i = 0; i < pairs.size.back(); ++i)
      gemm(s, x + (l + i * left) * s.rows * s.inner, side_x, y + (r + i * right) * s.inner * s.columns, side_y, out + (o + i) * s.elements());
  });
}

template <Name FlipX, Name FlipY>
void add_products(Registry& ops, Registry::Names names, Ranks ranks, bool conjugates) {
  ops.add(names, joined<floats, joined<complexes, types<std::int16_t, std::int32_t, std::int64_t>>>{},
          [ranks, conjugates]<class T>(Call& call, In<T> x, In<T> y, Attr<FlipX, bool> flip_x, Attr<FlipY, bool> flip_y) -> Status {
            TRY_ASSIGN(auto batch, plan(x.shape(), y.shape(), *flip_x, *flip_y, ranks));
            T* out = call.alloc<T>(0, batch.output);
            run(batch, x.data(), side(*flip_x, conjugates), y.data(), side(*flip_y, conjugates), out);
            return absl::OkStatus();
          });
  ops.cost(names, 100);
}

/// The same values in another type.
template <class To, class From>
std::vector<To> converted(const In<From>& x) {
  std::vector<To> out(static_cast<std::size_t>(x.size()));
  std::transform(x.data(), x.data() + x.size(), out.begin(), [](const From& v) { return static_cast<To>(v); });
  return out;
}

/// Operands of two types, multiplied as `Wide`.
template <class A, class B, class Wide, class Out>
void add_mixed_product(Registry& ops) {
  auto kernel = [](Call& call, In<A> x, In<B> y, Attr<"adj_x", bool> adj_x, Attr<"adj_y", bool> adj_y) -> Status {
    TRY_ASSIGN(auto batch, plan(x.shape(), y.shape(), *adj_x, *adj_y, Ranks::broadcast));
    Out* out = call.alloc<Out>(0, batch.output);
    const Side side_x = side(*adj_x, true), side_y = side(*adj_y, true);
    if constexpr (std::is_same_v<A, Wide> && std::is_same_v<B, Wide>) {
      run(batch, x.data(), side_x, y.data(), side_y, out);
    } else {
      const auto left = converted<Wide>(x), right = converted<Wide>(y);
      std::vector<Wide> wide(static_cast<std::size_t>(batch.output.elements()));
      run(batch, left.data(), side_x, right.data(), side_y, wide.data());
      std::transform(wide.begin(), wide.end(), out, [](Wide v) { return static_cast<Out>(v); });
    }
    return absl::OkStatus();
  };
  using Lambda = decltype(kernel);
  ops.factory("BatchMatMulV3", {{"Ta", dtype_of<A>::value}, {"Tb", dtype_of<B>::value}, {"Tout", dtype_of<Out>::value}},
              [kernel](Binding& binding) { return detail::Signed<decltype(&Lambda::operator())>::bind(kernel, binding, Place::anywhere); });
}

template <class... Ts>
void add_mixed_products(Registry& ops, types<Ts...>) {
  (add_mixed_product<Ts, Ts, Ts, Ts>(ops), ...);
  add_mixed_product<std::uint8_t, std::uint8_t, std::int32_t, std::int32_t>(ops);
  add_mixed_product<std::uint8_t, std::int8_t, std::int32_t, std::int32_t>(ops);
  add_mixed_product<std::int8_t, std::uint8_t, std::int32_t, std::int32_t>(ops);
  add_mixed_product<std::int8_t, std::int8_t, std::int32_t, std::int32_t>(ops);
  add_mixed_product<std::uint8_t, bfloat16, float, bfloat16>(ops);
  add_mixed_product<std::int8_t, bfloat16, float, bfloat16>(ops);
  add_mixed_product<bfloat16, std::uint8_t, float, bfloat16>(ops);
  add_mixed_product<bfloat16, std::int8_t, float, bfloat16>(ops);
}

template <class A, class B>
Status sparse_product(Call& call, In<A> a, In<B> b, bool flip_a, bool flip_b) {
  if (a.dims() != 2) return invalid("a is not a matrix");
  if (b.dims() != 2) return invalid("b is not a matrix");
  const GemmSizes sizes{a.dim(flip_a ? 1 : 0), a.dim(flip_a ? 0 : 1), b.dim(flip_b ? 0 : 1)};
  if (sizes.inner != b.dim(flip_b ? 1 : 0)) return invalid("Matrix size incompatible: a: {}, b: {}", a.shape(), b.shape());
  float* out = call.alloc<float>(0, Shape{sizes.rows, sizes.columns});
  const auto left = converted<float>(a), right = converted<float>(b);
  gemm(sizes, left.data(), side(flip_a, false), right.data(), side(flip_b, false), out);
  return absl::OkStatus();
}

}  // namespace

void add_matmul(Registry& ops) {
  add_products<"transpose_a", "transpose_b">(ops, {"MatMul"}, Ranks::two, false);
  add_products<"adj_x", "adj_y">(ops, {"BatchMatMul"}, Ranks::equal, true);
  add_products<"adj_x", "adj_y">(ops, {"BatchMatMulV2"}, Ranks::broadcast, true);
  add_mixed_products(ops, types<bfloat16, float, double, std::int16_t, std::int32_t, std::int64_t, complex64, complex128>{});
  ops.add("SparseMatMul", On<"Ta", types<float, bfloat16>>{}, On<"Tb", types<float, bfloat16>>{},
          []<class A, class B>(Call& call, In<A> a, In<B> b, Attr<"transpose_a", bool> flip_a, Attr<"transpose_b", bool> flip_b) {
            return sparse_product(call, a, b, *flip_a, *flip_b);
          });
  ops.cost({"BatchMatMulV3", "SparseMatMul", "_FusedMatMul"}, 100);
  ops.add("_FusedMatMul", types<float, bfloat16>{},
          []<class T>(Call& call, In<T> a, In<T> b, List args, Attr<"transpose_a", bool> flip_a, Attr<"transpose_b", bool> flip_b,
                      Attr<"fused_ops", std::vector<std::string>> fused, Attr<"leakyrelu_alpha", float> alpha) -> Status {
            TRY_ASSIGN(auto batch, plan(a.shape(), b.shape(), *flip_a, *flip_b, Ranks::two));
            T* out = call.alloc<T>(0, batch.output);
            run(batch, a.data(), side(*flip_a, false), b.data(), side(*flip_b, false), out);
            return finish_fused<T>(out, batch.output, args, *fused, Finish{*alpha, 0});
          });
}

}  // namespace troupe
