// Reading and writing of TensorArrays, with TensorFlow's texts.
#include <troupe/ops/resources/tensor_array.hpp>

#include <troupe/ops/math/wrap.hpp>
#include <troupe/ops/resources/partial_shapes.hpp>

namespace troupe {

Status TensorArray::check_open() const {
  if (closed_) return invalid("TensorArray {} has already been closed.", name());
  return absl::OkStatus();
}

StatusOr<std::int32_t> TensorArray::size() const {
  TRY(check_open());
  return static_cast<std::int32_t>(elements_.size());
}

Status TensorArray::write(std::int32_t index, const Tensor& value) {
  TRY(check_open());
  const auto at = static_cast<std::size_t>(index);
  if (index < 0 || (!facts_.dynamic && at >= elements_.size()))
    return invalid("TensorArray {}: Tried to write to index {} but array is not resizeable and size is: {}", name(), index, elements_.size());
  if (at >= elements_.size()) elements_.resize(at + 1);
  Element& element = elements_[at];
  if (value.dtype() != facts_.dtype)
    return invalid("TensorArray {}: Could not write to TensorArray index {} because the value dtype is {} but TensorArray dtype is {}.", name(),
                   index, name_of(value.dtype()), name_of(facts_.dtype));
  if (!facts_.element.compatible_with(value.shape()))
    return invalid(
        "TensorArray {}: Could not write to TensorArray index {} because the value shape is {} which is incompatible with the TensorArray's inferred "
        "element shape: {} (consider setting infer_shape=False).",
        name(), index, value.shape(), facts_.element);
  if (facts_.identical && !facts_.element.fully_known()) facts_.element = PartialShape(value.shape());
  if (element.read) return invalid("TensorArray {}: Could not write to TensorArray index {} because it has already been read.", name(), index);
  if (!facts_.adds && element.written)
    return invalid("TensorArray {}: Could not write to TensorArray index {} because it has already been written to.", name(), index);
  if (element.written) {
    if (element.shape != value.shape())
      return invalid("TensorArray {}: Could not aggregate to TensorArray index {} because the existing shape is {} but the new input shape is {}.",
                     name(), index, element.shape, value.shape());
    return add(element, value);
  }
  element.tensor = value;
  element.shape = value.shape();
  element.written = true;
  return absl::OkStatus();
}

Status TensorArray::add(Element& element, const Tensor& value) {
  if (!element.tensor.valid()) {
    element.tensor = value;
    return absl::OkStatus();
  }
  added_ = true;
  if (!element.tensor.unique()) element.tensor = element.tensor.copy();
  const bool known = visit_dtype(numbers{}, facts_.dtype, [&]<class T>() {
    const T* more = value.data<T>();
    T* sum = element.tensor.mutable_data<T>();
    for (std::int64_t i = 0; i < value.size(); ++i) sum[i] = wrap_add(sum[i], more[i]);
  });
  if (!known) return invalid("tensor_array::AddToTensor type not supported: {}", name_of(facts_.dtype));
  return absl::OkStatus();
}

StatusOr<Tensor> TensorArray::read(std::int32_t index) {
  TRY(check_open());
  if (index < 0 || static_cast<std::size_t>(index) >= elements_.size())
    return invalid("Tried to read from index {} but array size is: {}", index, elements_.size());
  Element& element = elements_[static_cast<std::size_t>(index)];
  if (!element.written) {
    const auto shape = facts_.element.known();
    if (!shape)
      return invalid(
          "TensorArray {}: Could not read from TensorArray index {}.  Furthermore, the element shape is not fully defined: {}.  It is possible you "
          "are "
          "working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be written.  If you set the full element_shape "
          "property on the forward TensorArray, the proper all-zeros tensor will be returned instead of incurring this error.",
          name(), index, facts_.element);
    element.shape = *shape;
  }
  if (element.cleared)
    return invalid(
        "TensorArray {}: Could not read index {} twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?).",
        name(), index);
  if (!element.tensor.valid()) element.tensor = Tensor::zeros(facts_.dtype, element.shape);
  Tensor value = element.tensor;
  if (facts_.clear_after_read) {
    element.tensor = Tensor();
    element.cleared = true;
  }
  element.read = true;
  return value;
}

Status TensorArray::narrow_shape(const PartialShape& shape) {
  TRY_ASSIGN(facts_.element, merge_shapes(facts_.element, shape));
  return absl::OkStatus();
}

void TensorArray::close() {
  elements_.clear();
  closed_ = true;
}

StatusOr<std::shared_ptr<TensorArray>> TensorArray::gradient(const std::string& source, const PartialShape& before) {
  if (facts_.adds) return invalid("Wrong input container. _tensor_array_grads{}", name());
  if (auto known = gradients_.find(source); known != gradients_.end()) return known->second;
  // Who computes gradients relies on the size as it is now.
  facts_.dynamic = false;
  TRY(check_open());
  if (added_)
    return invalid(
        "Unable to create a gradients TensorArray for {}.  Perhaps you used the multiple_writes_aggregate flag on a previous write?  Gradient "
        "calculation is "
        "impossible when multiple writes are performed to the same index.",
        name());
  TensorArrayFacts facts = facts_;
  facts.name = fmt::format("{}@{}", facts_.name, source);
  facts.element = concat_shapes(before, facts_.element);
  facts.clear_after_read = true;
  facts.adds = true;
  auto made = std::make_shared<TensorArray>(facts, static_cast<std::int32_t>(elements_.size()));
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    if (!elements_[i].written) continue;
    made->elements_[i].shape = *concat_shapes(before, PartialShape(elements_[i].shape)).known();
    made->elements_[i].written = true;
  }
  gradients_[source] = made;
  return made;
}

}  // namespace troupe
