// Shapes of element-wise ops, products and reductions.
#include <troupe/ops/builder/shapes.hpp>

#include <algorithm>

namespace troupe::build {
namespace {

Status like_first(ShapeCall& c) {
  c.set(0, c.in(0));
  return absl::OkStatus();
}

Status broadcast(ShapeCall& c) {
  TRY_ASSIGN(const Sizes out, broadcast_sizes(c.in(0), c.in(1)));
  c.set(0, out);
  return absl::OkStatus();
}

Status all_alike(ShapeCall& c) {
  Sizes out;
  for (int i = 0; i < c.inputs(); ++i) {
    TRY_ASSIGN(out, merge_sizes(out, c.in(i)));
  }
  c.set(0, out);
  return absl::OkStatus();
}

Status product(ShapeCall& c) {
  const Sizes a = c.in(0), b = c.in(1);
  TRY(want_rank(a, 2));
  TRY(want_rank(b, 2));
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  std::vector<std::int64_t> out{a ? (*a)[ta ? 1 : 0] : -1, b ? (*b)[tb ? 0 : 1] : -1};
  TRY(merge_dims(a ? (*a)[ta ? 0 : 1] : -1, b ? (*b)[tb ? 1 : 0] : -1).status());
  c.set(0, out);
  return absl::OkStatus();
}

Status batch_product(ShapeCall& c) {
  const Sizes a = c.in(0), b = c.in(1);
  if (!a || !b) return absl::OkStatus();
  if (a->size() < 2 || b->size() < 2) return invalid("Shape must be at least rank 2");
  const bool ta = c.attr<bool>("adj_x"), tb = c.attr<bool>("adj_y");
  const auto rows = a->end() - 2, columns = b->end() - 2;
  TRY(merge_dims(rows[ta ? 0 : 1], columns[tb ? 1 : 0]).status());
  TRY_ASSIGN(const Sizes batches, broadcast_sizes(std::vector(a->begin(), rows), std::vector(b->begin(), columns)));
  std::vector<std::int64_t> out = batches.value_or(std::vector<std::int64_t>());
  out.push_back(rows[ta ? 1 : 0]);
  out.push_back(columns[tb ? 0 : 1]);
  c.set(0, out);
  return absl::OkStatus();
}

Status reduction(ShapeCall& c) {
  const Sizes x = c.in(0), axes = c.numbers(1);
  const bool keep = c.attr<bool>("keep_dims");
  if (!x) return absl::OkStatus();
  if (!axes) {
    if (keep) c.set(0, std::vector<std::int64_t>(x->size(), -1));
    return absl::OkStatus();
  }
  std::vector<bool> reduced(x->size());
  for (std::int64_t axis : *axes) {
    TRY_ASSIGN(const int at, axis_of(axis, static_cast<int>(x->size())));
    reduced[static_cast<std::size_t>(at)] = true;
  }
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < x->size(); ++i)
    if (!reduced[i] || keep) out.push_back(reduced[i] ? 1 : (*x)[i]);
  c.set(0, out);
  return absl::OkStatus();
}

Status along_axis(ShapeCall& c) {
  const Sizes x = c.in(0), axis = c.numbers(1);
  if (!x || !axis || axis->size() != 1) return absl::OkStatus();
  TRY_ASSIGN(const int at, axis_of((*axis)[0], static_cast<int>(x->size())));
  std::vector<std::int64_t> out = *x;
  out.erase(out.begin() + at);
  c.set(0, out);
  return absl::OkStatus();
}

Status choice(ShapeCall& c) {
  TRY_ASSIGN(Sizes out, broadcast_sizes(c.in(1), c.in(2)));
  TRY_ASSIGN(out, broadcast_sizes(c.in(0), out));
  c.set(0, out);
  return absl::OkStatus();
}

Status old_choice(ShapeCall& c) {
  TRY_ASSIGN(const Sizes out, merge_sizes(c.in(1), c.in(2)));
  c.set(0, out);
  return absl::OkStatus();
}

Status range(ShapeCall& c) {
  const Sizes start = c.numbers(0), limit = c.numbers(1), delta = c.numbers(2);
  std::int64_t length = -1;
  if (start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1 && (*delta)[0] != 0) {
    const std::int64_t step = (*delta)[0], span = (*limit)[0] - (*start)[0];
    length = std::max<std::int64_t>(0, (span + step + (step > 0 ? -1 : 1)) / step);
  }
  c.set(0, std::vector{length});
  return absl::OkStatus();
}

/// Rows by segment: as many as the third input says, or as many as it takes.
Status segments(ShapeCall& c) {
  const Sizes data = c.in(0), ids = c.in(1);
  if (!data || !ids) return absl::OkStatus();
  if (ids->size() > data->size()) return invalid("Shape must be at least rank {} but is rank {}", ids->size(), data->size());
  TRY(merge_sizes(std::vector(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(ids->size())), ids).status());
  const Sizes count = c.inputs() > 2 ? c.numbers(2) : Sizes();
  std::vector<std::int64_t> out{count && count->size() == 1 ? (*count)[0] : -1};
  out.insert(out.end(), data->begin() + static_cast<std::ptrdiff_t>(ids->size()), data->end());
  c.set(0, out);
  return absl::OkStatus();
}

}  // namespace

void add_math_shapes(ShapeTable& table) {
  for (const char* op : {"Abs",           "Acos",      "Acosh",        "Asin",         "Asinh",       "Atan",         "Atanh",
                         "Ceil",          "Cos",       "Cosh",         "Erf",          "Erfc",        "Exp",          "Expm1",
                         "Floor",         "Inv",       "IsFinite",     "IsInf",        "IsNan",       "Lgamma",       "Digamma",
                         "Log",           "Log1p",     "LogicalNot",   "Neg",          "Reciprocal",  "Rint",         "Round",
                         "Rsqrt",         "Sigmoid",   "Sign",         "Sin",          "Sinh",        "Sqrt",         "Square",
                         "Tan",           "Tanh",      "Cast",         "Identity",     "Snapshot",    "StopGradient", "PreventGradient",
                         "CheckNumerics", "ZerosLike", "OnesLike",     "Invert",       "Relu",        "Relu6",        "LeakyRelu",
                         "Elu",           "Selu",      "Softplus",     "Softsign",     "Softmax",     "LogSoftmax",   "BiasAdd",
                         "Cumsum",        "Cumprod",   "LRN",          "Conj",         "ClipByValue", "InvGrad",      "ReciprocalGrad",
                         "RsqrtGrad",     "SqrtGrad",  "SigmoidGrad",  "TanhGrad",     "ReluGrad",    "Relu6Grad",    "LeakyReluGrad",
                         "EluGrad",       "SeluGrad",  "SoftplusGrad", "SoftsignGrad", "Reverse",     "ReverseV2"})
    table[op] = like_first;
  for (const char* op :
       {"Add",         "AddV2",      "Sub",       "Mul",         "MulNoNan", "Div",       "DivNoNan", "RealDiv",           "FloorDiv",
        "TruncateDiv", "FloorMod",   "Mod",       "TruncateMod", "Pow",      "Maximum",   "Minimum",  "SquaredDifference", "Atan2",
        "Xdivy",       "Xlogy",      "Equal",     "NotEqual",    "Less",     "LessEqual", "Greater",  "GreaterEqual",      "LogicalAnd",
        "LogicalOr",   "BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    table[op] = broadcast;
  for (const char* op : {"Sum", "Mean", "Prod", "Max", "Min", "All", "Any", "EuclideanNorm"}) table[op] = reduction;
  for (const char* op : {"ArgMax", "ArgMin"}) table[op] = along_axis;
  for (const char* op : {"BatchMatMul", "BatchMatMulV2"}) table[op] = batch_product;
  for (const char* op : {"UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin", "SegmentSum", "SegmentMean",
                         "SegmentProd", "SegmentMax", "SegmentMin"})
    table[op] = segments;
  table["AddN"] = all_alike;
  table["MatMul"] = product;
  table["Select"] = old_choice;
  table["SelectV2"] = choice;
  table["Range"] = range;
  table["L2Loss"] = [](ShapeCall& c) {
    c.set(0, std::vector<std::int64_t>{});
    return absl::OkStatus();
  };
}

}  // namespace troupe::build
