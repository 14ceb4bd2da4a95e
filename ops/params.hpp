// The parameter types that a kernel's signature may name, and how each is bound and checked.
#pragma once

#include <troupe/messaging/status.hpp>
#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/binding.hpp>
#include <troupe/ops/call.hpp>
#include <troupe/ops/resources/store.hpp>
#include <troupe/ops/resources/variable.hpp>
#include <troupe/ops/step.hpp>

#include <Eigen/Core>

#include <memory>
#include <string>
#include <utility>

namespace troupe {

template <std::size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&s)[N]) { std::copy_n(s, N, text); }
};

template <class T>
using ArrayMap = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstArrayMap = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using MatrixMap = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
template <class T>
using ConstMatrixMap = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// An input of element type T and any shape.
template <class T>
struct In {
  static constexpr int rank = -1;
  using value_type = T;
  const Tensor& tensor;
  int index;  // position among the node's inputs

  const Shape& shape() const { return tensor.shape(); }
  std::int64_t size() const { return tensor.size(); }
  std::int64_t dim(int i) const { return tensor.dim(i); }
  int dims() const { return tensor.rank(); }
  const T* data() const { return tensor.data<T>(); }
  const T& operator[](std::int64_t i) const { return data()[i]; }
  std::span<const T> values() const { return tensor.values<T>(); }
  ConstArrayMap<T> array() const { return {data(), size()}; }
  /// As rows x columns, the first `split` dimensions being the rows.
  ConstMatrixMap<T> matrix(int split) const { return {data(), shape().elements(0, split), shape().elements(split, dims())}; }
};
/// A vector, checked.
template <class T>
struct Vec : In<T> {
  static constexpr int rank = 1;
};
/// A matrix, checked.
template <class T>
struct Mat : In<T> {
  static constexpr int rank = 2;
  ConstMatrixMap<T> map() const { return {this->data(), this->dim(0), this->dim(1)}; }
  std::int64_t rows() const { return this->dim(0); }
  std::int64_t cols() const { return this->dim(1); }
};
/// One element of rank 0, checked; converts to its value.
template <class T>
struct Scalar : In<T> {
  static constexpr int rank = 0;
  operator const T&() const { return this->data()[0]; }
  const T& operator*() const { return this->data()[0]; }
};
/// An input whose element type the kernel looks at itself.
struct Any {
  const Tensor& tensor;
  int index;
  const Tensor* operator->() const { return &tensor; }
};
/// All inputs of an argument that is a list.
struct List {
  Call* call;
  int first, last;
  int size() const { return last - first; }
  const Tensor& operator[](int i) const { return call->in(first + i); }
};
/// An attribute, read once when the graph is registered.
template <Name N, class T>
struct Attr {
  const T& value;
  operator const T&() const { return value; }
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};
/// An object of the kernel's own, kept for the session: made when the node is first bound.
template <class S>
struct State {
  S& object;
  S* operator->() const { return &object; }
  S& operator*() const { return object; }
};
/// A variable that has a value of type T, through a reference edge or a resource handle alike.
template <class T>
struct Var {
  std::shared_ptr<Variable> variable;
  Variable* operator->() const { return variable.get(); }
  const Tensor& snapshot() const { return variable->snapshot(); }
  const Shape& shape() const { return variable->snapshot().shape(); }
  std::int64_t size() const { return variable->snapshot().size(); }
  /// Memory for an update in place.
  T* write() const { return variable->writable().template mutable_data<T>(); }
};
/// A variable of any type that may have no value yet. By reference edge: always there; by handle: must exist.
struct AnyVar {
  std::shared_ptr<Variable> variable;
  Variable* operator->() const { return variable.get(); }
};
/// A resource handle; the kernel looks it up itself.
struct Handle {
  const ResourceHandle& handle;
  const ResourceHandle* operator->() const { return &handle; }
};
/// A resource of class R that exists.
template <class R>
struct Held {
  std::shared_ptr<R> object;
  R* operator->() const { return object.get(); }
};

namespace detail {
Status wrong_dtype(const Call& call, int input, DType wanted);
Status wrong_rank(const Call& call, int input, int wanted);
StatusOr<std::shared_ptr<Variable>> variable_at(Call& call, int input);
Status uninitialized(Call& call, int input, const Variable& variable);
StatusOr<int> single(Binding& binding);
}  // namespace detail

/// How a parameter type is bound once, checked per call and handed over. One specialisation per kind.
template <class A>
struct Param;

struct InputParam {
  static constexpr bool on_device = false;
  using Bound = int;
  static Bound bind(Binding& binding, Status& status) {
    auto at = detail::single(binding);
    if (!at.ok()) status.Update(at.status());
    return at.ok() ? *at : 0;
  }
};

template <class View>
struct ViewParam : InputParam {
  using T = typename View::value_type;
  static Status check(int at, Call& call) {
    const Tensor& t = call.in(at);
    if (t.dtype() != dtype_of<T>::value) return detail::wrong_dtype(call, at, dtype_of<T>::value);
    if (View::rank >= 0 && t.rank() != View::rank) return detail::wrong_rank(call, at, View::rank);
    return absl::OkStatus();
  }
  static View get(int at, Call& call) { return View{{call.in(at), at}}; }
};
template <class T>
struct Param<In<T>> : ViewParam<In<T>> {
  static In<T> get(int at, Call& call) { return In<T>{call.in(at), at}; }
};
template <class T>
struct Param<Vec<T>> : ViewParam<Vec<T>> {};
template <class T>
struct Param<Mat<T>> : ViewParam<Mat<T>> {};
template <class T>
struct Param<Scalar<T>> : ViewParam<Scalar<T>> {};
template <>
struct Param<Any> : InputParam {
  static Status check(int, Call&) { return absl::OkStatus(); }
  static Any get(int at, Call& call) { return Any{call.in(at), at}; }
};
template <>
struct Param<Handle> : InputParam {
  static Status check(int at, Call& call) {
    if (call.in(at).dtype() != DType::resource || call.in(at).size() < 1) return detail::wrong_dtype(call, at, DType::resource);
    return absl::OkStatus();
  }
  static Handle get(int at, Call& call) { return Handle{call.in(at).item<ResourceHandle>()}; }
};

template <>
struct Param<List> {
  static constexpr bool on_device = false;
  using Bound = std::pair<int, int>;
  static Bound bind(Binding& binding, Status& status) {
    auto range = binding.next_argument();
    if (!range.ok()) status.Update(range.status());
    return range.ok() ? *range : Bound{0, 0};
  }
  static Status check(const Bound&, Call&) { return absl::OkStatus(); }
  static List get(const Bound& at, Call& call) { return List{&call, at.first, at.second}; }
};

template <Name N, class T>
struct Param<Attr<N, T>> {
  static constexpr bool on_device = false;
  using Bound = T;
  static Bound bind(Binding& binding, Status& status) {
    auto value = binding.attr<T>(N.text);
    if (!value.ok()) status.Update(value.status());
    return value.ok() ? std::move(*value) : T{};
  }
  static Status check(const Bound&, Call&) { return absl::OkStatus(); }
  static Attr<N, T> get(const Bound& value, Call&) { return {value}; }
};

/// A state may take its Binding: `static StatusOr<S> make(Binding&)`; otherwise it is default-constructed.
template <class S>
struct Param<State<S>> {
  static constexpr bool on_device = true;
  using Bound = std::shared_ptr<S>;
  static Bound bind(Binding& binding, Status& status) {
    if constexpr (requires { S::make(binding); }) {
      auto made = S::make(binding);
      if (!made.ok()) status.Update(made.status());
      return made.ok() ? std::make_shared<S>(std::move(*made)) : nullptr;
    } else {
      return std::make_shared<S>();
    }
  }
  static Status check(const Bound&, Call&) { return absl::OkStatus(); }
  static State<S> get(const Bound& object, Call&) { return {*object}; }
};

template <class T>
struct Param<Var<T>> : InputParam {
  static constexpr bool on_device = true;
  static Status check(int at, Call& call) {
    auto variable = detail::variable_at(call, at);
    if (!variable.ok()) return variable.status();
    if (!(*variable)->initialized()) return detail::uninitialized(call, at, **variable);
    if ((*variable)->snapshot().dtype() != dtype_of<T>::value) return detail::wrong_dtype(call, at, dtype_of<T>::value);
    // The executor took a snapshot of a reference edge for reading; an update in place must not find it held.
    if (call.input_value(at).ref) call.input_value(at).tensor = Tensor();
    return absl::OkStatus();
  }
  static Var<T> get(int at, Call& call) { return {*detail::variable_at(call, at)}; }
};
template <>
struct Param<AnyVar> : InputParam {
  static constexpr bool on_device = true;
  static Status check(int at, Call& call) {
    auto variable = detail::variable_at(call, at);
    if (variable.ok() && call.input_value(at).ref) call.input_value(at).tensor = Tensor();
    return variable.status();
  }
  static AnyVar get(int at, Call& call) { return {*detail::variable_at(call, at)}; }
};
template <class R>
struct Param<Held<R>> : Param<Handle> {
  static constexpr bool on_device = true;
  static Status check(int at, Call& call) {
    TRY(Param<Handle>::check(at, call));
    return call.step().resources->find<R>(call.in(at).item<ResourceHandle>()).status();
  }
  static Held<R> get(int at, Call& call) { return {*call.step().resources->find<R>(call.in(at).item<ResourceHandle>())}; }
};
template <>
struct Param<Step&> {
  static constexpr bool on_device = true;
  struct Bound {};
  static Bound bind(Binding&, Status&) { return {}; }
  static Status check(Bound, Call&) { return absl::OkStatus(); }
  static Step& get(Bound, Call& call) { return call.step(); }
};
template <>
struct Param<Done> {
  static constexpr bool on_device = true;
  struct Bound {};
  static Bound bind(Binding&, Status&) { return {}; }
  static Status check(Bound, Call&) { return absl::OkStatus(); }
};

}  // namespace troupe
