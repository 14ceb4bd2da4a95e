// Matrices of checkpoints whose rows and columns stand for words of a vocabulary that has changed.
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/checkpoint/bundle.hpp>
#include <troupe/ops/files/records.hpp>
#include <troupe/ops/kernel.hpp>

#include <algorithm>
#include <unordered_map>

namespace troupe {
namespace {

/// The lines of a vocabulary, the first `most` of them where that is not negative.
StatusOr<std::vector<std::string>> read_words(const std::string& file, std::int64_t most) {
  TRY_ASSIGN(auto bytes, open_bytes(file));
  LineReader lines(std::move(bytes), LineReader::Returns::drop_last);
  std::vector<std::string> words;
  std::string line;
  while (most < 0 || static_cast<std::int64_t>(words.size()) < most) {
    TRY_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    if (line.empty()) return invalid("Invalid content in {}: empty line found at position {}.", file, lines.position());
    words.push_back(line);
  }
  if (most == 0) return out_of_range("Finished reading 0 of lines from {}", file);
  if (words.empty()) return out_of_range("Read less bytes than requested");
  if (static_cast<std::int64_t>(words.size()) < most) return invalid("Invalid vocab_size in {}: expected {} but got {}", file, most, words.size());
  return words;
}

Status generate(Call& call, const std::string& new_file, const std::string& old_file, std::int64_t offset, std::int64_t count,
                std::int64_t old_size) {
  if (new_file.empty()) return invalid("new vocab filename cannot be empty.");
  if (old_file.empty()) return invalid("new vocab filename cannot be empty.");
  TRY_ASSIGN(const auto words, read_words(new_file, -1));
  const auto known = static_cast<std::int64_t>(words.size());
  if (offset > known || count > known - offset) return invalid("lookup table size must be larger than last new vocab entry's line");
  TRY_ASSIGN(const auto old_words, read_words(old_file, old_size));
  std::unordered_map<std::string_view, std::int64_t> rows;
  for (std::size_t i = 0; i < old_words.size(); ++i)
    if (const auto [at, fresh] = rows.emplace(old_words[i], i); !fresh)
      return failed_precondition("HashTable has different value for same key. Key {} has {} and trying to add value {}", old_words[i], at->second, i);
  std::int64_t* remapping = call.alloc<std::int64_t>(0, Shape{count});
  std::int32_t present = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto found = rows.find(words[static_cast<std::size_t>(offset + i)]);
    remapping[i] = found == rows.end() ? -1 : found->second;
    present += found == rows.end() ? 0 : 1;
  }
  call.set_scalar(1, present);
  return absl::OkStatus();
}

Status check_distinct(const In<std::int64_t>& remapping) {
  std::unordered_map<std::int64_t, std::int64_t> places;
  for (std::int64_t i = 0; i < remapping.size(); ++i) {
    if (remapping[i] < 0) continue;
    if (const auto [at, fresh] = places.emplace(remapping[i], i); !fresh)
      return unimplemented("Old ID {} is mapped to both new ID {} and {}, which is not supported.", remapping[i], at->second, i);
  }
  return absl::OkStatus();
}

StatusOr<Shape> check_matrix(BundleReader& reader, const std::string& name, std::int64_t columns, bool all_columns) {
  TRY_ASSIGN(const auto entry, reader.entry(name));
  TRY_ASSIGN(Shape shape, shape_from_proto(entry.shape()));
  if (static_cast<DType>(entry.dtype()) != DType::f32)
    return invalid("Tensor {} has invalid type {} instead of expected type float", name, name_of(static_cast<DType>(entry.dtype())));
  if (shape.rank() != 2) return invalid("Tensor {} has shape {} of invalid rank {} instead of expected shape of rank 2.", name, shape, shape.rank());
  if (all_columns && shape[1] != columns)
    return invalid("Tensor {} has shape {}, where the size of its 2nd dimension is {} instead of being equal to num_cols={}", name, shape, shape[1],
                   columns);
  return shape;
}

/// The old rows that are needed, from the smallest to the largest; none: an invalid tensor.
StatusOr<Tensor> read_rows(BundleReader& reader, const std::string& name, const Shape& shape, const In<std::int64_t>& rows, std::int64_t& first) {
  std::int64_t last = -1;
  for (const std::int64_t row : rows.values()) {
    if (row < 0) continue;
    first = last < 0 ? row : std::min(first, row);
    last = std::max(last, row);
  }
  if (last < 0) return Tensor();
  TRY_ASSIGN(const auto slice, TensorSlice::parse(fmt::format("{},{}:-", first, last - first + 1)));
  TRY(slice.shape_in(shape).status());
  return reader.read_slice(name, slice);
}

Status load(Call& call, const In<std::string>& path, const In<std::string>& name, const In<std::int64_t>& rows, const In<std::int64_t>& columns,
            const In<float>& initial, std::int64_t num_rows, std::int64_t num_columns) {
  if (path.size() != 1) return invalid("The `ckpt_path` tensor must have exactly one element, got tensor of shape {}", path.shape());
  if (name.size() != 1) return invalid("The `old_tensor_name` tensor must have exactly one element, got tensor of shape {}", name.shape());
  if (rows.dims() != 1) return invalid("The `row_remapping` tensor must be 1-D, got a tensor of shape {}", rows.shape());
  if (rows.size() != num_rows) return invalid("Size of row_remapping is {} instead of being equal to num_rows={}", rows.size(), num_rows);
  if (columns.dims() != 1) return invalid("The `col_remapping` tensor must be 1-D, got a tensor of shape {}", columns.shape());
  const bool all_columns = columns.size() == 0;
  if (!all_columns && columns.size() != num_columns)
    return invalid("Provided col_remapping, but its size is {} instead of being equal to num_cols={}", columns.size(), num_columns);
  TRY(check_distinct(rows));
  TRY(check_distinct(columns));
  TRY_ASSIGN(BundleReader reader, BundleReader::open(path[0]));
  TRY_ASSIGN(const Shape shape, check_matrix(reader, name[0], num_columns, all_columns));
  std::int64_t first = 0, used = 0;
  TRY_ASSIGN(const Tensor old, read_rows(reader, name[0], shape, rows, first));
  TRY_ASSIGN(const Shape made, Shape::checked(std::vector<std::int64_t>{num_rows, num_columns}));
  float* out = call.alloc<float>(0, made);
  for (std::int64_t r = 0; r < num_rows; ++r) {
    for (std::int64_t c = 0; c < num_columns; ++c, ++out) {
      const std::int64_t column = all_columns ? c : columns[c];
      if (rows[r] >= 0 && column >= 0) {
        *out = column < shape[1] ? old.data<float>()[(rows[r] - first) * shape[1] + column] : 0;
      } else if (used < initial.size()) {
        *out = initial[used++];
      } else {
        return invalid("initializing_values contained {} elements, but more missing values remain.", initial.size());
      }
    }
  }
  if (used < initial.size())
    return invalid("initializing_values contained {} elements, but only {} elements were used to fill in missing values.", initial.size(), used);
  return absl::OkStatus();
}

}  // namespace

void add_remapping(Registry& ops) {
  ops.io("LoadAndRemapMatrix", [](Call& call, In<std::string> path, In<std::string> name, In<std::int64_t> rows, In<std::int64_t> columns,
                                  In<float> initial, Attr<"num_rows", std::int64_t> num_rows, Attr<"num_cols", std::int64_t> num_columns) {
    return load(call, path, name, rows, columns, initial, num_rows, num_columns);
  });
  ops.io("GenerateVocabRemapping",
         [](Call& call, In<std::string> new_file, In<std::string> old_file, Attr<"new_vocab_offset", std::int64_t> offset,
            Attr<"num_new_vocab", std::int64_t> count, Attr<"old_vocab_size", std::int64_t> old_size) -> Status {
           if (new_file.dims() != 0) return invalid("new_vocab_file should be a single string, but got {}", new_file.shape());
           if (old_file.dims() != 0) return invalid("old_vocab_file should be a single string, but got {}", old_file.shape());
           return generate(call, new_file[0], old_file[0], offset, count, old_size);
         });
}

}  // namespace troupe
