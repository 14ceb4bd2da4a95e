// A function run on every row of its arguments at once, its results stacked.
#include <troupe/ops/array/storage.hpp>
#include <troupe/ops/data/dataset.hpp>
#include <troupe/ops/step.hpp>

namespace troupe {
namespace {

/// Calls under way; the last one to end makes the outputs.
struct RowCalls {
  std::vector<Tuple> results;
  std::size_t waiting = 0;
  Status status;
};

Status stack(Call& call, const ElementFacts& facts, const std::vector<Tuple>& results) {
  for (const Tuple& row : results) {
    if (row.size() != facts.types.size()) return invalid("A function gave {} results where {} are wanted", row.size(), facts.types.size());
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (row[c].dtype() != facts.types[c])
        return invalid("output {} has type {} but {} was expected", c, name_of(row[c].dtype()), name_of(facts.types[c]));
      if (!facts.shapes[c].compatible_with(row[c].shape()))
        return invalid("Mismatch in function retval shape, {}, and expected output shape, {}.", row[c].shape(), facts.shapes[c]);
      if (row[c].shape() != results[0][c].shape())
        return invalid("Mismatch in function retval shape, {}, and expected output shape, {}.", row[c].shape(), results[0][c].shape());
    }
  }
  for (std::size_t c = 0; c < facts.types.size(); ++c) {
    std::vector<Tensor> rows;
    for (const Tuple& row : results) rows.push_back(row[c]);
    Dims sizes;
    for (int d = 0; rows.empty() && d < facts.shapes[c].rank(); ++d) sizes.push_back(std::max<std::int64_t>(facts.shapes[c].dim(d), 0));
    call.set(static_cast<int>(c), stack_rows(facts.types[c], rows.empty() ? Shape(sizes) : rows[0].shape(), rows));
  }
  return absl::OkStatus();
}

Status check_arguments(const List& arguments) {
  if (arguments.size() == 0) return invalid("Must have at least one input to map over.");
  for (int i = 0; i < arguments.size(); ++i) {
    if (arguments[i].rank() == 0) return invalid("All inputs must have rank at least 1. Input {} has a rank of 0", i);
    if (arguments[i].dim(0) != arguments[0].dim(0))
      return invalid(
          "All inputs must have the same dimension 0. Input {} has leading dimension {}, while all previous inputs have leading dimension {}", i,
          arguments[i].dim(0), arguments[0].dim(0));
  }
  return absl::OkStatus();
}

}  // namespace

void add_row_functions(Registry& ops) {
  ops.add("MapDefun", [](Call& call, Step& step, List arguments, List captured, Attr<"f", wire::NameAttrList> f, Elements elements, Done done) {
    if (Status fits = check_arguments(arguments); !fits.ok()) return done(std::move(fits));
    const std::int64_t n = arguments[0].dim(0);
    for (std::size_t i = 0; n == 0 && i < elements->shapes.size(); ++i)
      if (!elements->shapes[i].known()) return done(internal("Missing {}-th output from {}", i, call.node().name));
    if (n == 0) return done(stack(call, elements.facts, {}));
    auto calls = std::make_shared<RowCalls>();
    calls->results.resize(static_cast<std::size_t>(n));
    calls->waiting = calls->results.size();
    auto told = std::make_shared<Done>(std::move(done));
    for (std::int64_t i = 0; i < n; ++i) {
      Tuple row;
      for (int a = 0; a < arguments.size(); ++a) row.push_back(row_of(arguments[a], i));
      for (int c = 0; c < captured.size(); ++c) row.push_back(captured[c]);
      step.call_function(*f, std::move(row), [calls, told, i, &call, &facts = elements.facts](StatusOr<Tuple> results) {
        if (results.ok()) calls->results[static_cast<std::size_t>(i)] = *std::move(results);
        else calls->status.Update(results.status());
        if (--calls->waiting > 0) return;
        (*told)(calls->status.ok() ? stack(call, facts, calls->results) : calls->status);
      });
    }
  });
}

}  // namespace troupe
