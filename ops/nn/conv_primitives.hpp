// Compiled convolutions of oneDNN, kept by their sizes.
#pragma once

#include <troupe/ops/nn/conv.hpp>

#include <oneapi/dnnl/dnnl.hpp>

#include <memory>

namespace troupe::onednn {

enum class Direction { forward, input_gradient, filter_gradient };

/// Memory for one call, as oneDNN likes it aligned.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : memory_(bytes ? ::operator new(bytes, alignment) : nullptr) {}
  ~Scratch() {
    if (memory_) ::operator delete(memory_, alignment);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* get() const { return memory_; }
  float* floats() const { return static_cast<float*>(memory_); }

 private:
  static constexpr std::align_val_t alignment{64};
  void* memory_;
};

/// One compiled convolution. Inputs and outputs are plain, channels last; the filter lies as oneDNN wants it.
struct Primitive {
  dnnl::primitive run, to_blocked, to_plain;  // the latter two where the filter does not lie as TensorFlow's
  dnnl::memory::desc input, output, plain_filter, filter, scratchpad;

  bool reorders() const { return filter != plain_filter; }
  /// The filter as this primitive wants it: `plain` itself, or a copy in `memory`.
  const float* blocked(const float* plain, std::unique_ptr<Scratch>& memory) const;
  /// Computes one of input, filter (blocked) and output from the two others.
  void operator()(Direction direction, const float* input, const float* filter, const float* output) const;
  /// The filter's gradient, in TensorFlow's order.
  void gradient(const float* input, const float* output, float* plain) const;
};

/// The calling thread's primitive for these sizes; null where oneDNN has none that is quick. Valid until the thread's next call.
std::shared_ptr<const Primitive> primitive_for(const Convolution& conv, Direction direction);

}  // namespace troupe::onednn
