// TensorArray ops: making, reading and writing of elements.
#include <troupe/ops/containers/tensor_arrays.hpp>

#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/partial_shapes.hpp>

#include <atomic>

namespace troupe {
namespace {

struct Declaration {
  TensorArrayFacts facts;

  static StatusOr<Declaration> make(Binding& binding) {
    Declaration d;
    TRY_ASSIGN(d.facts.name, binding.attr<std::string>("tensor_array_name"));
    if (d.facts.name.empty()) d.facts.name = binding.node().name();
    TRY_ASSIGN(d.facts.dtype, binding.attr<DType>("dtype"));
    TRY_ASSIGN(d.facts.element, binding.attr<PartialShape>("element_shape"));
    TRY_ASSIGN(d.facts.dynamic, binding.attr<bool>("dynamic_size"));
    TRY_ASSIGN(d.facts.clear_after_read, binding.attr<bool>("clear_after_read"));
    if (binding.find("identical_element_shapes")) {
      TRY_ASSIGN(d.facts.identical, binding.attr<bool>("identical_element_shapes"));
    }
    return d;
  }
};

/// Output 0 becomes the way to the array: a handle that owns it, or for older ops its name within the step.
void give(Call& call, Step& step, const std::shared_ptr<TensorArray>& array) {
  const std::string& op = call.node().op;
  if (op.ends_with("V3") || op == "TensorArrayGradWithShape") {
    ResourceHandle handle = step.resources->handle_to<TensorArray>(step.device, step.container(), array->name());
    handle.resource = array;
    call.set(0, Tensor::scalar<ResourceHandle>(std::move(handle)));
    return;
  }
  const std::string prefix = op.starts_with("TensorArrayGrad") ? "_tensor_array_grads" : "_tensor_arrays";
  step.resources->put(step.container(), prefix + array->name(), resource_type<TensorArray>::name, array);
  auto reference = reference_to(prefix, array->name());
  if (op.ends_with("V2")) call.set(0, reference->snapshot());
  else call.output_value(0).ref = std::move(reference);
}

Status open(Call& call, Step& step, const Declaration& d, const Tensor& size) {
  static std::atomic<std::uint64_t> counter{0};
  if (size.rank() != 0) return invalid("TensorArray size must be scalar, but had shape: {}", size.shape());
  const auto n = size.item<std::int32_t>();
  if (n < 0) return invalid("Size should be >= 0.");
  TensorArrayFacts facts = d.facts;
  facts.name = fmt::format("{}_{}", facts.name, counter++);
  give(call, step, std::make_shared<TensorArray>(facts, n));
  if (call.outputs() > 1) call.set_scalar(1, 0.0f);
  return absl::OkStatus();
}

Status open_gradient(Call& call, Step& step, TensorArray& array, const std::string& source, const PartialShape& before, const Tensor& flow) {
  TRY_ASSIGN(auto gradient, array.gradient(source, before));
  give(call, step, gradient);
  if (call.outputs() > 1) call.set(1, flow);
  return absl::OkStatus();
}

StatusOr<std::int32_t> index_of(const Tensor& index) {
  if (index.rank() != 0) return invalid("TensorArray index must be scalar, but had shape: {}", index.shape());
  return index.item<std::int32_t>();
}

}  // namespace

Status check_requested(const TensorArray& array, DType dtype) {
  if (array.dtype() == dtype) return absl::OkStatus();
  return invalid("TensorArray dtype is {} but Op requested dtype {}.", name_of(array.dtype()), name_of(dtype));
}

Status check_written(const TensorArray& array, DType dtype) {
  if (array.dtype() == dtype) return absl::OkStatus();
  return invalid("TensorArray dtype is {} but Op is trying to write dtype {}.", name_of(array.dtype()), name_of(dtype));
}

void add_tensor_arrays(Registry& ops) {
  ops.add({"TensorArray", "TensorArrayV2", "TensorArrayV3"},
          [](Call& call, Step& step, In<std::int32_t> size, State<Declaration> d) { return open(call, step, *d, size.tensor); });
  ops.add({"TensorArrayGrad", "TensorArrayGradV2", "TensorArrayGradV3"},
          [](Call& call, Step& step, Shared<TensorArray> array, Any flow, Attr<"source", std::string> source) {
            return open_gradient(call, step, *array, *source, PartialShape(Shape{}), flow.tensor);
          });
  ops.add("TensorArrayGradWithShape",
          [](Call& call, Step& step, Shared<TensorArray> array, Any flow, In<std::int32_t> before, Attr<"source", std::string> source) -> Status {
            if (before.dims() != 1) return invalid("shape must be a vector of {{int32,int64}}, got shape {}", before.shape());
            TRY_ASSIGN(const PartialShape shape, shape_from_tensor(before.tensor));
            if (!shape.fully_known()) return invalid("The shape to prepend must be fully known, got {}", shape);
            return open_gradient(call, step, *array, *source, shape, flow.tensor);
          });

  ops.add({"TensorArrayWrite", "TensorArrayWriteV2", "TensorArrayWriteV3"},
          [](Call& call, Step&, Shared<TensorArray> array, In<std::int32_t> at, Any value, Any flow) -> Status {
            TRY_ASSIGN(const std::int32_t index, index_of(at.tensor));
            TRY(check_written(*array, value->dtype()));
            TRY(array->write(index, value.tensor));
            call.set(0, flow.tensor);
            return absl::OkStatus();
          });
  ops.add({"TensorArrayRead", "TensorArrayReadV2", "TensorArrayReadV3"},
          [](Call& call, Step&, Shared<TensorArray> array, In<std::int32_t> at, Attr<"dtype", DType> dtype) -> Status {
            TRY_ASSIGN(const std::int32_t index, index_of(at.tensor));
            TRY(check_requested(*array, *dtype));
            TRY_ASSIGN(Tensor value, array->read(index));
            call.set(0, std::move(value));
            return absl::OkStatus();
          });
  ops.add({"TensorArraySize", "TensorArraySizeV2", "TensorArraySizeV3"}, [](Call& call, Step&, Shared<TensorArray> array) -> Status {
    TRY_ASSIGN(const std::int32_t size, array->size());
    call.set_scalar(0, size);
    return absl::OkStatus();
  });
  ops.add({"TensorArrayClose", "TensorArrayCloseV2", "TensorArrayCloseV3"}, [](Call&, Step&, Shared<TensorArray> array) { array->close(); });
}

}  // namespace troupe
