// Ops on whole files.
#include <troupe/ops/files/local_files.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// A tensor whose bytes are those of a file.
Status file_as_tensor(Call& call, DType dtype, const PartialShape& declared, const std::string& path) {
  const auto shape = declared.unknown_rank() ? Shape{} : declared.known();
  if (!shape) return invalid("Shape {} is not fully defined", declared);
  if (is_directory(path)) return not_found("{}; No such device", path);
  TRY_ASSIGN(const std::string content, read_file(path));
  if (content.empty()) return invalid("{}; Invalid argument", path);
  TRY_ASSIGN(const Shape checked, Shape::checked(shape->dims()));
  const auto bytes = static_cast<std::size_t>(checked.elements()) * size_of(dtype);
  if (bytes > content.size()) return internal("Readonly memory region has wrong length ({}) when allocating {}", content.size(), bytes);
  Tensor& out = call.alloc(0, dtype, checked);
  std::copy_n(content.data(), bytes, out.mutable_data<char>());
  return absl::OkStatus();
}

}  // namespace

void add_files(Registry& ops) {
  ops.io("ReadFile", [](Call& call, In<std::string> filename) -> Status {
    if (filename.dims() != 0) return invalid("Input filename tensor must be scalar, but had shape: {}", filename.shape());
    TRY_ASSIGN(std::string content, read_file(filename[0]));
    call.set_scalar(0, std::move(content));
    return absl::OkStatus();
  });

  ops.io("ImmutableConst",
         [](Call& call, Attr<"dtype", DType> dtype, Attr<"shape", PartialShape> shape, Attr<"memory_region_name", std::string> path) -> Status {
           if (*dtype == DType::resource || *dtype == DType::variant) return invalid("Resource and variant dtypes are invalid for this op.");
           if (is_object(*dtype)) return unimplemented("Sorry, DT_STRING is not currently supported for ImmutableConstOp.");
           return file_as_tensor(call, *dtype, *shape, *path);
         });

  ops.io("WriteFile", [](Call&, In<std::string> filename, In<std::string> contents) -> Status {
    if (filename.dims() != 0) return invalid("Input filename tensor must be scalar, but had shape: {}", filename.shape());
    if (contents.dims() != 0) return invalid("Contents tensor must be scalar, but had shape: {}", contents.shape());
    const std::string directory(directory_of(filename[0]));
    if (!directory.empty() && !file_exists(directory)) TRY(make_directories(directory));
    return write_file(filename[0], contents[0]);
  });

  ops.io("MatchingFiles", [](Call& call, In<std::string> patterns) -> Status {
    if (patterns.dims() > 1) return invalid("Input patterns tensor must be scalar or vector, but had shape: {}", patterns.shape());
    std::vector<std::string> all;
    for (const std::string& pattern : patterns.values()) {
      TRY_ASSIGN(auto found, matching_files(pattern));
      std::move(found.begin(), found.end(), std::back_inserter(all));
    }
    std::sort(all.begin(), all.end());
    call.set(0, Tensor::vector(all));
    return absl::OkStatus();
  });
}

}  // namespace troupe
