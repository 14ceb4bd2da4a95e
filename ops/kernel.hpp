// Kernels and their registry: a kernel is the signature of a generic lambda.
#pragma once

#include <troupe/messaging/dtype.hpp>
#include <troupe/ops/binding.hpp>
#include <troupe/ops/call.hpp>
#include <troupe/ops/params.hpp>
#include <troupe/ops/row_form.hpp>

#include <functional>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

/// Where a kernel may run: anywhere (it sees only its inputs), on the device's actor only, or on the I/O pool.
enum class Place { anywhere, device, io };

/// A kernel bound to a node. Exactly one of run and start is set.
struct Kernel {
  std::function<Status(Call&)> run;
  std::function<void(Call&, Done)> start;
  Place place = Place::anywhere;
  float ns_per_element = 1;  // rough cost per input element, to decide on a hand-off
  RowForm row;               // where `run` is element by element, what it does with some of them
};

/// A dispatch on an attribute that holds a type. A bare types<…> means On<"T", types<…>>.
template <Name N, class Types>
struct On;
template <Name N, class... Ts>
struct On<N, types<Ts...>> {};

/// All kernels by op and type. A value: families are functions `void add_nn(Registry&)` that fill it.
class Registry {
 public:
  using Factory = std::function<StatusOr<Kernel>(Binding&)>;
  using Names = std::initializer_list<const char*>;
  struct Constraint {
    const char* attr;
    DType type;
  };
  struct Entry {
    std::vector<Constraint> constraints;
    Factory factory;
    bool accepts(const wire::NodeDef& node) const;
  };

  /// The general form: binds a kernel from whatever the node says.
  void factory(const char* op, std::vector<Constraint> constraints, Factory factory) {
    entries_[op].push_back(Entry{std::move(constraints), std::move(factory)});
  }

  /// A kernel without dispatch: `[](Call& call, In<float> x, Attr<"axis", int64_t> axis) …`.
  template <class F>
  requires requires { &F::operator(); }
  void add(Names ops, F f, Place place = Place::anywhere) {
    for (const char* op : ops) factory(op, {}, make<decltype(&F::operator())>(f, place));
  }
  template <class F, Name N, class... Ts>
  void add(Names ops, On<N, types<Ts...>>, F f, Place place = Place::anywhere) {
    for (const char* op : ops) (factory(op, {{N.text, dtype_of<Ts>::value}}, make<decltype(&F::template operator()<Ts>)>(f, place)), ...);
  }
  template <class F, class... Ts>
  void add(Names ops, types<Ts...>, F f, Place place = Place::anywhere) {
    add(ops, On<"T", types<Ts...>>{}, std::move(f), place);
  }
  /// Two dispatches: `[]<class T, class I>(Call& call, In<T> x, In<I> i) …`.
  template <class F, Name N, class... Ts, Name M, class... Us>
  void add(Names ops, On<N, types<Ts...>>, On<M, types<Us...>> second, F f, Place place = Place::anywhere) {
    (add_row<Ts, N>(ops, second, f, place), ...);
  }
  template <class... A>
  void add(const char* op, A&&... rest) {
    add(Names{op}, std::forward<A>(rest)...);
  }
  /// Kernels that may block run on the I/O pool.
  template <class... A>
  void io(const char* op, A&&... rest) {
    add(Names{op}, std::forward<A>(rest)..., Place::io);
  }

  /// States what an input element costs, where it is far from a nanosecond (matmul, convolution, sorting).
  void cost(Names ops, float ns_per_element) {
    for (const char* op : ops) costs_[op] = ns_per_element;
  }

  bool knows(const std::string& op) const { return entries_.contains(op); }
  const std::unordered_map<std::string, std::vector<Entry>>& entries() const { return entries_; }
  /// UNIMPLEMENTED, naming op, node and device, when no kernel fits.
  StatusOr<Kernel> bind(const wire::NodeDef& node, const wire::OpDef& op, const Signature& signature) const;

 private:
  template <class T, Name N, class F, Name M, class... Us>
  void add_row(Names ops, On<M, types<Us...>>, F f, Place place) {
    for (const char* op : ops)
      (factory(op, {{N.text, dtype_of<T>::value}, {M.text, dtype_of<Us>::value}}, make<decltype(&F::template operator()<T, Us>)>(f, place)), ...);
  }
  template <class Member, class F>
  static Factory make(F f, Place place);

  std::unordered_map<std::string, std::vector<Entry>> entries_;
  std::unordered_map<std::string, float> costs_;
};

/// The registry with every family of this tree.
const Registry& all_kernels();

namespace detail {

template <class Member>
struct Signed;
template <class R, class L, class... A>
struct Signed<R (L::*)(Call&, A...) const> {
  static constexpr bool waits = (std::is_same_v<A, Done> || ...);
  static constexpr bool on_device = (Param<A>::on_device || ...);

  using Bound = std::tuple<typename Param<A>::Bound...>;

  static StatusOr<Kernel> bind(const L& f, Binding& binding, Place place) {
    Status status;
    Bound bound{Param<A>::bind(binding, status)...};
    TRY(status);
    Kernel kernel;
    kernel.place = on_device ? Place::device : place;
    if constexpr (waits) kernel.start = [f, bound = std::move(bound)](Call& call, Done done) mutable { start(f, bound, call, std::move(done)); };
    else kernel.run = [f, bound = std::move(bound)](Call& call) mutable { return run(f, bound, call, std::index_sequence_for<A...>{}); };
    return kernel;
  }

 private:
  template <std::size_t... I>
  static Status check(Bound& bound, Call& call, std::index_sequence<I...>) {
    Status status;
    (void)(((status = Param<A>::check(std::get<I>(bound), call)).ok()) && ...);
    return status;
  }
  template <std::size_t... I>
  static Status run(const L& f, Bound& bound, Call& call, std::index_sequence<I...> all) {
    if constexpr (sizeof...(A) > 0) TRY(check(bound, call, all));
    if constexpr (std::is_void_v<R>) {
      f(call, Param<A>::get(std::get<I>(bound), call)...);
      return absl::OkStatus();
    } else {
      return f(call, Param<A>::get(std::get<I>(bound), call)...);
    }
  }
  static void start(const L& f, Bound& bound, Call& call, Done done) {
    auto all = std::index_sequence_for<A...>{};
    if (Status status = check(bound, call, all); !status.ok()) return done(status);
    begin(f, bound, call, done, all);
  }
  template <std::size_t... I>
  static void begin(const L& f, Bound& bound, Call& call, Done& done, std::index_sequence<I...>) {
    auto pick = [&]<class P, std::size_t J>() -> P {
      if constexpr (std::is_same_v<P, Done>) return std::move(done);
      else return Param<P>::get(std::get<J>(bound), call);
    };
    f(call, pick.template operator()<A, I>()...);
  }
};

}  // namespace detail

template <class Member, class F>
Registry::Factory Registry::make(F f, Place place) {
  return [f = std::move(f), place](Binding& binding) { return detail::Signed<Member>::bind(f, binding, place); };
}

}  // namespace troupe
