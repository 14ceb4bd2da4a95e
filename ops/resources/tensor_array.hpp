// TensorArrays: elements written once and read, within one step; gradients add up what is written to them.
#pragma once

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/resources/store.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct TensorArrayFacts {
  std::string name;
  DType dtype = DType::invalid;
  PartialShape element;
  bool identical = false;  // all elements have one shape, which the first tells
  bool dynamic = false;    // grows when written past its end
  bool clear_after_read = true;
  bool adds = false;  // writes to one index add up
};

/// Lives within a step; touched only on its device's actor.
class TensorArray final : public Resource {
 public:
  TensorArray(TensorArrayFacts facts, std::int32_t size) : facts_(std::move(facts)), elements_(static_cast<std::size_t>(size)) {}
  std::string describe() const override { return fmt::format("TensorArray[{}]", elements_.size()); }

  const std::string& name() const { return facts_.name; }
  DType dtype() const { return facts_.dtype; }
  const PartialShape& element_shape() const { return facts_.element; }
  bool dynamic() const { return facts_.dynamic; }
  StatusOr<std::int32_t> size() const;

  Status write(std::int32_t index, const Tensor& value);
  StatusOr<Tensor> read(std::int32_t index);
  /// Elements must fit this shape, too.
  Status narrow_shape(const PartialShape& shape);
  void close();
  /// The array that collects gradients for this one; one for each source.
  StatusOr<std::shared_ptr<TensorArray>> gradient(const std::string& source, const PartialShape& before);

 private:
  struct Element {
    Tensor tensor;  // none though written: zeros of this shape
    Shape shape;
    bool written = false, read = false, cleared = false;
  };
  Status check_open() const;
  Status add(Element& element, const Tensor& value);

  TensorArrayFacts facts_;
  std::vector<Element> elements_;
  bool closed_ = false, added_ = false;
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_;
};

template <>
struct resource_type<TensorArray> {
  static constexpr const char* name = "N10tensorflow11TensorArrayE";
};

}  // namespace troupe
