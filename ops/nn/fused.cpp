// The endings of fused ops.
#include <troupe/ops/nn/fused.hpp>

#include <cmath>

namespace troupe {

namespace {

Status check_channels(const Tensor& arg, DType dtype, std::int64_t channels, const char* what) {
  if (arg.dtype() != dtype) return invalid("{} must be of type {}, got {}", what, name_of(dtype), name_of(arg.dtype()));
  if (arg.rank() != 1) return invalid("{} must be 1-dimensional{}", what, arg.shape());
  if (arg.dim(0) != channels)
    return invalid("Must provide as many biases as the last dimension of the input tensor: {} vs. {}", arg.shape(), channels);
  return absl::OkStatus();
}

template <class T>
Status scale_channels(T* values, const Shape& shape, const List& args, bool normalise, float epsilon) {
  const std::int64_t channels = shape[shape.rank() - 1], rows = channels == 0 ? 0 : shape.elements() / channels;
  static constexpr const char* names[] = {"scale", "offset", "estimated_mean", "estimated_variance"};
  if (args.size() != (normalise ? 4 : 1))
    return invalid("Fused {} must have {} extra argument(s).", normalise ? "FusedBatchNorm" : "Conv2D/MatMul", normalise ? 4 : 1);
  for (int i = 0; i < args.size(); ++i) TRY(check_channels(args[i], dtype_of<T>::value, channels, normalise ? names[i] : "bias"));
  for (std::int64_t c = 0; c < channels; ++c) {
    auto arg = [&](int i) { return static_cast<double>(args[i].data<T>()[c]); };
    const double factor = normalise ? arg(0) / std::sqrt(arg(3) + epsilon) : 1.0;
    const double shift = normalise ? arg(1) - arg(2) * factor : arg(0);
    for (std::int64_t r = 0; r < rows; ++r) {
      T& v = values[r * channels + c];
      v = normalise ? static_cast<T>(static_cast<double>(v) * factor + shift) : v + args[0].data<T>()[c];
    }
  }
  return absl::OkStatus();
}

template <class T, class F>
void each_value(T* values, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(f(static_cast<double>(values[i])));
}

template <class T>
Status activate(T* values, std::int64_t n, const std::string& activation, float alpha) {
  if (activation == "Relu") each_value(values, n, [](double v) { return v > 0 ? v : 0.0; });
  else if (activation == "Relu6") each_value(values, n, [](double v) { return std::min(std::max(v, 0.0), 6.0); });
  else if (activation == "Elu") each_value(values, n, [](double v) { return v < 0 ? std::expm1(v) : v; });
  else if (activation == "LeakyRelu") each_value(values, n, [=](double v) { return v > 0 ? v : v * alpha; });
  else if (activation == "Tanh") each_value(values, n, [](double v) { return std::tanh(v); });
  else if (activation == "Sigmoid") each_value(values, n, [](double v) { return 1 / (1 + std::exp(-v)); });
  else if (activation == "GeluExact") each_value(values, n, [](double v) { return 0.5 * v * (1 + std::erf(v * M_SQRT1_2)); });
  else if (activation == "GeluApproximate")
    each_value(values, n, [](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); });
  else return unimplemented("Fusion is not implemented: [{}]", activation);
  return absl::OkStatus();
}

}  // namespace

template <class T>
Status finish_fused(T* values, const Shape& shape, const List& args, const std::vector<std::string>& fused, const Finish& finish) {
  if (fused.empty()) return invalid("Fused op must have at least one fused op.");
  if (fused[0] != "BiasAdd" && fused[0] != "FusedBatchNorm") return unimplemented("Fusion is not implemented: [{}]", fmt::join(fused, ","));
  TRY(scale_channels(values, shape, args, fused[0] == "FusedBatchNorm", finish.epsilon));
  if (fused.size() > 2) return unimplemented("Fusion is not implemented: [{}]", fmt::join(fused, ","));
  return fused.size() == 1 ? absl::OkStatus() : activate(values, shape.elements(), fused[1], finish.leaky_alpha);
}

#define TROUPE_FINISH(T) template Status finish_fused<T>(T*, const Shape&, const List&, const std::vector<std::string>&, const Finish&);
TROUPE_FINISH(float)
TROUPE_FINISH(double)
TROUPE_FINISH(bfloat16)
#undef TROUPE_FINISH

}  // namespace troupe
