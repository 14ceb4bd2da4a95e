// Translation of dimension numbers and vectors between data formats such as NHWC and NCHW.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/options.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace troupe {

namespace {

/// Two orders of the same letters.
struct Formats {
  std::string from, to;

  static StatusOr<Formats> make(Binding& binding) {
    Formats f;
    TRY_ASSIGN(f.from, binding.attr<std::string>("src_format"));
    TRY_ASSIGN(f.to, binding.attr<std::string>("dst_format"));
    if (f.from.size() != 4 && f.from.size() != 5) return invalid("Source format must be of length 4 or 5, received src_format = {}", f.from);
    if (f.to.size() != 4 && f.to.size() != 5) return invalid("Destination format must be of length 4 or 5, received dst_format = {}", f.to);
    std::string a = f.from, b = f.to;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    if (a != b || std::adjacent_find(a.begin(), a.end()) != a.end())
      return invalid("Destination and source format must determine a permutation, got {} and {}", f.from, f.to);
    return f;
  }
};

std::string spatial_only(std::string format) {
  std::erase_if(format, [](char c) { return c == 'N' || c == 'C'; });
  return format;
}

template <class T>
Status permute(Call& call, const In<T>& x, const Formats& formats) {
  const std::int64_t full = static_cast<std::int64_t>(formats.from.size()), spatial = static_cast<std::int64_t>(spatial_only(formats.from).size());
  if (x.dims() != 1 && x.dims() != 2) return invalid("input must be a vector or 2D tensor, but got shape {}", x.shape());
  if (x.dim(0) != full && x.dim(0) != spatial)
    return invalid("{} must be of size {} or {}, but got shape {}", x.dims() == 1 ? "1D input" : "First dimension of 2D input", spatial, full,
                   x.shape());
  if (x.dims() == 2 && x.dim(1) != 2) return invalid("Second dimension of 2D input must be of size 2, but got shape {}", x.shape());
  const bool whole = x.dim(0) == full;
  const std::string from = whole ? formats.from : spatial_only(formats.from), to = whole ? formats.to : spatial_only(formats.to);
  const std::int64_t width = x.dims() == 2 ? 2 : 1;
  T* out = call.alloc<T>(0, x.shape());
  for (std::size_t i = 0; i < to.size(); ++i)
    std::copy_n(x.data() + static_cast<std::int64_t>(from.find(to[i])) * width, width, out + static_cast<std::int64_t>(i) * width);
  return absl::OkStatus();
}

}  // namespace

void add_data_format(Registry& ops) {
  ops.add("DataFormatDimMap", indices{}, []<class T>(Call& call, In<T> x, const Formats& formats) {
    T* out = call.alloc<T>(0, x.shape());
    const auto rank = static_cast<T>(formats.from.size());
    // Numbers out of range are folded into it, as TensorFlow does.
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<std::size_t>(((x[i] % rank) + rank) % rank);
      out[i] = static_cast<T>(formats.to.find(formats.from[at]));
    }
  });
  ops.add("DataFormatVecPermute", indices{}, []<class T>(Call& call, In<T> x, const Formats& formats) { return permute(call, x, formats); });
}

}  // namespace troupe
