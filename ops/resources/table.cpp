// What tables do, and what they refuse.
#include <troupe/ops/resources/table.hpp>

#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/resources/rows.hpp>

#include <algorithm>

namespace troupe {
namespace {

bool ends_with(const Shape& shape, const Shape& end) {
  return shape.rank() >= end.rank() && std::equal(end.begin(), end.end(), shape.end() - end.rank());
}

std::string show(const Tensor& t, std::int64_t i) {
  std::string text = "?";
  visit_dtype(types<std::int32_t, std::int64_t, float, double, bool, std::string>{}, t.dtype(),
              [&]<class T>() { text = fmt::format("{}", t.data<T>()[i]); });
  return text;
}

bool same_elements(const Tensor& a, std::int64_t at_a, const Tensor& b, std::int64_t at_b, std::int64_t n) {
  bool same = false;
  visit_dtype(types<std::int32_t, std::int64_t, float, double, bool, std::string>{}, a.dtype(),
              [&]<class T>() { same = std::equal(a.data<T>() + at_a, a.data<T>() + at_a + n, b.data<T>() + at_b); });
  return same;
}

}  // namespace

Table::Table(TableFacts facts)
    : facts_(std::move(facts)),
      key_width_(facts_.key_shape.elements()),
      value_width_(facts_.value_shape.elements()),
      rows_(dense() ? make_dense_rows(facts_) : make_key_rows(facts_.key, key_width_)),
      values_(facts_.value, Shape{0, value_width_}) {}

std::string Table::describe() const { return fmt::format("table {} -> {} with {} entries", name_of(facts_.key), name_of(facts_.value), size()); }

Status Table::check_types(const Tensor& keys, const Tensor& values) const {
  if (keys.dtype() != facts_.key) return invalid("Key must be type {} but got {}", name_of(facts_.key), name_of(keys.dtype()));
  if (values.dtype() != facts_.value) return invalid("Value must be type {} but got {}", name_of(facts_.value), name_of(values.dtype()));
  return absl::OkStatus();
}

Status Table::check_keys(const Tensor& keys) const {
  if (keys.dtype() != facts_.key) return invalid("Key must be type {} but got {}", name_of(facts_.key), name_of(keys.dtype()));
  if (!ends_with(keys.shape(), facts_.key_shape))
    return invalid("Input key shape {} must end with the table's key shape {}", keys.shape(), facts_.key_shape);
  return absl::OkStatus();
}

Shape Table::values_shape(const Shape& keys) const {
  Shape shape(keys.dims().first(static_cast<std::size_t>(keys.rank() - facts_.key_shape.rank())));
  for (std::int64_t d : facts_.value_shape) shape.add_dim(d);
  return shape;
}

Status Table::check_find(const Tensor& keys, const Tensor& fallback) const {
  TRY(check_types(keys, fallback));
  TRY(check_keys(keys));
  const Shape full = values_shape(keys.shape());
  if (fallback.shape() == facts_.value_shape || fallback.shape() == full) return absl::OkStatus();
  if (full != facts_.value_shape) return invalid("Expected shape {} or {} for default value, got {}", facts_.value_shape, full, fallback.shape());
  return invalid("Expected shape {} for default value, got {}", facts_.value_shape, fallback.shape());
}

Status Table::check_insert(const Tensor& keys, const Tensor& values) const {
  TRY(check_types(keys, values));
  TRY(check_keys(keys));
  const Shape wanted = values_shape(keys.shape());
  if (values.shape() != wanted) return invalid("Expected shape {} for value, got {}", wanted, values.shape());
  return absl::OkStatus();
}

/// Dense tables take what they list: a row for each bucket, of one element too.
Status Table::check_import(const Tensor& keys, const Tensor& values) const {
  if (!dense()) return check_insert(keys, values);
  TRY(check_types(keys, values));
  const Shape one_key{key_width_};
  const Status foreign = invalid("Input key shape {} must end with the table's key shape {}", keys.shape(), one_key);
  if (keys.rank() == 0) return foreign;
  Shape wanted(keys.shape().dims().first(static_cast<std::size_t>(keys.rank() - 1)));
  wanted.add_dim(value_width_);
  if (values.shape() != wanted) return invalid("Expected shape {} for value, got {}", wanted, values.shape());
  return ends_with(keys.shape(), one_key) ? absl::OkStatus() : foreign;
}

bool Table::equals(const Tensor& keys, std::int64_t i, const Tensor& key) const {
  return key.valid() && same_elements(keys, i * key_width_, key, 0, key_width_);
}

Status Table::check_usable(const Tensor& keys) const {
  for (std::int64_t i = 0; i < keys_in(keys); ++i) {
    if (equals(keys, i, facts_.empty_key)) return invalid("Using the empty_key as a table key is not allowed");
    if (equals(keys, i, facts_.deleted_key)) return invalid("Using the deleted_key as a table key is not allowed");
  }
  return absl::OkStatus();
}

StatusOr<Tensor> Table::find(const Tensor& keys, const Tensor& fallback) const {
  if (facts_.initializable && !initialized_) return failed_precondition("Table not initialized.");
  TRY(check_usable(keys));
  Tensor out(facts_.value, values_shape(keys.shape()));
  const std::int64_t n = keys_in(keys);
  const bool one_each = n != 1 && fallback.shape() == out.shape();
  by_storage(facts_.value, [&]<class S>() {
    const S* values = values_.data<S>();
    const S* otherwise = fallback.data<S>();
    S* to = out.mutable_data<S>();
    for (std::int64_t i = 0; i < n; ++i, to += value_width_) {
      const std::int64_t row = rows_->find(keys, i);
      if (row != KeyRows::none) std::copy_n(values + row * value_width_, value_width_, to);
      else std::copy_n(otherwise + (one_each ? i * value_width_ : 0), value_width_, to);
    }
  });
  return out;
}

std::int64_t Table::free_row() {
  if (!free_.empty()) {
    const std::int64_t row = free_.back();
    free_.pop_back();
    return row;
  }
  if (used_ == values_.dim(0)) {
    Tensor larger(facts_.value, Shape{std::max<std::int64_t>(16, 2 * used_), value_width_});
    copy_elements(values_, 0, larger, 0, used_ * value_width_);
    values_ = std::move(larger);
  }
  return used_++;
}

void Table::put(const Tensor& keys, std::int64_t i, const Tensor& values) {
  const std::int64_t fresh = free_row();
  const std::int64_t row = rows_->find_or_add(keys, i, fresh);
  if (row != fresh) free_.push_back(fresh);
  copy_elements(values, i * value_width_, values_, row * value_width_, value_width_);
}

Status Table::insert(const Tensor& keys, const Tensor& values) {
  if (facts_.initializable) return unimplemented("Insert not supported by InitializableLookupTable implementations");
  TRY(check_usable(keys));
  TRY(rows_->expect(keys_in(keys)));
  for (std::int64_t i = 0; i < keys_in(keys); ++i) put(keys, i, values);
  return absl::OkStatus();
}

Status Table::remove(const Tensor& keys) {
  if (facts_.initializable) return unimplemented("Remove not supported by InitializableLookupTable implementations");
  TRY(check_usable(keys));
  for (std::int64_t i = 0; i < keys_in(keys); ++i)
    if (const std::int64_t row = rows_->remove(keys, i); row != KeyRows::none) free_.push_back(row);
  return absl::OkStatus();
}

Status Table::import(const Tensor& keys, const Tensor& values) {
  if (facts_.initializable) return initialize(keys, values);
  rows_->clear();
  free_.clear();
  used_ = 0;
  if (rows_->take_places(keys)) {
    used_ = keys_in(keys);
    values_ = Tensor(facts_.value, Shape{used_, value_width_});
    copy_elements(values, 0, values_, 0, used_ * value_width_);
    return absl::OkStatus();
  }
  for (std::int64_t i = 0; i < keys_in(keys); ++i) put(keys, i, values);
  return absl::OkStatus();
}

Status Table::initialize(const Tensor& keys, const Tensor& values) {
  if (initialized_) {
    if (keys.size() == size()) return absl::OkStatus();
    return failed_precondition("Table was already initialized with different data.");
  }
  for (std::int64_t i = 0; i < keys_in(keys); ++i) {
    const std::int64_t row = rows_->find(keys, i);
    if (row != KeyRows::none && !same_elements(values_, row, values, i, 1)) {
      const std::string known = show(values_, row);
      rows_->clear();
      free_.clear();
      used_ = 0;
      return failed_precondition("HashTable has different value for same key. Key {} has {} and trying to add value {}", show(keys, i), known,
                                 show(values, i));
    }
    if (row == KeyRows::none) put(keys, i, values);
  }
  initialized_ = true;
  return absl::OkStatus();
}

StatusOr<std::pair<Tensor, Tensor>> Table::list() const {
  if (facts_.initializable && !initialized_) return aborted("HashTable is not initialized.");
  Shape key_shape{rows_->places()}, value_shape{rows_->places()};
  for (std::int64_t d : dense() ? Shape{key_width_} : facts_.key_shape) key_shape.add_dim(d);
  for (std::int64_t d : dense() ? Shape{value_width_} : facts_.value_shape) value_shape.add_dim(d);
  Tensor keys(facts_.key, key_shape), values(facts_.value, value_shape);
  const auto rows = rows_->list(keys);
  by_storage(facts_.value, [&]<class S>() {
    S* to = values.mutable_data<S>();
    for (const std::int64_t row : rows) {
      if (row == KeyRows::none) std::fill_n(to, value_width_, S());
      else std::copy_n(values_.data<S>() + row * value_width_, value_width_, to);
      to += value_width_;
    }
  });
  return std::pair{std::move(keys), std::move(values)};
}

}  // namespace troupe
