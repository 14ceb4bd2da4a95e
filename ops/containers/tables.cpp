// Ops on look-up tables.
#include <troupe/ops/containers/shared.hpp>
#include <troupe/ops/containers/vocabulary.hpp>
#include <troupe/ops/files/records.hpp>
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/resources/table.hpp>

namespace troupe {
namespace {

/// What a table's node declares.
struct Declaration {
  Exit exit;
  bool anonymous = false, dense = false;
  TableFacts facts;

  static StatusOr<Declaration> make(Binding& binding) {
    Declaration d;
    const std::string& op = binding.node().op();
    d.anonymous = op.starts_with("Anonymous");
    d.dense = op.find("Dense") != std::string::npos;
    if (!d.anonymous) {
      TRY_ASSIGN(const bool by_node_name, binding.attr<bool>("use_node_name_sharing"));
      TRY_ASSIGN(d.exit, by_node_name ? Exit::make(binding) : Exit::make_private(binding));
    }
    d.facts.initializable = op.find("Mutable") == std::string::npos;
    TRY_ASSIGN(d.facts.key, binding.attr<DType>("key_dtype"));
    TRY_ASSIGN(d.facts.value, binding.attr<DType>("value_dtype"));
    if (binding.find("value_shape")) TRY(d.read_value_shape(binding));
    if (d.dense) {
      TRY_ASSIGN(d.facts.buckets, binding.attr<std::int64_t>("initial_num_buckets"));
      TRY_ASSIGN(d.facts.load, binding.attr<float>("max_load_factor"));
    }
    return d;
  }

  /// What a dense table is to be made of.
  Status check_room() const {
    if (!(facts.load > 0 && facts.load < 1)) return invalid("max_load_factor must be between 0 and 1, got: {}", facts.load);
    return check_buckets(facts.buckets);
  }

  Status read_value_shape(Binding& binding) {
    TRY_ASSIGN(const PartialShape shape, binding.attr<PartialShape>("value_shape"));
    const auto known = shape.known();
    if (!known) return invalid("Value shape {} is not fully defined", shape);
    TRY_ASSIGN(facts.value_shape, Shape::checked(known->dims()));
    if (!dense && facts.value_shape.rank() != 1) return invalid("Default value must be a vector, got shape {}", facts.value_shape);
    if (dense && facts.value_shape.rank() > 1) return invalid("Empty value must be a scalar or a vector, got shape {}", facts.value_shape);
    return absl::OkStatus();
  }
};

Status read_reserved(Call& call, TableFacts& facts) {
  facts.empty_key = call.in(0);
  facts.key_shape = call.in(0).shape();
  if (facts.key_shape.rank() > 1) return invalid("Empty key must be a scalar or a vector, got shape {}", facts.key_shape);
  if (facts.key_shape.elements() == 0) return invalid("Empty key must have elements, got shape {}", facts.key_shape);
  if (call.inputs() < 2) return absl::OkStatus();
  facts.deleted_key = call.in(1);
  if (facts.deleted_key.shape() != facts.key_shape)
    return invalid("Empty and deleted keys must have same shape, got shapes: {} and {}", facts.key_shape, facts.deleted_key.shape());
  bool same = false;
  visit_dtype(types<std::int32_t, std::int64_t, std::string>{}, facts.key, [&]<class K>() {
    const auto a = facts.empty_key.values<K>(), b = facts.deleted_key.values<K>();
    same = std::equal(a.begin(), a.end(), b.begin());
  });
  if (same) return invalid("Empty and deleted keys cannot be equal");
  return absl::OkStatus();
}

Status check_same(const Table& table, const TableFacts& wanted, const std::string& name) {
  const TableFacts& have = table.facts();
  if (have.key == wanted.key && have.value == wanted.value) return absl::OkStatus();
  return invalid("Conflicting key/value dtypes {}->{} with {}-{} for table {}", name_of(wanted.key), name_of(wanted.value), name_of(have.key),
                 name_of(have.value), name);
}

Status open(Call& call, Step& step, Declaration& d) {
  TableFacts facts = d.facts;
  if (d.dense) {
    if (call.in(0).dtype() != facts.key || (call.inputs() > 1 && call.in(1).dtype() != facts.key)) return detail::wrong_dtype(call, 0, facts.key);
    TRY(read_reserved(call, facts));
    TRY(d.check_room());
    const Tensor room(facts.key, Shape{facts.buckets, facts.key_shape.elements()});  // says so where there is none
  }
  if (d.anonymous) {
    ResourceHandle handle = step.resources->handle_to<Table>(step.device, "Anonymous", "Anonymous");
    handle.resource = std::make_shared<Table>(facts);
    call.set(0, Tensor::scalar<ResourceHandle>(std::move(handle)));
    return absl::OkStatus();
  }
  return d.exit.open<Table>(
      call, step, [&]() -> StatusOr<std::shared_ptr<Table>> { return std::make_shared<Table>(facts); },
      [&](const Table& table) { return check_same(table, facts, d.exit.where.name); });
}

Status check_initializer(Call& call, const Table& table, const Tensor& keys, const Tensor& values) {
  TRY(match_signature(call, {keys.dtype(), values.dtype()}, {table.facts().key, table.facts().value}, {}, {}));
  if (keys.rank() != 1) return invalid("Keys must be a vector, but received shape{}", keys.shape());
  if (values.rank() != 1) return invalid("Values must be a vector, but received shape{}", values.shape());
  if (keys.size() != values.size()) return invalid("Keys and values must have the same size {} vs {}", keys.size(), values.size());
  if (!table.facts().initializable) return invalid("Table  {} is not initializable", call.node().name);
  return absl::OkStatus();
}

/// The pairs of types that TensorFlow has tables for.
void make_tables(Registry& ops) {
  using enum DType;
  const auto pairs = [&ops](Registry::Names names, std::initializer_list<std::pair<DType, DType>> types) {
    Registry one;
    one.add("kernel", [](Call& call, Step& step, State<Declaration> d) { return open(call, step, *d); });
    for (const char* op : names)
      for (auto [key, value] : types) ops.factory(op, {{"key_dtype", key}, {"value_dtype", value}}, one.entries().at("kernel").front().factory);
  };
  pairs({"HashTable", "HashTableV2", "AnonymousHashTable"}, {{i32, f32},
                                                             {i32, f64},
                                                             {i32, i32},
                                                             {i32, string},
                                                             {i64, f32},
                                                             {i64, f64},
                                                             {i64, i32},
                                                             {i64, i64},
                                                             {i64, string},
                                                             {string, boolean},
                                                             {string, f32},
                                                             {string, f64},
                                                             {string, i32},
                                                             {string, i64},
                                                             {string, string}});
  pairs({"MutableHashTable", "MutableHashTableV2", "AnonymousMutableHashTable"}, {{i32, f32},
                                                                                  {i32, f64},
                                                                                  {i32, i32},
                                                                                  {i64, f32},
                                                                                  {i64, f64},
                                                                                  {i64, i32},
                                                                                  {i64, i64},
                                                                                  {i64, string},
                                                                                  {i64, variant},
                                                                                  {string, boolean},
                                                                                  {string, f32},
                                                                                  {string, f64},
                                                                                  {string, i32},
                                                                                  {string, i64}});
  pairs({"MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors"}, {{i32, f32},
                                                                                                             {i32, f64},
                                                                                                             {i32, i32},
                                                                                                             {i64, f32},
                                                                                                             {i64, f64},
                                                                                                             {i64, i32},
                                                                                                             {i64, i64},
                                                                                                             {i64, string},
                                                                                                             {string, boolean},
                                                                                                             {string, f32},
                                                                                                             {string, f64},
                                                                                                             {string, i32},
                                                                                                             {string, i64}});
  pairs({"MutableDenseHashTable", "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable"}, {{i32, f32},
                                                                                                 {i32, f64},
                                                                                                 {i32, i32},
                                                                                                 {i64, boolean},
                                                                                                 {i64, f32},
                                                                                                 {i64, f64},
                                                                                                 {i64, i32},
                                                                                                 {i64, i64},
                                                                                                 {i64, variant},
                                                                                                 {string, boolean},
                                                                                                 {string, f32},
                                                                                                 {string, f64},
                                                                                                 {string, i32},
                                                                                                 {string, i64},
                                                                                                 {string, resource}});
}

}  // namespace

void add_tables(Registry& ops) {
  make_tables(ops);

  ops.add(
      {"LookupTableFind", "LookupTableFindV2"},
      [](Call& call, Step&, Shared<Table> table, Any keys, Any fallback, Attr<"Tout", DType> out) -> Status {
        TRY(match_signature(call, {keys->dtype(), fallback->dtype()}, {table->facts().key, table->facts().value}, {*out}, {table->facts().value}));
        TRY(table->check_find(keys.tensor, fallback.tensor));
        TRY_ASSIGN(Tensor values, table->find(keys.tensor, fallback.tensor));
        call.set(0, std::move(values));
        return absl::OkStatus();
      });
  ops.add({"LookupTableInsert", "LookupTableInsertV2"}, [](Call& call, Step&, Shared<Table> table, Any keys, Any values) -> Status {
    TRY(match_signature(call, {keys->dtype(), values->dtype()}, {table->facts().key, table->facts().value}, {}, {}));
    TRY(table->check_insert(keys.tensor, values.tensor));
    return table->insert(keys.tensor, values.tensor);
  });
  ops.add({"LookupTableImport", "LookupTableImportV2"}, [](Call& call, Step&, Shared<Table> table, Any keys, Any values) -> Status {
    TRY(match_signature(call, {keys->dtype(), values->dtype()}, {table->facts().key, table->facts().value}, {}, {}));
    TRY(table->check_import(keys.tensor, values.tensor));
    return table->import(keys.tensor, values.tensor);
  });
  ops.add("LookupTableRemoveV2", [](Call& call, Step&, Shared<Table> table, Any keys) -> Status {
    TRY(match_signature(call, {keys->dtype()}, {table->facts().key}, {}, {}));
    TRY(table->check_keys(keys.tensor));
    return table->remove(keys.tensor);
  });
  ops.add({"LookupTableSize", "LookupTableSizeV2"}, [](Call& call, Step&, Shared<Table> table) { call.set_scalar<std::int64_t>(0, table->size()); });
  ops.add({"LookupTableExport", "LookupTableExportV2"},
          [](Call& call, Step&, Shared<Table> table, Attr<"Tkeys", DType> key, Attr<"Tvalues", DType> value) -> Status {
            TRY(match_signature(call, {}, {}, {*key, *value}, {table->facts().key, table->facts().value}));
            TRY_ASSIGN(auto all, table->list());
            call.set(0, std::move(all.first));
            call.set(1, std::move(all.second));
            return absl::OkStatus();
          });

  ops.add({"InitializeTable", "InitializeTableV2"}, [](Call& call, Step&, Shared<Table> table, Any keys, Any values) -> Status {
    TRY(check_initializer(call, *table, keys.tensor, values.tensor));
    return table->initialize(keys.tensor, values.tensor);
  });
  ops.add({"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"},
          [](Call& call, Step&, Shared<Table> table, In<std::string> file, State<VocabularyFormat> format) -> Status {
            if (file.dims() != 0) return invalid("filename should be a single string, but got {}", file.shape());
            if (file[0].empty()) return invalid("filename cannot be empty.");
            if (!table->facts().initializable) return invalid("Table  {} is not initializable", call.node().name);
            // Whoever comes later, with another file even, is content with what is there.
            if (table->initialized()) return open_bytes(file[0]).status();
            TRY_ASSIGN(const auto entries, read_vocabulary(file[0], *format, table->facts().key, table->facts().value));
            return table->initialize(entries.first, entries.second);
          });
}

}  // namespace troupe
