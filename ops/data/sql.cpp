// Datasets of the rows that a query of an SQLite database gives.
#include <troupe/ops/data/ahead.hpp>

#include <sqlite3.h>

namespace troupe {
namespace {

struct Closing {
  void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

struct Query {
  std::string source, text;
  std::vector<DType> types;
};

class Rows final : public Producer {
 public:
  explicit Rows(Query query) : query_(std::move(query)) {}
  StatusOr<bool> next(Tuple& out) override {
    if (over_) return false;
    if (!statement_) TRY(open());
    const int found = sqlite3_step(statement_.get());
    if (found == SQLITE_DONE) {
      over_ = true;
      return false;
    }
    if (found != SQLITE_ROW) return failure(found);
    for (std::size_t i = 0; i < query_.types.size(); ++i) {
      TRY_ASSIGN(Tensor value, column(static_cast<int>(i), query_.types[i]));
      out.push_back(std::move(value));
    }
    return true;
  }

 private:
  Status failure(int code) const {
    const std::string text = fmt::format("[{}] {}: {}", code, connection_ ? sqlite3_errmsg(connection_.get()) : sqlite3_errstr(code), query_.text);
    return code == SQLITE_ERROR || code == SQLITE_MISMATCH ? invalid("{}", text) : failed_precondition("{}", text);
  }

  Status open() {
    sqlite3* connection = nullptr;
    const int opened = sqlite3_open_v2(query_.source.c_str(), &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
    connection_.reset(connection);
    if (opened != SQLITE_OK) return invalid("Failed to open db [{}] {}: {}", opened, sqlite3_errstr(opened), query_.source);
    sqlite3_stmt* statement = nullptr;
    const int prepared = sqlite3_prepare_v2(connection, query_.text.data(), static_cast<int>(query_.text.size()), &statement, nullptr);
    std::unique_ptr<sqlite3_stmt, Closing> made(statement);
    if (prepared != SQLITE_OK) return unknown("Prepare() failed: {}", text_of(failure(prepared)));
    const int columns = sqlite3_column_count(statement);
    if (static_cast<std::size_t>(columns) != query_.types.size())
      return invalid("The number of columns in query ({}) must match the number of elements in output_types ({}).", columns, query_.types.size());
    statement_ = std::move(made);
    return absl::OkStatus();
  }

  StatusOr<Tensor> column(int i, DType dtype) const {
    sqlite3_stmt* row = statement_.get();
    if (dtype == DType::string) {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(row, i));
      return Tensor::scalar<std::string>(std::string(text ? text : "", static_cast<std::size_t>(sqlite3_column_bytes(row, i))));
    }
    if (dtype == DType::f64) return Tensor::scalar<double>(sqlite3_column_double(row, i));
    if (dtype == DType::boolean) return Tensor::scalar<bool>(sqlite3_column_int64(row, i) != 0);
    Tensor value(dtype, Shape{});
    using Integers = types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t>;
    if (!visit_dtype(Integers{}, dtype, [&]<class T>() { *value.mutable_data<T>() = static_cast<T>(sqlite3_column_int64(row, i)); }))
      return invalid("Use of unsupported TensorFlow data type by 'SqlQueryConnection': {}.", name_of(dtype));
    return value;
  }

  Query query_;
  std::unique_ptr<sqlite3, Closing> connection_;
  std::unique_ptr<sqlite3_stmt, Closing> statement_;
  bool over_ = false;
};

}  // namespace

void add_sql_datasets(Registry& ops) {
  using Text = Number<std::string>;
  ops.add({"SqlDataset", "ExperimentalSqlDataset"}, [](Call& call, Text driver, Text source, Text query, Elements elements) -> Status {
    for (const PartialShape& shape : elements->shapes)
      if (!shape.known() || shape.rank() != 0) return invalid("Each element of `output_shapes_` must be a scalar.");
    if (*driver != "sqlite")
      return invalid("The database type, {}, is not supported by SqlDataset. The set of supported databases is: {{'sqlite'}}.", *driver);
    Dataset dataset;
    dataset.kind = "Sql";
    dataset.element = elements;
    dataset.open = [all = Query{*source, *query, elements->types}] { return read_ahead(std::make_unique<Rows>(all)); };
    return give(call, std::move(dataset));
  });
}

}  // namespace troupe
