// Datasets: immutable descriptions, values of variants, from which sources are opened.
#pragma once

#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/data/reading.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

/// One pass over a dataset. Touched only on its device's actor; after the end it stays at the end.
class Source {
 public:
  virtual ~Source() = default;
  virtual Poll next(Reading& reading, Tuple& out) = 0;
};
using SourcePtr = std::unique_ptr<Source>;

inline constexpr std::int64_t infinite = -1, unknown_count = -2;

struct ElementFacts {
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
};

class Dataset final : public VariantValue {
 public:
  std::string type_name() const override { return "tensorflow::DatasetVariantWrapper"; }

  std::string kind;  // as its op is called, without "Dataset"
  ElementFacts element;
  std::int64_t cardinality = unknown_count;
  std::vector<std::shared_ptr<const Dataset>> inputs;
  std::function<SourcePtr()> open;
  std::shared_ptr<class SeedGenerator> seeds;  // of a shuffle: where passes over it get their order from
  std::vector<std::shared_ptr<const KeptFunction>> functions;
  std::uint64_t fingerprint = 0;                    // of how it was made, the same in other processes; 0: not known
  std::string options;                              // as serialized, its own only
  std::int64_t batch = -1;                          // elements are batches of that many; -1: not known
  mutable std::shared_ptr<const struct Made> made;  // set before anybody else sees it
};
using DatasetPtr = std::shared_ptr<const Dataset>;

/// The dataset in a tensor; refuses what is none with TensorFlow's text.
StatusOr<DatasetPtr> dataset_in(const Tensor& tensor);
Tensor to_tensor(Dataset dataset);
Tensor to_tensor(DatasetPtr dataset);
/// Output 0 becomes the dataset.
Status give(Call& call, Dataset dataset);
/// A dataset of one input with elements of the same kind and number.
Dataset over(const DatasetPtr& input, std::string kind);

/// A parameter: an input that is a dataset.
struct DatasetIn {
  DatasetPtr dataset;
  const Dataset* operator->() const { return dataset.get(); }
  operator const DatasetPtr&() const { return dataset; }
};
template <>
struct Param<DatasetIn> : InputParam {
  static Status check(int at, Call& call) { return dataset_in(call.in(at)).status(); }
  static DatasetIn get(int at, Call& call) { return {*dataset_in(call.in(at))}; }
};

/// A parameter: a number or string that datasets are made with; refused in their words where it is no scalar.
template <class T>
struct Number {
  const T& value;
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};
template <class T>
struct Param<Number<T>> {
  static constexpr bool on_device = false;
  struct Bound {
    int at = 0;
    std::string name;
  };
  static Bound bind(Binding& binding, Status& status) {
    const int at = InputParam::bind(binding, status);
    const auto& begins = binding.signature().input_begin;
    const auto argument = std::upper_bound(begins.begin(), begins.end(), at) - begins.begin() - 1;
    return {at, status.ok() ? binding.op().input_arg(static_cast<int>(argument)).name() : ""};
  }
  static Status check(const Bound& bound, Call& call) {
    if (call.in(bound.at).dtype() != dtype_of<T>::value) return detail::wrong_dtype(call, bound.at, dtype_of<T>::value);
    if (call.in(bound.at).rank() != 0) return invalid("{} must be a scalar", bound.name);
    return absl::OkStatus();
  }
  static Number<T> get(const Bound& bound, Call& call) { return {call.in(bound.at).template item<T>()}; }
};

/// A parameter: what the attributes output_types and output_shapes say of elements.
struct Elements {
  const ElementFacts& facts;
  const ElementFacts* operator->() const { return &facts; }
  operator const ElementFacts&() const { return facts; }
};
template <>
struct Param<Elements> {
  static constexpr bool on_device = false;
  using Bound = ElementFacts;
  static Bound bind(Binding& binding, Status& status);
  static Status check(const Bound&, Call&) { return absl::OkStatus(); }
  static Elements get(const Bound& facts, Call&) { return {facts}; }
};

/// Whether elements are of these types and shapes, in TensorFlow's words.
Status check_types(const std::vector<DType>& wanted, const std::vector<DType>& given);
Status check_shapes(const std::vector<PartialShape>& wanted, const std::vector<PartialShape>& given);
Status check_element(const ElementFacts& wanted, const Tuple& element);

/// A function to be called in later steps, with the values it closes over.
StatusOr<Captured> capture(Step& step, const wire::NameAttrList& function, const List& values);
Tuple tensors_in(const List& list);

}  // namespace troupe
