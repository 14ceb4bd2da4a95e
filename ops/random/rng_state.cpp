// Random generators whose state is a variable: skipping, and tensors filled from them.
#include <troupe/ops/random/rng_state.hpp>

#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/random/generator.hpp>

namespace troupe {
namespace {

constexpr std::int64_t philox_algorithm = 1, threefry_algorithm = 2, automatic_algorithm = 3, philox_state_size = 3;

Status check_state(const Tensor& state) {
  if (state.dtype() != DType::i64) return invalid("dtype of RNG state variable must be int64, not {}", name_of(state.dtype()));
  if (state.rank() != 1) return invalid("RNG state must have one and only one dimension, not {}", state.rank());
  return absl::OkStatus();
}

StatusOr<std::int64_t> algorithm_input(const Tensor& t, int at) {
  if (t.rank() != 0) return invalid("input {} (0-based) must have shape [], not {}", at, t.shape());
  if (t.dtype() == DType::i32) return t.item<std::int32_t>();
  if (t.dtype() == DType::u64) return static_cast<std::int64_t>(t.item<std::uint64_t>());
  return t.item<std::int64_t>();
}

Status fill_from_state(Call& call, Variable& state, std::int64_t algorithm, const Tensor& shape, DType dtype, Fill kind, std::int64_t before) {
  TRY_ASSIGN(Shape s, shape_input(shape));
  Tensor& out = call.alloc(0, dtype, s);
  TRY_ASSIGN(Philox stream, take_from_state(state, algorithm, static_cast<std::uint64_t>(out.size()), before));
  fill_random(kind, stream, out);
  return absl::OkStatus();
}

void fills_from_state(Registry& ops) {
  const auto fill = [&ops](const char* op, Fill kind, const DTypes& allowed) {
    add_for(ops, op, {{"dtype", allowed}}, [kind](Call& call, AnyVar state, Any algorithm, Any shape, Attr<"dtype", DType> dtype) -> Status {
      TRY_ASSIGN(std::int64_t id, algorithm_input(algorithm.tensor, 1));
      return fill_from_state(call, *state.variable, id, shape.tensor, *dtype, kind, 0);
    });
  };
  fill("StatefulUniform", Fill::uniform, list_of(floats{}));
  fill("StatefulStandardNormalV2", Fill::normal, list_of(floats{}));
  fill("StatefulTruncatedNormal", Fill::truncated_normal, list_of(floats{}));
  fill("StatefulUniformFullInt", Fill::full_int, list_of(types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{}));
  // The first form keeps the algorithm in the state itself.
  add_for(ops, "StatefulStandardNormal", {{"dtype", list_of(floats{})}},
          [](Call& call, AnyVar state, Any shape, Attr<"dtype", DType> dtype) -> Status {
            const Tensor& held = state->snapshot();
            TRY(check_state(held));
            if (held.size() < 1) return invalid("Size of tensor must be at least 1");
            return fill_from_state(call, *state.variable, held.item<std::int64_t>(), shape.tensor, *dtype, Fill::normal, 1);
          });
  add_for(ops, "StatefulUniformInt", {{"dtype", list_of(indices{})}},
          [](Call& call, AnyVar state, Any algorithm, Any shape, Any low, Any high, Attr<"dtype", DType> dtype) -> Status {
            TRY_ASSIGN(std::int64_t id, algorithm_input(algorithm.tensor, 1));
            if (low->rank() != 0) return invalid("minval must be 0-D, got shape {}", low->shape());
            if (high->rank() != 0) return invalid("maxval must be 0-D, got shape {}", high->shape());
            Tensor probe(*dtype, Shape{0});
            TRY(fill_random_ints(Philox::seeded(0, 0), low.tensor, high.tensor, probe));
            TRY_ASSIGN(Shape s, shape_input(shape.tensor));
            Tensor& out = call.alloc(0, *dtype, s);
            TRY_ASSIGN(Philox stream, take_from_state(*state.variable, id, static_cast<std::uint64_t>(out.size()), 0));
            return fill_random_ints(stream, low.tensor, high.tensor, out);
          });
}

}  // namespace

StatusOr<Philox> take_from_state(Variable& state, std::int64_t algorithm, std::uint64_t numbers, std::int64_t before) {
  TRY(check_state(state.snapshot()));
  if (algorithm == threefry_algorithm) return unimplemented("Non-XLA devices don't support the ThreeFry algorithm.");
  if (algorithm != philox_algorithm && algorithm != automatic_algorithm) return invalid("Unsupported algorithm id: {}", algorithm);
  if (state.snapshot().size() < before + philox_state_size)
    return invalid("For the Philox algorithm, the size of state must be at least {}; got {}", before + philox_state_size, state.snapshot().size());
  std::int64_t* words = state.writable().mutable_data<std::int64_t>() + before;
  const Philox here =
      Philox::of_words(static_cast<std::uint64_t>(words[2]), static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1]));
  const Philox later = here.skipped(blocks_per_number * numbers);
  words[0] = static_cast<std::int64_t>(later.counter_low());
  words[1] = static_cast<std::int64_t>(later.counter_high());
  return here;
}

void add_rng_state(Registry& ops) {
  fills_from_state(ops);
  ops.add("RngSkip", [](Call&, AnyVar state, Any algorithm, Any delta) -> Status {
    TRY_ASSIGN(std::int64_t id, algorithm_input(algorithm.tensor, 1));
    TRY_ASSIGN(std::int64_t numbers, algorithm_input(delta.tensor, 2));
    return take_from_state(*state.variable, id, static_cast<std::uint64_t>(numbers), 0).status();
  });
  ops.add("RngReadAndSkip", [](Call& call, AnyVar state, Any algorithm, Any delta) -> Status {
    TRY_ASSIGN(std::int64_t id, algorithm_input(algorithm.tensor, 1));
    TRY_ASSIGN(std::int64_t numbers, algorithm_input(delta.tensor, 2));
    const Tensor before = state->snapshot().valid() ? state->snapshot().copy() : Tensor();
    TRY(take_from_state(*state.variable, id, static_cast<std::uint64_t>(numbers), 0).status());
    call.set(0, before.rows(0, philox_state_size));
    return absl::OkStatus();
  });
}

}  // namespace troupe
