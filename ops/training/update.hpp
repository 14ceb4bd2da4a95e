// Training ops: an update rule is a function of one element; here it meets variables, dense and sparse gradients.
#pragma once

#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace troupe {

/// Where an op's definition has what: variables first, then numbers and a gradient in some order, then perhaps indices.
struct UpdateLayout {
  std::vector<std::string> names;  // of all arguments
  std::vector<int> slots, numbers;
  int gradient = -1, indices = -1;
  // What a rule may ask of the node's attributes; false where the op has no such attribute.
  bool use_nesterov = false, update_slots = true, multiply_linear_by_lr = false;
  std::string op;

  static StatusOr<UpdateLayout> make(Binding& binding);
};

/// The variables of one call, checked: all there, of one type and shape, and fit for the gradient.
struct UpdateSlots {
  std::vector<std::shared_ptr<Variable>> variables;
  std::vector<std::int64_t> rows;  // of a sparse gradient
  std::int64_t row_size = 0;

  static StatusOr<UpdateSlots> check(Call& call, const UpdateLayout& layout, DType dtype);
};

/// The numbers that a rule is made with, in the order of the op's arguments.
template <class T>
using RuleNumbers = std::vector<T>;

namespace detail {

template <class T>
RuleNumbers<T> read_numbers(Call& call, const UpdateLayout& layout) {
  RuleNumbers<T> numbers;
  for (int at : layout.numbers) {
    const Tensor& t = call.in(at);
    if (t.dtype() == DType::i64) numbers.push_back(static_cast<T>(static_cast<float>(t.item<std::int64_t>())));
    else numbers.push_back(t.item<T>());
  }
  return numbers;
}

/// A rule is applied to every weight of a model: vector instructions. Where two slots are one variable they meet at the same element.
template <class T, std::size_t... I, class Rule>
[[gnu::always_inline]] inline void update_loop(const Rule& rule, const T* gradient, const std::array<T*, sizeof...(I)>& given, std::int64_t n,
                                               std::index_sequence<I...>) {
  const std::array<T*, sizeof...(I)> slots = given;
  const Rule own = rule;  // whose numbers no slot can be
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) own(gradient[i], slots[I][i]...);
}
template <class T, std::size_t N, class Rule>
__attribute__((optimize("O3"))) void plain_update(const Rule& rule, const T* gradient, const std::array<T*, N>& slots, std::int64_t n) {
  update_loop<T>(rule, gradient, slots, n, std::make_index_sequence<N>{});
}
/// For processors that have AVX2.
template <class T, std::size_t N, class Rule>
__attribute__((optimize("O3"), target("avx2"))) void wide_update(const Rule& rule, const T* gradient, const std::array<T*, N>& slots,
                                                                 std::int64_t n) {
  update_loop<T>(rule, gradient, slots, n, std::make_index_sequence<N>{});
}
template <class T, std::size_t N, class Rule>
void update_run(const Rule& rule, const T* gradient, const std::array<T*, N>& slots, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>)
    if (__builtin_cpu_supports("avx2")) return wide_update<T, N>(rule, gradient, slots, n);
  plain_update<T, N>(rule, gradient, slots, n);
}

inline constexpr std::size_t rows_ahead = 4;

/// The begin of a row; the processor sees the rest coming.
template <class T>
void prefetch(const T* row, std::int64_t size) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T)), most = 8 * line;
  for (std::int64_t i = 0; i < std::min(size, most); i += line) __builtin_prefetch(row + i, 1);
}

template <class T, std::size_t N, class Rule>
void update_all(Call& call, const UpdateLayout& layout, const UpdateSlots& checked, const Rule& rule) {
  std::array<T*, N> base;
  // Two slots may be one variable: memory is asked for in a first round and its place in a second.
  std::array<Tensor*, N> values;
  for (std::size_t i = 0; i < N; ++i) values[i] = &checked.variables[i]->writable();
  for (std::size_t i = 0; i < N; ++i) base[i] = values[i]->template mutable_data<T>();
  const Tensor& gradient = call.in(layout.gradient);
  if (layout.indices < 0) return update_run<T, N>(rule, gradient.data<T>(), base, gradient.size());
  const T* row = gradient.data<T>();
  for (std::size_t r = 0; r < checked.rows.size(); ++r) {
    const std::int64_t at = checked.rows[r];
    // Rows are scattered over a large table: those to come are fetched while this one is worked on.
    if (r + rows_ahead < checked.rows.size())
      for (const T* slot : base) prefetch(slot + checked.rows[r + rows_ahead] * checked.row_size, checked.row_size);
    std::array<T*, N> slots;
    for (std::size_t i = 0; i < N; ++i) slots[i] = base[i] + at * checked.row_size;
    update_run<T, N>(rule, row, slots, checked.row_size);
    row += checked.row_size;
  }
}

}  // namespace detail

/// Adds an op with N variables and its resource form. `make(layout, numbers)` gives the rule: void(T gradient, T& slot, …).
template <std::size_t N, class... Ts, class Make>
void add_update(Registry& ops, Registry::Names names, types<Ts...> ts, Make make) {
  add_for(ops, names, {{"T", list_of(ts)}}, [make](Call& call, Step&, State<UpdateLayout> layout, Attr<"T", DType> dtype) -> Status {
    TRY_ASSIGN(UpdateSlots checked, UpdateSlots::check(call, *layout, *dtype));
    if (checked.variables.size() != N) return internal("{} has {} variables, its rule {}", layout->op, checked.variables.size(), N);
    visit_dtype(types<Ts...>{}, *dtype,
                [&]<class T>() { detail::update_all<T, N>(call, *layout, checked, make(*layout, detail::read_numbers<T>(call, *layout))); });
    return absl::OkStatus();
  });
}

}  // namespace troupe
