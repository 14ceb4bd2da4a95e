// Look-up tables: keys of one type to rows of values of another.
#pragma once

#include <troupe/messaging/tensor.hpp>
#include <troupe/ops/resources/store.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

struct TableFacts {
  DType key = DType::invalid, value = DType::invalid;
  Shape key_shape, value_shape;   // of one key, of one value
  bool initializable = false;     // filled once and then only read
  Tensor empty_key, deleted_key;  // keys that nobody may use; none for most tables
  std::int64_t buckets = 0;       // to begin with, of tables that show them
  float load = 0;                 // the part of them that may be used
};

/// Numbers for keys: each key that is there has a row.
class KeyRows {
 public:
  static constexpr std::int64_t none = -1;
  virtual ~KeyRows() = default;
  /// The row of the i-th key of a tensor, or none.
  virtual std::int64_t find(const Tensor& keys, std::int64_t i) const = 0;
  /// The same, and `fresh` for a key that is new.
  virtual std::int64_t find_or_add(const Tensor& keys, std::int64_t i, std::int64_t fresh) = 0;
  virtual std::int64_t remove(const Tensor& keys, std::int64_t i) = 0;
  virtual std::int64_t size() const = 0;
  virtual void clear() = 0;
  /// As many as `list` gives: more than keys, where there are empty places.
  virtual std::int64_t places() const { return size(); }
  /// So many keys are going to be added.
  virtual Status expect(std::int64_t) { return absl::OkStatus(); }
  /// What `list` gave, as it is, with rows in its order; false: the keys have to be added one by one.
  virtual bool take_places(const Tensor&) { return false; }
  /// All keys into `keys`; gives their rows in the same order, none for places that never had one.
  virtual std::vector<std::int64_t> list(Tensor& keys) const = 0;
};
/// `width` elements make a key.
std::unique_ptr<KeyRows> make_key_rows(DType key, std::int64_t width);
/// Those of a dense table.
std::unique_ptr<KeyRows> make_dense_rows(const TableFacts& facts);
Status check_buckets(std::int64_t buckets);

/// Touched only on its device's actor.
class Table final : public Resource {
 public:
  explicit Table(TableFacts facts);
  std::string describe() const override;

  const TableFacts& facts() const { return facts_; }
  std::int64_t size() const { return rows_->size(); }

  Status check_find(const Tensor& keys, const Tensor& fallback) const;
  Status check_insert(const Tensor& keys, const Tensor& values) const;
  Status check_keys(const Tensor& keys) const;
  Status check_import(const Tensor& keys, const Tensor& values) const;

  /// Values of keys; `fallback`, one value or one for each key, for keys that are not there.
  StatusOr<Tensor> find(const Tensor& keys, const Tensor& fallback) const;
  Status insert(const Tensor& keys, const Tensor& values);
  Status remove(const Tensor& keys);
  /// Replaces everything; fills a table that is filled once.
  Status import(const Tensor& keys, const Tensor& values);
  /// Keys and values, in no order.
  StatusOr<std::pair<Tensor, Tensor>> list() const;

  bool initialized() const { return initialized_; }
  /// Fills a table that is filled once; filling it again with as many entries is no mistake.
  Status initialize(const Tensor& keys, const Tensor& values);

 private:
  bool dense() const { return facts_.buckets > 0; }
  std::int64_t keys_in(const Tensor& keys) const { return key_width_ == 0 ? 0 : keys.size() / key_width_; }
  Shape values_shape(const Shape& keys) const;
  Status check_types(const Tensor& keys, const Tensor& values) const;
  Status check_usable(const Tensor& keys) const;
  bool equals(const Tensor& keys, std::int64_t i, const Tensor& key) const;
  void put(const Tensor& keys, std::int64_t i, const Tensor& values);
  std::int64_t free_row();
  Status put_new(const Tensor& keys, const Tensor& values);

  TableFacts facts_;
  std::int64_t key_width_, value_width_;
  std::unique_ptr<KeyRows> rows_;
  Tensor values_;          // by row
  std::int64_t used_ = 0;  // rows ever used
  std::vector<std::int64_t> free_;
  bool initialized_ = false;
};

template <>
struct resource_type<Table> {
  static constexpr const char* name = "N10tensorflow6lookup15LookupInterfaceE";
};

}  // namespace troupe
