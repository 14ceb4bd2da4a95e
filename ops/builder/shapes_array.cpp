// Shapes of ops that move elements about.
#include <troupe/ops/builder/shapes.hpp>

#include <algorithm>

namespace troupe::build {
namespace {

using Many = std::vector<std::int64_t>;

Status reshape(ShapeCall& c) {
  const Sizes x = c.in(0);
  Sizes wanted = c.shape_said_by(1);
  if (!wanted) return absl::OkStatus();
  const Sizes literal = c.numbers(1);
  std::int64_t have = x ? 1 : -1;
  for (std::int64_t d : x ? *x : Many()) have = d < 0 || have < 0 ? -1 : have * d;
  std::int64_t known = 1, open = 0;
  for (std::int64_t d : *wanted) d < 0 ? ++open : known *= d;
  if (literal && open > 1) return invalid("Only one input size may be -1, not {}", open);
  if (have >= 0 && open == 0 && known != have)
    return invalid("Cannot reshape a tensor with {} elements to shape {} ({} elements)", have, to_text(wanted), known);
  if (have >= 0 && open == 1 && literal && known > 0) {
    if (have % known != 0) return invalid("Dimension size must be evenly divisible by {} but is {}", known, have);
    std::replace(wanted->begin(), wanted->end(), std::int64_t{-1}, have / known);
  }
  c.set(0, wanted);
  return absl::OkStatus();
}

Status transpose(ShapeCall& c) {
  const Sizes x = c.in(0), order = c.numbers(1);
  if (!x) return absl::OkStatus();
  Many out(x->size(), -1);
  if (order) {
    if (order->size() != x->size()) return invalid("Dimension must be {} but is {}", x->size(), order->size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      TRY_ASSIGN(const int from, axis_of((*order)[i], static_cast<int>(x->size())));
      out[i] = (*x)[static_cast<std::size_t>(from)];
    }
  }
  c.set(0, out);
  return absl::OkStatus();
}

Status expand(ShapeCall& c) {
  Sizes x = c.in(0);
  const Sizes axis = c.numbers(1);
  if (!x || !axis || axis->size() != 1) return absl::OkStatus();
  TRY_ASSIGN(const int at, axis_of((*axis)[0], static_cast<int>(x->size()) + 1));
  x->insert(x->begin() + at, 1);
  c.set(0, x);
  return absl::OkStatus();
}

Status squeeze(ShapeCall& c) {
  const Sizes x = c.in(0);
  if (!x) return absl::OkStatus();
  const auto axes = c.attr<Many>("squeeze_dims");
  std::vector<bool> gone(x->size());
  for (std::int64_t axis : axes) {
    TRY_ASSIGN(const int at, axis_of(axis, static_cast<int>(x->size())));
    const auto i = static_cast<std::size_t>(at);
    if ((*x)[i] > 1) return invalid("Can not squeeze dim[{}], expected a dimension of 1, got {}", at, (*x)[i]);
    gone[i] = true;
  }
  Many out;
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (axes.empty() && (*x)[i] < 0) return absl::OkStatus();
    if (axes.empty() ? (*x)[i] != 1 : !gone[i]) out.push_back((*x)[i]);
  }
  c.set(0, out);
  return absl::OkStatus();
}

Status concat(ShapeCall& c) {
  const int count = c.inputs() - 1;
  const Sizes axis = c.numbers(count);
  Sizes out;
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    Sizes x = c.in(i);
    if (!x || !axis || axis->size() != 1) return absl::OkStatus();
    TRY_ASSIGN(const int at, axis_of((*axis)[0], static_cast<int>(x->size())));
    auto& along = (*x)[static_cast<std::size_t>(at)];
    sum = sum < 0 || along < 0 ? -1 : sum + along;
    along = -1;
    TRY_ASSIGN(out, merge_sizes(out, x));
    if (i + 1 == count) (*out)[static_cast<std::size_t>(at)] = sum;
  }
  c.set(0, out);
  return absl::OkStatus();
}

Status pack(ShapeCall& c) {
  Sizes out;
  for (int i = 0; i < c.inputs(); ++i) {
    TRY_ASSIGN(out, merge_sizes(out, c.in(i)));
  }
  if (!out) return absl::OkStatus();
  TRY_ASSIGN(const int at, axis_of(c.attr<std::int64_t>("axis"), static_cast<int>(out->size()) + 1));
  out->insert(out->begin() + at, c.inputs());
  c.set(0, out);
  return absl::OkStatus();
}

Status unpack(ShapeCall& c) {
  Sizes x = c.in(0);
  if (!x) return absl::OkStatus();
  TRY_ASSIGN(const int at, axis_of(c.attr<std::int64_t>("axis"), static_cast<int>(x->size())));
  const auto count = c.attr<std::int64_t>("num");
  TRY(merge_dims((*x)[static_cast<std::size_t>(at)], count).status());
  x->erase(x->begin() + at);
  for (int i = 0; i < count; ++i) c.set(i, x);
  return absl::OkStatus();
}

Status split(ShapeCall& c) {
  const Sizes axis = c.numbers(0);
  Sizes x = c.in(1);
  if (!x || !axis || axis->size() != 1) return absl::OkStatus();
  const auto count = c.attr<std::int64_t>("num_split");
  TRY_ASSIGN(const int at, axis_of((*axis)[0], static_cast<int>(x->size())));
  auto& along = (*x)[static_cast<std::size_t>(at)];
  if (along >= 0 && along % count != 0) return invalid("Dimension size must be evenly divisible by {} but is {}", count, along);
  if (along >= 0) along /= count;
  for (int i = 0; i < count; ++i) c.set(i, x);
  return absl::OkStatus();
}

Status split_uneven(ShapeCall& c) {
  Sizes x = c.in(0);
  const Sizes sizes = c.numbers(1), axis = c.numbers(2);
  if (!x || !axis || axis->size() != 1) return absl::OkStatus();
  TRY_ASSIGN(const int at, axis_of((*axis)[0], static_cast<int>(x->size())));
  const auto count = c.attr<std::int64_t>("num_split");
  for (int i = 0; i < count; ++i) {
    (*x)[static_cast<std::size_t>(at)] = sizes && i < static_cast<int>(sizes->size()) ? (*sizes)[static_cast<std::size_t>(i)] : -1;
    c.set(i, x);
  }
  return absl::OkStatus();
}

Status slice(ShapeCall& c) {
  const Sizes x = c.in(0), begin = c.numbers(1), size = c.numbers(2);
  if (!x) return absl::OkStatus();
  Many out(x->size(), -1);
  if ((begin && begin->size() != x->size()) || (size && size->size() != x->size()))
    return invalid("Slice needs a begin and a size for each of {} dimensions", x->size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (size && (*size)[i] >= 0) out[i] = (*size)[i];
    else if (size && begin && (*x)[i] >= 0) out[i] = (*x)[i] - (*begin)[i];
    if (begin && size && (*x)[i] >= 0 && ((*begin)[i] < 0 || (*begin)[i] + out[i] > (*x)[i]))
      return invalid("Expected begin[{}] and size[{}] in [0, {}], but got {} and {}", i, i, (*x)[i], (*begin)[i], out[i]);
  }
  c.set(0, out);
  return absl::OkStatus();
}

/// Sizes of plain ranges; what uses an ellipsis or new axes stays unknown.
Status strided_slice(ShapeCall& c) {
  const Sizes x = c.in(0), begin = c.numbers(1), end = c.numbers(2), stride = c.numbers(3);
  if (!x || !begin || !end || !stride || c.attr<std::int64_t>("ellipsis_mask") || c.attr<std::int64_t>("new_axis_mask")) return absl::OkStatus();
  if (begin->size() > x->size()) return invalid("Index out of range using input dim {}; input has only {} dims", begin->size() - 1, x->size());
  const auto no_begin = c.attr<std::int64_t>("begin_mask"), no_end = c.attr<std::int64_t>("end_mask"),
             shrink = c.attr<std::int64_t>("shrink_axis_mask");
  Many out;
  for (std::size_t i = 0; i < x->size(); ++i) {
    const std::int64_t bit = std::int64_t{1} << i, n = (*x)[i];
    if (i < begin->size() && (shrink & bit)) continue;
    if (i >= begin->size() || n < 0) {
      out.push_back(n);
      if (i < begin->size() && !((no_begin & bit) && (no_end & bit) && (*stride)[i] == 1)) out.back() = -1;
      continue;
    }
    const std::int64_t s = (*stride)[i];
    if (s == 0) return invalid("strides[{}] must be non-zero", i);
    const std::int64_t low = s > 0 ? 0 : -1, high = s > 0 ? n : n - 1;
    auto place = [&](std::int64_t v) { return std::clamp(v < 0 ? v + n : v, low, high); };
    const std::int64_t from = (no_begin & bit) ? (s > 0 ? low : high) : place((*begin)[i]);
    const std::int64_t to = (no_end & bit) ? (s > 0 ? high : low) : place((*end)[i]);
    const std::int64_t span = to - from;
    out.push_back(span == 0 || (span < 0) != (s < 0) ? 0 : span / s + (span % s != 0));
  }
  c.set(0, out);
  return absl::OkStatus();
}

Sizes gathered(const Sizes& params, const Sizes& indices, int axis) {
  if (!params || !indices) return std::nullopt;
  Many out(params->begin(), params->begin() + axis);
  out.insert(out.end(), indices->begin(), indices->end());
  out.insert(out.end(), params->begin() + axis + 1, params->end());
  return out;
}

Status gather(ShapeCall& c) {
  const Sizes params = c.in(0);
  const Sizes axis = c.inputs() > 2 ? c.numbers(2) : Many{0};
  if (!params || !axis || axis->size() != 1 || (c.made().def.attr().contains("batch_dims") && c.attr<std::int64_t>("batch_dims")))
    return absl::OkStatus();
  TRY_ASSIGN(const int at, axis_of((*axis)[0], static_cast<int>(params->size())));
  c.set(0, gathered(params, c.in(1), at));
  return absl::OkStatus();
}

Status pad(ShapeCall& c) {
  const Sizes x = c.in(0);
  const Tensor* by = c.value(1);
  if (!x) return absl::OkStatus();
  Many out(x->size(), -1);
  if (by && by->rank() == 2 && by->dim(1) == 2) {
    if (by->dim(0) != static_cast<std::int64_t>(x->size())) return invalid("Shape must be rank {} but is rank {}", by->dim(0), x->size());
    auto at = [&](std::size_t i) { return by->dtype() == DType::i32 ? by->data<std::int32_t>()[i] : by->data<std::int64_t>()[i]; };
    for (std::size_t i = 0; i < out.size(); ++i)
      if ((*x)[i] >= 0) out[i] = (*x)[i] + at(2 * i) + at(2 * i + 1);
  }
  c.set(0, out);
  return absl::OkStatus();
}

Status tile(ShapeCall& c) {
  Sizes x = c.in(0);
  const Sizes times = c.shape_said_by(1);
  if (!x) return absl::OkStatus();
  if (times && times->size() != x->size()) return invalid("Tile takes {} multiples, got {}", x->size(), times->size());
  for (std::size_t i = 0; i < x->size(); ++i) (*x)[i] = times && (*times)[i] >= 0 && (*x)[i] >= 0 ? (*x)[i] * (*times)[i] : -1;
  c.set(0, x);
  return absl::OkStatus();
}

Status one_hot(ShapeCall& c) {
  Sizes indices = c.in(0);
  const Sizes depth = c.numbers(1);
  if (!indices) return absl::OkStatus();
  const auto axis = c.attr<std::int64_t>("axis");
  TRY_ASSIGN(const int at, axis_of(axis, static_cast<int>(indices->size()) + 1));
  indices->insert(indices->begin() + at, depth && depth->size() == 1 ? (*depth)[0] : -1);
  c.set(0, indices);
  return absl::OkStatus();
}

}  // namespace

void add_array_shapes(ShapeTable& table) {
  auto said_by = [](int input) {
    return [input](ShapeCall& c) {
      c.set(0, c.shape_said_by(input));
      return absl::OkStatus();
    };
  };
  for (const char* op : {"Fill", "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt"}) table[op] = said_by(0);
  for (const char* op : {"StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"}) table[op] = said_by(0);
  table["BroadcastTo"] = said_by(1);
  table["Reshape"] = reshape;
  table["Transpose"] = transpose;
  table["ExpandDims"] = expand;
  table["Squeeze"] = squeeze;
  table["ConcatV2"] = concat;
  table["Pack"] = pack;
  table["Unpack"] = unpack;
  table["Split"] = split;
  table["SplitV"] = split_uneven;
  table["Slice"] = slice;
  table["StridedSlice"] = strided_slice;
  table["Gather"] = table["GatherV2"] = gather;
  for (const char* op : {"Pad", "PadV2", "MirrorPad"}) table[op] = pad;
  table["Tile"] = tile;
  table["OneHot"] = one_hot;
  table["Shape"] = [](ShapeCall& c) {
    const Sizes x = c.in(0);
    c.set(0, Many{x ? static_cast<std::int64_t>(x->size()) : -1});
    return absl::OkStatus();
  };
  for (const char* op : {"Size", "Rank"})
    table[op] = [](ShapeCall& c) {
      c.set(0, Many{});
      return absl::OkStatus();
    };
}

}  // namespace troupe::build
