// Edit distances between the sequences of two sparse tensors.
#include <troupe/ops/array/shapes.hpp>
#include <troupe/ops/array/sparse_groups.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

#include <limits>
#include <numeric>

namespace troupe {
namespace {

struct Sequences {
  const Tensor &indices, &values, &shape;
};

Status check_parts(const Sequences& hypothesis, const Sequences& truth) {
  for (auto [s, name] : {std::pair{&hypothesis, "hypothesis"}, {&truth, "truth"}})
    if (s->indices.rank() != 2) return invalid("{}_indices should be a matrix, but got shape: {}", name, s->indices.shape());
  for (auto [s, name] : {std::pair{&hypothesis, "hypothesis"}, {&truth, "truth"}})
    if (s->values.rank() != 1) return invalid("{}_values should be a vector, but got shape: {}", name, s->values.shape());
  for (auto [s, name] : {std::pair{&hypothesis, "hypothesis"}, {&truth, "truth"}})
    if (s->shape.rank() != 1) return invalid("{}_shape should be a vector, but got shape: {}", name, s->shape.shape());
  for (auto [s, name] : {std::pair{&hypothesis, "hypothesis"}, {&truth, "truth"}}) {
    if (s->values.size() != s->indices.dim(0))
      return invalid("Expected {}_values.NumElements == #rows({}_indices), their shapes are: {} and {}", name, name, s->values.shape(),
                     s->indices.shape());
    if (s->shape.size() != s->indices.dim(1))
      return invalid("Expected {}_shape.NumElements == #cols({}_indices), their shapes are: {} and {}", name, name, s->shape.shape(),
                     s->indices.shape());
  }
  if (truth.shape.size() < 2) return invalid("Input SparseTensors must have rank at least 2, but truth_shape rank is: {}", truth.shape.size());
  if (truth.shape.size() != hypothesis.shape.size())
    return invalid("Expected truth and hypothesis to have matching ranks, but saw truth_shape rank: {} and hypothesis_shape rank: {}",
                   truth.shape.size(), hypothesis.shape.size());
  return absl::OkStatus();
}

template <class T>
std::int64_t levenshtein(std::span<const T> s, std::span<const T> t) {
  if (t.size() > s.size()) std::swap(s, t);
  std::vector<std::int64_t> row(t.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < s.size(); ++i) {
    std::int64_t diagonal = std::exchange(row[0], static_cast<std::int64_t>(i) + 1);
    for (std::size_t j = 0; j < t.size(); ++j) {
      const std::int64_t replaced = diagonal + (s[i] == t[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

template <class T>
std::span<const T> sequence(const Sequences& s, const SparseGroups& group) {
  return s.values.values<T>().subspan(static_cast<std::size_t>(group.first()), static_cast<std::size_t>(group.last() - group.first()));
}

template <class T>
Status distances(const Sequences& hypothesis, const Sequences& truth, bool normalize, Tensor& out) {
  const auto rank = static_cast<std::size_t>(truth.shape.size());
  const Dims steps = steps_of(out.shape());
  SparseGroups h(hypothesis.indices, rank), t(truth.indices, rank);
  while (!h.done() || !t.done()) {
    const int order = compare_groups(t, h);
    const auto key = order <= 0 ? t.key() : h.key();
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < key.size(); ++d) at += static_cast<std::uint64_t>(key[d]) * static_cast<std::uint64_t>(steps[d]);
    if (at >= static_cast<std::uint64_t>(out.size()))
      return internal("Got an inner product {} which would require writing to outside of the buffer for the output tensor (max elements {})",
                      static_cast<std::int64_t>(at), out.size());
    float& distance = out.mutable_data<float>()[at];
    if (order == 0) {
      const auto whole = sequence<T>(truth, t);
      distance = static_cast<float>(levenshtein(whole, sequence<T>(hypothesis, h)));
      if (normalize) distance /= static_cast<float>(whole.size());
    } else if (order > 0) {
      distance = normalize ? std::numeric_limits<float>::infinity() : static_cast<float>(h.last() - h.first());
    } else {
      distance = normalize ? 1.0F : static_cast<float>(t.last() - t.first());
    }
    if (order <= 0) t.next();
    if (order >= 0) h.next();
  }
  return absl::OkStatus();
}

Status edit_distance(Call& call, const Sequences& hypothesis, const Sequences& truth, bool normalize) {
  TRY(check_parts(hypothesis, truth));
  Dims dims, h = as_dims(hypothesis.shape), t = as_dims(truth.shape);
  for (std::size_t d = 0; d + 1 < h.size(); ++d) dims.push_back(std::max(h[d], t[d]));
  TRY(make_shape(hypothesis.shape).status());
  TRY(make_shape(truth.shape).status());
  TRY_ASSIGN(const Shape shape, make_shape(std::span<const std::int64_t>(dims.data(), dims.size())));
  call.set(0, Tensor::zeros(DType::f32, shape));
  Status status;
  visit_dtype(joined<numbers, types<bool, std::string>>{}, truth.values.dtype(),
              [&]<class T>() { status = distances<T>(hypothesis, truth, normalize, call.out(0)); });
  return status;
}

}  // namespace

void add_edit_distance(Registry& ops) {
  add_for(ops, "EditDistance", {{"T", dtypes::plain_strings()}},
          [](Call& call, Any hi, Any hv, Any hs, Any ti, Any tv, Any ts, Attr<"normalize", bool> normalize) {
            return edit_distance(call, {hi.tensor, hv.tensor, hs.tensor}, {ti.tensor, tv.tensor, ts.tensor}, normalize);
          });
}

}  // namespace troupe
