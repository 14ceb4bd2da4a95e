// Maps from keys to rows: numbers as numbers, all others as strings.
#include <troupe/ops/resources/table.hpp>

#include <unordered_map>

namespace troupe {
namespace {

/// How a key of a tensor is kept and written back.
template <class T>
struct NumberKeys {
  using Key = T;
  explicit NumberKeys(std::int64_t) {}
  Key at(const Tensor& keys, std::int64_t i) const { return keys.data<T>()[i]; }
  void write(const Key& key, Tensor& keys, std::int64_t i) const { keys.mutable_data<T>()[i] = key; }
};
struct StringKeys {
  using Key = std::string;
  explicit StringKeys(std::int64_t) {}
  const Key& at(const Tensor& keys, std::int64_t i) const { return keys.data<std::string>()[i]; }
  void write(const Key& key, Tensor& keys, std::int64_t i) const { keys.mutable_data<std::string>()[i] = key; }
};
/// Several numbers, as their bytes.
template <class T>
struct VectorKeys {
  using Key = std::string;
  std::int64_t width;
  Key at(const Tensor& keys, std::int64_t i) const {
    return Key(reinterpret_cast<const char*>(keys.data<T>() + i * width), static_cast<std::size_t>(width) * sizeof(T));
  }
  void write(const Key& key, Tensor& keys, std::int64_t i) const {
    key.copy(reinterpret_cast<char*>(keys.mutable_data<T>() + i * width), key.size());
  }
};
/// Several strings, each behind its length.
struct StringVectorKeys {
  using Key = std::string;
  std::int64_t width;
  Key at(const Tensor& keys, std::int64_t i) const {
    Key key;
    for (std::int64_t k = 0; k < width; ++k) {
      const std::string& part = keys.data<std::string>()[i * width + k];
      const std::uint64_t size = part.size();
      key.append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
    }
    return key;
  }
  void write(const Key& key, Tensor& keys, std::int64_t i) const {
    std::size_t at = 0;
    for (std::int64_t k = 0; k < width; ++k) {
      std::uint64_t size = 0;
      key.copy(reinterpret_cast<char*>(&size), sizeof size, at);
      at += sizeof size;
      keys.mutable_data<std::string>()[i * width + k] = key.substr(at, size);
      at += size;
    }
  }
};

template <class Kind>
class Rows final : public KeyRows {
 public:
  explicit Rows(std::int64_t width) : kind_(width) {}

  std::int64_t find(const Tensor& keys, std::int64_t i) const override {
    auto found = map_.find(kind_.at(keys, i));
    return found == map_.end() ? none : found->second;
  }
  std::int64_t find_or_add(const Tensor& keys, std::int64_t i, std::int64_t fresh) override {
    return map_.try_emplace(kind_.at(keys, i), fresh).first->second;
  }
  std::int64_t remove(const Tensor& keys, std::int64_t i) override {
    auto found = map_.find(kind_.at(keys, i));
    if (found == map_.end()) return none;
    const std::int64_t row = found->second;
    map_.erase(found);
    return row;
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(map_.size()); }
  void clear() override { map_.clear(); }
  std::vector<std::int64_t> list(Tensor& keys) const override {
    std::vector<std::int64_t> rows;
    rows.reserve(map_.size());
    for (const auto& [key, row] : map_) {
      kind_.write(key, keys, static_cast<std::int64_t>(rows.size()));
      rows.push_back(row);
    }
    return rows;
  }

 private:
  Kind kind_;
  std::unordered_map<typename Kind::Key, std::int64_t> map_;
};

template <class Single, class Several>
std::unique_ptr<KeyRows> make(std::int64_t width) {
  if (width == 1) return std::make_unique<Rows<Single>>(width);
  return std::make_unique<Rows<Several>>(width);
}

}  // namespace

std::unique_ptr<KeyRows> make_key_rows(DType key, std::int64_t width) {
  switch (key) {
    case DType::string: return make<StringKeys, StringVectorKeys>(width);
    case DType::i32: return make<NumberKeys<std::int32_t>, VectorKeys<std::int32_t>>(width);
    default: return make<NumberKeys<std::int64_t>, VectorKeys<std::int64_t>>(width);
  }
}

}  // namespace troupe
