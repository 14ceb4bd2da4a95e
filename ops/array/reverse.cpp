// Dimensions backwards, as a whole or up to a length of each batch, and shifted round.
#include <troupe/ops/array/tables.hpp>
#include <troupe/ops/array/walk.hpp>
#include <troupe/ops/kernel.hpp>

namespace troupe {
namespace {

void reverse(Call& call, const Tensor& x, const std::vector<bool>& backwards) {
  const Dims steps = steps_of(x.shape());
  Walk walk;
  for (std::size_t d = 0; d < steps.size(); ++d) {
    const std::int64_t n = x.dim(static_cast<int>(d));
    if (backwards[d]) walk.from += (n - 1) * steps[d];
    walk.add(n, backwards[d] ? -steps[d] : steps[d], steps[d]);
  }
  copy_along(walk, x, call.alloc(0, x.dtype(), x.shape()));
}

Status check_rank(const Tensor& x) { return x.rank() <= 8 ? absl::OkStatus() : unimplemented("reverse is not implemented for tensors of rank > 8."); }

Status reverse_dims(Call& call, const Tensor& x, const Tensor& dims) {
  if (x.rank() == 0) {
    call.set(0, x);
    return absl::OkStatus();
  }
  if (dims.rank() != 1) return invalid("'dims' must be 1-dimension, not {}", dims.rank());
  if (dims.size() != x.rank())
    return invalid("'dims' must have the same number of values as 'input' has dimensions. 'input' has {}'dims' has {} values", x.rank(), dims.size());
  TRY(check_rank(x));
  if (x.dim(0) == 0) return invalid("Invalid input first dimension. Found 0.");
  const auto values = dims.values<bool>();
  reverse(call, x, std::vector<bool>(values.begin(), values.end()));
  return absl::OkStatus();
}

Status reverse_axes(Call& call, const Tensor& x, const Tensor& axes) {
  if (x.rank() == 0 || x.size() == 0) {
    call.set(0, x);
    return absl::OkStatus();
  }
  if (axes.rank() != 1) return invalid("'dims' must be 1-dimension, not {}", axes.rank());
  std::vector<bool> backwards(static_cast<std::size_t>(x.rank()), false);
  const Dims given = as_dims(axes);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::int64_t d = given[i] < 0 ? given[i] + x.rank() : given[i];
    if (d < 0 || d >= x.rank()) return invalid("'axis'[{}] = {} is out of valid range [0, {}", i, given[i], x.rank() - 1);
    if (backwards[static_cast<std::size_t>(d)]) return invalid("axis {} specified more than once.", d);
    backwards[static_cast<std::size_t>(d)] = true;
  }
  TRY(check_rank(x));
  reverse(call, x, backwards);
  return absl::OkStatus();
}

Status check_sequences(const Tensor& x, const Tensor& lengths, std::int64_t batch_dim, std::int64_t seq_dim) {
  if (lengths.rank() != 1) return invalid("seq_lengths must be 1-dim, not {}", lengths.rank());
  if (batch_dim == seq_dim) return invalid("batch_dim == seq_dim == {}", seq_dim);
  if (seq_dim >= x.rank()) return invalid("seq_dim must be < input rank ( {} vs. {})", seq_dim, x.rank());
  if (batch_dim >= x.rank()) return invalid("batch_dim must be < input rank ( {} vs. {})", batch_dim, x.rank());
  if (lengths.size() != x.dim(static_cast<int>(batch_dim)))
    return invalid("Length of seq_lengths != input.dims({}), ({} vs. {})", batch_dim, lengths.size(), x.dim(static_cast<int>(batch_dim)));
  const Dims given = as_dims(lengths);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0) return invalid("seq_lens({}) < 0", i);
    if (given[i] > x.dim(static_cast<int>(seq_dim))) return invalid("seq_lens({}) > input.dims({})", i, seq_dim);
  }
  return absl::OkStatus();
}

Status reverse_sequence(Call& call, const Tensor& x, const Tensor& lengths, std::int64_t batch_dim, std::int64_t seq_dim) {
  if (batch_dim < 0) return invalid("Invalid batch_dim {}", batch_dim);
  if (seq_dim < 0) return invalid("Invalid seq_dim {}", seq_dim);
  TRY(check_sequences(x, lengths, batch_dim, seq_dim));
  const Dims given = as_dims(lengths), steps = steps_of(x.shape());
  const auto batch = static_cast<std::size_t>(batch_dim), sequence = static_cast<std::size_t>(seq_dim);
  Tensor& out = call.alloc(0, x.dtype(), x.shape());
  for (std::size_t b = 0; b < given.size(); ++b)
    for (const bool backwards : {true, false}) {
      Walk walk;
      walk.from = walk.to = static_cast<std::int64_t>(b) * steps[batch];
      for (std::size_t d = 0; d < steps.size(); ++d) {
        if (d == sequence && backwards) {
          walk.from += (given[b] - 1) * steps[d];
          walk.add(given[b], -steps[d], steps[d]);
        } else if (d == sequence) {
          walk.from += given[b] * steps[d];
          walk.to += given[b] * steps[d];
          walk.add(x.dim(static_cast<int>(d)) - given[b], steps[d], steps[d]);
        } else {
          walk.add(d == batch ? 1 : x.dim(static_cast<int>(d)), steps[d], steps[d]);
        }
      }
      copy_along(walk, x, out);
    }
  return absl::OkStatus();
}

Status roll(Call& call, const Tensor& x, const Tensor& shift, const Tensor& axis) {
  if (x.rank() < 1) return invalid("input must be 1-D or higher");
  if (shift.rank() > 1) return invalid("shift must be a scalar or a 1-D vector. Found: {}", shift.shape());
  if (axis.rank() > 1) return invalid("axis must be a scalar or a 1-D vector. Found: {}", axis.shape());
  if (shift.shape() != axis.shape()) return invalid("shift and axis must have the same size");
  const Dims by = as_dims(shift), axes = as_dims(axis), steps = steps_of(x.shape());
  Dims total(steps.size(), 0);
  int last = -1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t d = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
    if (d < 0 || d >= x.rank()) return invalid("axis {} is out of range", d);
    const std::int64_t n = std::max<std::int64_t>(x.dim(static_cast<int>(d)), 1);
    auto& t = total[static_cast<std::size_t>(d)];
    t = ((t + by[i] % n) % n + n) % n;
    if (t != 0) last = std::max(last, static_cast<int>(d));
  }
  Tensor& out = call.alloc(0, x.dtype(), x.shape());
  if (x.size() == 0) return absl::OkStatus();
  Tables places;
  places.run = x.shape().elements(last + 1, x.rank());
  for (int d = 0; d <= last; ++d) {
    const std::int64_t n = x.dim(d), t = total[static_cast<std::size_t>(d)];
    auto& table = places.tables.emplace_back();
    for (std::int64_t i = 0; i < n; ++i) table.push_back((i + n - t) % n * steps[static_cast<std::size_t>(d)]);
  }
  by_storage(out.dtype(), [&]<class S>() {
    const S* from = x.data<S>();
    S* to = out.mutable_data<S>();
    places.for_each([&](std::int64_t at) { to = std::copy_n(from + at, places.run, to); });
  });
  return absl::OkStatus();
}

}  // namespace

void add_reverse(Registry& ops) {
  const ForTypes types{"T", dtypes::plain_strings()};
  add_for(ops, "Reverse", {types}, [](Call& call, Any x, Any dims) { return reverse_dims(call, x.tensor, dims.tensor); });
  add_for(ops, "ReverseV2", {types}, [](Call& call, Any x, Any axis) { return reverse_axes(call, x.tensor, axis.tensor); });
  add_for(ops, "ReverseSequence", {types},
          [](Call& call, Any x, Any lengths, Attr<"batch_dim", std::int64_t> batch_dim, Attr<"seq_dim", std::int64_t> seq_dim) {
            return reverse_sequence(call, x.tensor, lengths.tensor, batch_dim, seq_dim);
          });
  add_for(ops, "Roll", {{"T", dtypes::all()}},
          [](Call& call, Any x, Any shift, Any axis) { return roll(call, x.tensor, shift.tensor, axis.tensor); });
}

}  // namespace troupe
