// Tensors of random numbers, from a kernel's own stream or from seeds given as input.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/generator.hpp>

namespace troupe {
namespace {

const DTypes int32_and_64 = list_of(indices{});
const DTypes wide_integers = list_of(types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{});

/// A fill of a shape given as input by a stream that is made only when there is something to fill.
template <class MakeStream>
Status fill_output(Call& call, const Tensor& shape, DType dtype, Fill kind, MakeStream&& make) {
  TRY_ASSIGN(Shape s, shape_input(shape));
  Tensor& out = call.alloc(0, dtype, s);
  if (out.size() == 0) return absl::OkStatus();
  TRY_ASSIGN(Philox stream, make(out.size()));
  fill_random(kind, stream, out);
  return absl::OkStatus();
}

void of_own_stream(Registry& ops) {
  const auto fill = [&ops](const char* op, Fill kind) {
    add_for(ops, op, {{"dtype", list_of(floats{})}}, [kind](Call& call, Any shape, Attr<"dtype", DType> dtype, State<Generator> generator) {
      return fill_output(call, shape.tensor, *dtype, kind, [&](std::int64_t n) -> StatusOr<Philox> { return generator->reserve_for(n); });
    });
  };
  fill("RandomUniform", Fill::uniform);
  fill("RandomStandardNormal", Fill::normal);
  fill("TruncatedNormal", Fill::truncated_normal);

  add_for(ops, "RandomUniformInt", {{"Tout", int32_and_64}},
          [](Call& call, Any shape, Any low, Any high, Attr<"Tout", DType> dtype, State<Generator> generator) -> Status {
            TRY_ASSIGN(Shape s, shape_input(shape.tensor));
            if (low->rank() != 0) return invalid("minval must be 0-D, got shape {}", low->shape());
            if (high->rank() != 0) return invalid("maxval must be 0-D, got shape {}", high->shape());
            Tensor& out = call.alloc(0, *dtype, s);
            if (out.size() == 0) return absl::OkStatus();
            return fill_random_ints(generator->reserve_for(out.size()), low.tensor, high.tensor, out);
          });
  add_for(ops, "NonDeterministicInts", {{"dtype", wide_integers}}, [](Call& call, Any shape, Attr<"dtype", DType> dtype) {
    return fill_output(call, shape.tensor, *dtype, Fill::full_int,
                       [](std::int64_t) -> StatusOr<Philox> { return Philox::seeded(entropy(), entropy()); });
  });
}

void of_seed_input(Registry& ops) {
  const auto fill = [&ops](const char* op, Fill kind, const DTypes& allowed) {
    add_for(ops, op, {{"dtype", allowed}}, [kind](Call& call, Any shape, Any seed, Attr<"dtype", DType> dtype) -> Status {
      TRY_ASSIGN(Philox stream, stream_of_seed(seed.tensor));
      return fill_output(call, shape.tensor, *dtype, kind, [&](std::int64_t) -> StatusOr<Philox> { return stream; });
    });
  };
  fill("StatelessRandomUniform", Fill::uniform, list_of(floats{}));
  fill("StatelessRandomNormal", Fill::normal, list_of(floats{}));
  fill("StatelessTruncatedNormal", Fill::truncated_normal, list_of(floats{}));
  fill("StatelessRandomUniformFullInt", Fill::full_int, wide_integers);
  add_for(ops, "StatelessRandomUniformInt", {{"dtype", int32_and_64}},
          [](Call& call, Any shape, Any seed, Any low, Any high, Attr<"dtype", DType> dtype) -> Status {
            TRY_ASSIGN(Shape s, shape_input(shape.tensor));
            TRY_ASSIGN(Philox stream, stream_of_seed(seed.tensor));
            Tensor& out = call.alloc(0, *dtype, s);
            return out.size() == 0 ? absl::OkStatus() : fill_random_ints(stream, low.tensor, high.tensor, out);
          });
}

void of_key_input(Registry& ops) {
  const auto fill = [&ops](const char* op, Fill kind, const DTypes& allowed) {
    add_for(ops, op, {{"dtype", allowed}}, [kind](Call& call, Any shape, Any key, Any counter, Any alg, Attr<"dtype", DType> dtype) -> Status {
      TRY_ASSIGN(Philox stream, stream_of_key(key.tensor, counter.tensor, alg.tensor, 3));
      return fill_output(call, shape.tensor, *dtype, kind, [&](std::int64_t) -> StatusOr<Philox> {
        TRY(check_algorithm(alg.tensor));
        return stream;
      });
    });
  };
  fill("StatelessRandomUniformV2", Fill::uniform, list_of(floats{}));
  fill("StatelessRandomNormalV2", Fill::normal, list_of(floats{}));
  fill("StatelessTruncatedNormalV2", Fill::truncated_normal, list_of(floats{}));
  fill("StatelessRandomUniformFullIntV2", Fill::full_int, wide_integers);
  add_for(ops, "StatelessRandomUniformIntV2", {{"dtype", int32_and_64}},
          [](Call& call, Any shape, Any key, Any counter, Any alg, Any low, Any high, Attr<"dtype", DType> dtype) -> Status {
            TRY_ASSIGN(Philox stream, stream_of_key(key.tensor, counter.tensor, alg.tensor, 3));
            TRY_ASSIGN(Shape s, shape_input(shape.tensor));
            Tensor& out = call.alloc(0, *dtype, s);
            if (out.size() == 0) return absl::OkStatus();
            TRY(fill_random_ints(stream, low.tensor, high.tensor, out));
            return check_algorithm(alg.tensor);
          });
}

Status set_key_and_counter(Call& call, const Tensor& seed) {
  TRY_ASSIGN(Philox stream, stream_of_seed(seed));
  *call.alloc<std::uint64_t>(0, Shape{1}) = stream.key();
  std::uint64_t* counter = call.alloc<std::uint64_t>(1, Shape{2});
  counter[0] = stream.counter_low();
  counter[1] = stream.counter_high();
  if (call.outputs() > 2) call.set_scalar<std::int32_t>(2, 1);
  return absl::OkStatus();
}

}  // namespace

void add_random_fills(Registry& ops) {
  of_own_stream(ops);
  of_seed_input(ops);
  of_key_input(ops);
  ops.add({"StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"},
          [](Call& call, Any seed) { return set_key_and_counter(call, seed.tensor); });
  ops.add("StatelessRandomGetAlg", [](Call& call) { call.set_scalar<std::int32_t>(0, 1); });
}

}  // namespace troupe
