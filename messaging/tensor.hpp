// Tensors: a dtype, a shape and shared memory.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <troupe/messaging/dtype.hpp>
#include <troupe/messaging/handle.hpp>
#include <troupe/messaging/shape.hpp>

#include <atomic>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace troupe {

/// Counted memory behind tensors. Shared between threads; its content is written only by who holds the one reference.
class Buffer {
 public:
  virtual ~Buffer() = default;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }
  bool unique() const { return references_.load(std::memory_order_acquire) == 1; }

 protected:
  Buffer(void* data, std::size_t bytes, bool writable) : data_(data), bytes_(bytes), writable_(writable) {}
  void* data_;
  std::size_t bytes_;
  bool writable_;

 private:
  friend void intrusive_ptr_add_ref(Buffer* b) { b->references_.fetch_add(1, std::memory_order_relaxed); }
  friend void intrusive_ptr_release(Buffer* b) {
    if (b->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete b;
  }
  std::atomic<int> references_{0};
};

using BufferPtr = boost::intrusive_ptr<Buffer>;

/// Memory of somebody else (a received slice, a mapped file), given back through `release`. Never written.
BufferPtr borrow_buffer(const void* data, std::size_t bytes, std::function<void()> release);

/// Thrown by Tensor's constructor; caught where kernels are called and turned into RESOURCE_EXHAUSTED.
struct OutOfMemory : std::bad_alloc {
  OutOfMemory(DType d, Shape s) : dtype(d), shape(std::move(s)) {}
  DType dtype;
  Shape shape;
};

/// A value. Copies share memory; write through mutable_data only where nobody else looks (fresh, or unique()).
class Tensor {
 public:
  static constexpr std::size_t alignment = 64;

  Tensor() = default;
  /// Memory for a tensor: numbers are uninitialised, objects are empty. Throws OutOfMemory when there is not that much.
  Tensor(DType dtype, Shape shape);
  Tensor(DType dtype, Shape shape, BufferPtr buffer, std::size_t offset = 0)
      : buffer_(std::move(buffer)), offset_(offset), shape_(std::move(shape)), dtype_(dtype) {}

  template <class T>
  static Tensor of(Shape shape, std::span<const T> values) {
    Tensor t(dtype_of<T>::value, std::move(shape));
    std::copy(values.begin(), values.end(), t.mutable_data<T>());
    return t;
  }
  template <class T>
  static Tensor vector(std::span<const T> values) {
    return of<T>(Shape{static_cast<std::int64_t>(values.size())}, values);
  }
  template <class T>
  static Tensor vector(const std::vector<T>& values) {
    return vector<T>(std::span<const T>(values));
  }
  template <class T>
  static Tensor scalar(T value) {
    Tensor t(dtype_of<T>::value, Shape{});
    *t.mutable_data<T>() = std::move(value);
    return t;
  }
  /// All bytes zero, or empty objects.
  static Tensor zeros(DType dtype, Shape shape);

  bool valid() const { return dtype_ != DType::invalid; }
  /// Becomes one that is not valid.
  void reset() {
    buffer_.reset();
    offset_ = 0;
    shape_.clear();
    dtype_ = DType::invalid;
  }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  std::int64_t dim(int i) const { return shape_.dim(i); }
  std::int64_t size() const { return shape_.elements(); }
  /// Bytes of plain elements; of objects, the size of the objects themselves.
  std::size_t bytes() const;

  template <class T>
  const T* data() const {
    return buffer_ ? reinterpret_cast<const T*>(static_cast<const char*>(buffer_->data()) + offset_) : nullptr;
  }
  template <class T>
  T* mutable_data() {
    return const_cast<T*>(std::as_const(*this).template data<T>());
  }
  const void* raw() const { return data<char>(); }
  template <class T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<std::size_t>(size())};
  }
  template <class T>
  std::span<T> mutable_values() {
    return {mutable_data<T>(), static_cast<std::size_t>(size())};
  }
  /// The first element, whatever the rank.
  template <class T>
  const T& item() const {
    return *data<T>();
  }

  /// Nobody else holds this memory and it may be written.
  bool unique() const { return buffer_ && buffer_->unique() && buffer_->writable(); }
  bool same_memory(const Tensor& other) const { return buffer_ == other.buffer_ && offset_ == other.offset_; }
  const BufferPtr& buffer() const { return buffer_; }

  /// The same memory under another shape of as many elements.
  Tensor reshaped(Shape shape) const { return Tensor(dtype_, std::move(shape), buffer_, offset_); }
  /// The same bytes as another type of the same size.
  Tensor viewed_as(DType dtype) const { return Tensor(dtype, shape_, buffer_, offset_); }
  /// Rows [first, last) of the first dimension; shares memory.
  Tensor rows(std::int64_t first, std::int64_t last) const;
  /// A deep copy in memory of its own.
  Tensor copy() const;

 private:
  BufferPtr buffer_;
  std::size_t offset_ = 0;
  Shape shape_;
  DType dtype_ = DType::invalid;
};

/// While it lives, tensors made on this thread fail as if memory was short when they are larger than this.
class AllocationLimit {
 public:
  explicit AllocationLimit(std::size_t bytes);
  ~AllocationLimit();
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;

 private:
  std::size_t before_;
};

/// Bytes of an element in a tensor's memory, objects included.
std::size_t stride_of(DType dtype);

}  // namespace troupe
