// Sums of products named by subscripts, brought down to batches of matrix products.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/nn/gemm.hpp>
#include <troupe/ops/nn/options.hpp>
#include <troupe/ops/nn/wide.hpp>

#include <algorithm>
#include <concepts>
#include <map>
#include <string>
#include <vector>

namespace troupe {

namespace {

/// Subscripts are numbers: letters are their codes, the dimensions of an ellipsis are negative, counted from the right (-1 is its last).
using Labels = std::vector<int>;

/// The equation as text parts.
struct Equation {
  std::string text;
  std::vector<std::string> inputs;
  std::string output;

  static StatusOr<Equation> make(Binding& binding);
};

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (std::size_t next; (next = text.find(by, at)) != std::string::npos; at = next + by.size()) parts.push_back(text.substr(at, next - at));
  parts.push_back(text.substr(at));
  return parts;
}

Status check_subscripts(const std::string& subscripts) {
  bool ellipsis = false;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    if (subscripts[i] != '.') continue;
    if (ellipsis || subscripts.compare(i, 3, "...") != 0)
      return invalid("Expected at most one ellipsis (...), but found {} periods (.) in the input subscript: {}",
                     std::count(subscripts.begin(), subscripts.end(), '.'), subscripts);
    ellipsis = true;
    i += 2;
  }
  return absl::OkStatus();
}

StatusOr<Equation> Equation::make(Binding& binding) {
  Equation e;
  TRY_ASSIGN(e.text, binding.attr<std::string>("equation"));
  const auto sides = split(e.text, "->");
  if (sides.size() != 2) return invalid("Expecting exactly one '->' in einsum equation: {}", e.text);
  e.inputs = split(sides[0], ",");
  e.output = sides[1];
  if (e.inputs.size() != 1 && e.inputs.size() != 2)
    return invalid("Expecting 1 or 2 input subscripts in equation '{}' but got: {}", e.text, e.inputs.size());
  for (const auto& s : e.inputs) TRY(check_subscripts(s));
  TRY(check_subscripts(e.output));
  return e;
}

/// Subscripts with the ellipsis written out as so many dimensions.
Labels expand(const std::string& subscripts, int ellipsis_rank) {
  Labels labels;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    if (subscripts[i] != '.') {
      labels.push_back(subscripts[i]);
      continue;
    }
    for (int k = ellipsis_rank; k > 0; --k) labels.push_back(-k);
    i += 2;
  }
  return labels;
}

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

/// An operand as sizes and strides by label; a repeated label walks the diagonal.
template <class T>
struct Operand {
  const T* data;
  Labels labels;  // each once
  std::map<int, std::int64_t> size, stride;
};

using Sizes = std::map<int, std::int64_t>;

/// What sums are added up in: integers wrap around, short floats are rounded once.
template <class T>
struct SumOf {
  using type = Wide<T>;
};
template <std::signed_integral T>
struct SumOf<T> {
  using type = std::make_unsigned_t<T>;
};
template <class T>
using Sum = typename SumOf<T>::type;

template <class T>
StatusOr<Operand<T>> operand(const Tensor& tensor, const Tensor& first, const std::string& subscripts, int index, Sizes& sizes) {
  const bool ellipsis = subscripts.find('.') != std::string::npos;
  const int named = static_cast<int>(subscripts.size()) - (ellipsis ? 3 : 0), extra = tensor.rank() - named;
  if (!ellipsis && extra != 0) return invalid("Expected input {} to have rank {} but got: {}", index, named, tensor.rank());
  if (extra < 0) return invalid("Expected input {} to have rank at least {} but got: {}", index, named, tensor.rank());
  const Labels all = expand(subscripts, extra);
  Operand<T> op{tensor.data<T>(), {}, {}, {}};
  for (int i = 0; i < tensor.rank(); ++i) {
    const int label = all[static_cast<std::size_t>(i)];
    const std::int64_t n = tensor.dim(i), stride = tensor.shape().elements(i + 1, tensor.rank());
    auto known = sizes.find(label);
    const bool broadcasts = label < 0 && known != sizes.end() && (n == 1 || known->second == 1);
    if (label < 0 && known != sizes.end() && known->second != n && !broadcasts)
      return invalid("Invalid broadcasting dimensions: {} vs. {}", first.shape(), tensor.shape());
    if (known != sizes.end() && known->second != n && !broadcasts)
      return invalid("Expected dimension {} at axis {} of the input shaped {} but got dimension {}", known->second, i, tensor.shape(), n);
    if (known == sizes.end() || (broadcasts && known->second == 1)) sizes[label] = n;
    if (!has(op.labels, label)) op.labels.push_back(label);
    op.size[label] = n;
    op.stride[label] += stride;
  }
  return op;
}

std::int64_t count(const Labels& labels, const Sizes& sizes) {
  std::int64_t n = 1;
  for (int label : labels) n *= sizes.at(label);
  return n;
}

/// Calls visit(offset of the first, step, count) for every run of the last label, over all combinations of those before it.
template <class T, class Visit>
void walk(const Operand<T>& op, const Labels& labels, const Sizes& sizes, std::int64_t offset, std::size_t depth, Visit&& visit) {
  if (labels.empty()) return visit(offset, 0, 1);
  const int label = labels[depth];
  const auto found = op.stride.find(label);
  const std::int64_t step = found == op.stride.end() || op.size.at(label) == 1 ? 0 : found->second, n = sizes.at(label);
  if (depth + 1 == labels.size()) return visit(offset, step, n);
  for (std::int64_t i = 0; i < n; ++i) walk(op, labels, sizes, offset + i * step, depth + 1, visit);
}

/// Elements in some order of labels: those of the operand itself where they lie so, otherwise a copy.
template <class T>
struct Dense {
  std::vector<T> own;
  const T* data;
};

template <class T>
bool lies_so(const Operand<T>& op, const Labels& labels) {
  std::int64_t step = 1;
  for (std::size_t i = labels.size(); i-- > 0;) {
    const std::int64_t n = op.size.at(labels[i]);
    if (n != 1 && op.stride.at(labels[i]) != step) return false;
    step *= n;
  }
  return true;
}

/// Which of an operand's matrices each of the batch takes: those of a dimension that broadcasts are taken again.
class BatchPlaces {
 public:
  template <class T>
  BatchPlaces(const Operand<T>& op, const Labels& batch, const Sizes& sizes) {
    std::int64_t step = 1;
    for (std::size_t i = batch.size(); i-- > 0; step *= op.size.at(batch[i]))
      dims_.push_back({sizes.at(batch[i]), op.size.at(batch[i]) == 1 ? 0 : step});
  }
  std::int64_t operator[](std::int64_t i) const {
    std::int64_t place = 0;
    for (const auto& [size, step] : dims_) {
      place += i % size * step;
      i /= size;
    }
    return place;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> dims_;  // size and step, innermost first
};

/// The operand in the order of `labels`, summed over `summed`.
template <class T>
Dense<T> arranged(const Operand<T>& op, const Labels& labels, const Labels& summed) {
  if (summed.empty() && lies_so(op, labels)) return {{}, op.data};
  Dense<T> dense{std::vector<T>(static_cast<std::size_t>(count(labels, op.size))), nullptr};
  T* out = dense.own.data();
  dense.data = out;
  walk(op, labels, op.size, 0, 0, [&](std::int64_t at, std::int64_t step, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i, at += step, ++out) {
      if (summed.empty()) {
        *out = op.data[at];
        continue;
      }
      Sum<T> sum(0);
      walk(op, summed, op.size, at, 0, [&](std::int64_t inner, std::int64_t inner_step, std::int64_t terms) {
        for (std::int64_t k = 0; k < terms; ++k, inner += inner_step) sum += static_cast<Sum<T>>(op.data[inner]);
      });
      *out = static_cast<T>(sum);
    }
  });
  return dense;
}

/// Which role a label plays between two operands and the output.
struct Roles {
  Labels batch, contract, left, right, left_summed, right_summed;

  Roles(const Labels& a, const Labels& b, const Labels& output) {
    for (int label : a) {
      const bool shared = has(b, label), kept = has(output, label);
      (shared && kept ? batch : shared ? contract : kept ? left : left_summed).push_back(label);
    }
    for (int label : b)
      if (!has(a, label)) (has(output, label) ? right : right_summed).push_back(label);
  }
};

Labels joined_labels(std::initializer_list<const Labels*> parts) {
  Labels all;
  for (const Labels* p : parts) all.insert(all.end(), p->begin(), p->end());
  return all;
}

/// Writes a dense array with labels `from` to an output with labels `to`, which may repeat one (the diagonal; the rest is zero).
template <class T>
void store(const T* values, const Labels& from, const Labels& to, const Sizes& sizes, T* out) {
  std::map<int, std::int64_t> stride;
  std::int64_t step = 1, total = 1;
  for (std::size_t i = to.size(); i-- > 0;) {
    stride[to[i]] += step;
    step *= sizes.at(to[i]);
  }
  for (int label : to) total *= sizes.at(label);
  std::fill_n(out, total, T(0));
  const Operand<T> target{out, from, sizes, stride};
  walk(target, from, sizes, 0, 0, [&](std::int64_t at, std::int64_t by, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i, at += by) out[at] = *values++;
  });
}

template <class T>
Status einsum(Call& call, const List& inputs, const Equation& e) {
  if (inputs.size() != static_cast<int>(e.inputs.size()))
    return invalid("Expected {} inputs for equation {} but got: {}", e.inputs.size(), e.text, inputs.size());
  Sizes sizes;
  std::vector<Operand<T>> operands;
  for (int i = 0; i < inputs.size(); ++i) {
    TRY_ASSIGN(auto op, operand<T>(inputs[i], inputs[0], e.inputs[static_cast<std::size_t>(i)], i, sizes));
    operands.push_back(std::move(op));
  }
  int ellipsis = 0;
  for (const auto& [label, n] : sizes) ellipsis = std::max(ellipsis, -label);
  if (ellipsis > 0 && e.output.find('.') == std::string::npos)
    return invalid("Output contains {} broadcasting dimension(s) but no ellipsis (...) was found in the output subscripts.", ellipsis);
  const Labels output = expand(e.output, ellipsis);
  Shape shape;
  for (int label : output) {
    if (!sizes.contains(label))
      return invalid("Einsum output subscripts for equation '{}' has label '{}' which is not present in the input subscripts", e.text,
                     static_cast<char>(label));
    shape.add_dim(sizes[label]);
  }
  TRY(Shape::checked(shape.dims()).status());
  T* out = call.alloc<T>(0, shape);
  if (shape.elements() == 0) return absl::OkStatus();
  if (operands.size() == 1) {
    Labels kept, summed;
    for (int label : operands[0].labels) (has(output, label) ? kept : summed).push_back(label);
    store(arranged(operands[0], kept, summed).data, kept, output, sizes, out);
    return absl::OkStatus();
  }
  const Roles r(operands[0].labels, operands[1].labels, output);
  // An operand may lie the other way round; the product takes it so.
  const Labels left_turned = joined_labels({&r.batch, &r.contract, &r.left}), right_turned = joined_labels({&r.batch, &r.right, &r.contract});
  const Operand<T>&x = operands[0], &y = operands[1];
  const bool turn_left = r.left_summed.empty() && lies_so(x, left_turned), turn_right = r.right_summed.empty() && lies_so(y, right_turned);
  const auto a = arranged(x, turn_left ? left_turned : joined_labels({&r.batch, &r.left, &r.contract}), r.left_summed);
  const auto b = arranged(y, turn_right ? right_turned : joined_labels({&r.batch, &r.contract, &r.right}), r.right_summed);
  const GemmSizes g{count(r.left, sizes), count(r.contract, sizes), count(r.right, sizes)};
  const BatchPlaces batch_a(x, r.batch, sizes), batch_b(y, r.batch, sizes);
  const Labels product = joined_labels({&r.batch, &r.left, &r.right});
  std::vector<T> apart(product == output ? 0 : static_cast<std::size_t>(count(product, sizes)));
  T* products = product == output ? out : apart.data();
  for (std::int64_t i = 0, batches = count(r.batch, sizes); i < batches; ++i)
    gemm(g, a.data + batch_a[i] * g.rows * g.inner, turn_left ? Side::transposed : Side::plain, b.data + batch_b[i] * g.inner * g.columns,
         turn_right ? Side::transposed : Side::plain, products + i * g.elements());
  if (product != output) store<T>(products, product, output, sizes, out);
  return absl::OkStatus();
}

}  // namespace

void add_einsum(Registry& ops) {
  ops.add("Einsum", types<half, bfloat16, float, double, std::int32_t, std::int64_t, complex64, complex128>{},
          []<class T>(Call& call, List inputs, Gives<T>, const Equation& equation) { return einsum<T>(call, inputs, equation); });
  ops.cost({"Einsum"}, 100);
}

}  // namespace troupe
