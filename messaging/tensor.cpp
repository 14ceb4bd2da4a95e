// Memory of tensors.
#include <troupe/messaging/tensor.hpp>

#include <troupe/messaging/block_cache.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace troupe {
namespace {

std::size_t physical_memory() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

thread_local std::size_t allowed = ~std::size_t{0};

// From here on large pages are worth asking for: they are fresh sooner, and scattered rows of a table are found sooner.
constexpr std::size_t huge_from = 4u << 20;

void advise_huge(void* block, std::size_t bytes) {
  constexpr std::uintptr_t page = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + page - 1) / page * page,
             end = (reinterpret_cast<std::uintptr_t>(block) + bytes) / page * page;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

/// Plain bytes behind their own header, in one allocation.
class PlainBuffer final : public Buffer {
 public:
  static Buffer* make(std::size_t bytes) {
    void* block = take_block(header + bytes);
    if (bytes >= huge_from) advise_huge(block, header + bytes);
    return new (block) PlainBuffer(static_cast<char*>(block) + header, bytes);
  }
  static void operator delete(PlainBuffer* self, std::destroying_delete_t) {
    const std::size_t bytes = self->bytes();
    self->~PlainBuffer();
    give_block(self, header + bytes);
  }

 private:
  static constexpr std::size_t header = Tensor::alignment;
  PlainBuffer(void* data, std::size_t bytes) : Buffer(data, bytes, true) {}
};
static_assert(sizeof(PlainBuffer) <= Tensor::alignment);

template <class T>
class ObjectBuffer final : public Buffer {
 public:
  explicit ObjectBuffer(std::size_t count) : Buffer(nullptr, count * sizeof(T), true), objects_(count) { data_ = objects_.data(); }

 private:
  std::vector<T> objects_;
};

class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(const void* data, std::size_t bytes, std::function<void()> release)
      : Buffer(const_cast<void*>(data), bytes, false), release_(std::move(release)) {}
  ~BorrowedBuffer() override { release_(); }

 private:
  std::function<void()> release_;
};

Buffer* make_buffer(DType dtype, std::size_t count, std::size_t bytes) {
  switch (dtype) {
    case DType::string: return new ObjectBuffer<std::string>(count);
    case DType::resource: return new ObjectBuffer<ResourceHandle>(count);
    case DType::variant: return new ObjectBuffer<Variant>(count);
    default: return PlainBuffer::make(bytes);
  }
}

template <class T>
void copy_objects(const Tensor& from, Tensor& to) {
  std::copy_n(from.data<T>(), from.size(), to.mutable_data<T>());
}

}  // namespace

BufferPtr borrow_buffer(const void* data, std::size_t bytes, std::function<void()> release) {
  return new BorrowedBuffer(data, bytes, std::move(release));
}

AllocationLimit::AllocationLimit(std::size_t bytes) : before_(std::exchange(allowed, bytes)) {}
AllocationLimit::~AllocationLimit() { allowed = before_; }

std::size_t stride_of(DType dtype) {
  switch (without_ref(dtype)) {
    case DType::string: return sizeof(std::string);
    case DType::resource: return sizeof(ResourceHandle);
    case DType::variant: return sizeof(Variant);
    default: return size_of(dtype);
  }
}

Tensor::Tensor(DType dtype, Shape shape) : shape_(std::move(shape)), dtype_(dtype) {
  const auto count = static_cast<std::size_t>(shape_.elements());
  std::size_t bytes = 0;
  // The kernel promises more memory than there is; a tensor larger than the machine must fail here, not later.
  if (__builtin_mul_overflow(count, stride_of(dtype), &bytes) || bytes > physical_memory() || bytes > allowed) throw OutOfMemory(dtype, shape_);
  try {
    buffer_ = make_buffer(dtype, count, bytes);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(dtype, shape_);
  }
}

Tensor Tensor::zeros(DType dtype, Shape shape) {
  Tensor t(dtype, std::move(shape));
  if (!is_object(dtype) && t.bytes() > 0) std::memset(t.mutable_data<char>(), 0, t.bytes());
  return t;
}

std::size_t Tensor::bytes() const { return static_cast<std::size_t>(size()) * stride_of(dtype_); }

Tensor Tensor::rows(std::int64_t first, std::int64_t last) const {
  Shape shape = shape_;
  shape.set_dim(0, last - first);
  const auto row = static_cast<std::size_t>(shape_.elements(1, rank())) * stride_of(dtype_);
  return Tensor(dtype_, std::move(shape), buffer_, offset_ + static_cast<std::size_t>(first) * row);
}

Tensor Tensor::copy() const {
  Tensor t(dtype_, shape_);
  switch (dtype_) {
    case DType::string: copy_objects<std::string>(*this, t); break;
    case DType::resource: copy_objects<ResourceHandle>(*this, t); break;
    case DType::variant: copy_objects<Variant>(*this, t); break;
    default:
      if (bytes() > 0) std::memcpy(t.mutable_data<char>(), raw(), bytes());
  }
  return t;
}

}  // namespace troupe
