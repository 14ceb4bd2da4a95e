// A variable: immutable snapshots handed out, updates applied one after another.
#pragma once

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/resources/store.hpp>

#include <cstdint>
#include <string>

namespace troupe {

/// Touched only on its device's actor. Who holds a snapshot never sees it change: an update copies what somebody still holds.
class Variable final : public Resource {
 public:
  Variable(std::string name, DType dtype, PartialShape declared) : name_(std::move(name)), dtype_(dtype), declared_(std::move(declared)) {}

  std::string describe() const override {
    return fmt::format("variable {} {} version {}", name_of(dtype_), initialized() ? to_string(value_.shape()) : "uninitialized", version_);
  }

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const PartialShape& declared_shape() const { return declared_; }
  /// There is a value to read: assigned, or empty from the start.
  bool initialized() const { return value_.valid(); }
  /// Somebody gave it a value.
  bool assigned() const { return version_ > 0; }
  const Tensor& snapshot() const { return value_; }
  std::uint64_t version() const { return version_; }

  void assign(Tensor value) {
    value_ = std::move(value);
    ++version_;
  }
  /// The value for an update in place: copied first if anybody holds a snapshot.
  Tensor& writable() {
    if (!value_.unique()) value_ = value_.copy();
    ++version_;
    return value_;
  }
  void forget_value() {
    value_ = Tensor();
    version_ = 0;
  }
  /// Readable as an empty vector until the first assignment, as anonymous variables are.
  void start_empty() { value_ = Tensor(dtype_, Shape{0}); }

 private:
  std::string name_;
  DType dtype_;
  PartialShape declared_;
  Tensor value_;
  std::uint64_t version_ = 0;
};

template <>
struct resource_type<Variable> {
  static constexpr const char* name = "N10tensorflow3VarE";
};

/// How a device keeps a variable that is reached through reference edges: apart from the resource variables, so that both may have one name.
struct RefVariable final : Resource {
  explicit RefVariable(std::shared_ptr<Variable> v) : variable(std::move(v)) {}
  std::string describe() const override { return "ref " + variable->describe(); }
  std::shared_ptr<Variable> variable;
};
template <>
struct resource_type<RefVariable> {
  static constexpr const char* name = "N10tensorflow9LegacyVarE";
};

/// A variable that lives within one step.
struct TemporaryVariable final : Resource {
  explicit TemporaryVariable(std::shared_ptr<Variable> v) : variable(std::move(v)) {}
  std::string describe() const override { return "temporary " + variable->describe(); }
  std::shared_ptr<Variable> variable;
};
template <>
struct resource_type<TemporaryVariable> {
  static constexpr const char* name = "N10tensorflow19TemporaryVariableOp6TmpVarE";
};

}  // namespace troupe
