// Ops that shape, cut, join and pick, for graphs that are built. Names at the end are optional.
#pragma once

#include <troupe/ops/builder/math.hpp>

namespace troupe::build {

Out identity(const Out& x, const Name& name = {});
Out stop_gradient(const Out& x, const Name& name = {});
/// A constant where the shape is known; int32 or int64 by `type`.
Out shape_of(const Out& x, DType type = DType::i32, const Name& name = {});
Out rank_of(const Out& x, const Name& name = {});
Out size_of(const Out& x, DType type = DType::i32, const Name& name = {});
Out zeros_like(const Out& x, const Name& name = {});
Out ones_like(const Out& x, const Name& name = {});
Out fill(const Out& sizes, const Out& value, const Name& name = {});
Out range(const Out& start, const Out& limit, const Out& delta, const Name& name = {});
Out one_hot(const Out& indices, int depth, DType type = DType::f32, const Name& name = {});

/// One size may be -1.
Out reshape(const Out& x, const std::vector<std::int32_t>& sizes, const Name& name = {});
Out reshape(const Out& x, const Out& sizes, const Name& name = {});
Out expand_dims(const Out& x, int axis, const Name& name = {});
Out squeeze(const Out& x, const std::vector<std::int64_t>& axes = {}, const Name& name = {});
/// Without an order the axes are reversed; the rank must be known then.
Out transpose(const Out& x, const std::vector<std::int32_t>& order = {}, const Name& name = {});
Out tile(const Out& x, const std::vector<std::int32_t>& times, const Name& name = {});
/// Before and after, for each dimension.
Out pad(const Out& x, const std::vector<std::pair<std::int32_t, std::int32_t>>& by, const Name& name = {});

Out concat(const std::vector<Out>& xs, int axis, const Name& name = {});
Out stack(const std::vector<Out>& xs, int axis = 0, const Name& name = {});
std::vector<Out> unstack(const Out& x, int count, int axis = 0, const Name& name = {});
std::vector<Out> split(const Out& x, int count, int axis, const Name& name = {});
/// A size of -1 reaches to the end.
Out slice(const Out& x, const std::vector<std::int32_t>& begin, const std::vector<std::int32_t>& size, const Name& name = {});
/// x[begin:end:stride] in the leading dimensions.
Out strided_slice(const Out& x, const std::vector<std::int32_t>& begin, const std::vector<std::int32_t>& end,
                  const std::vector<std::int32_t>& strides = {}, const Name& name = {});
/// x[i] of a vector, as a scalar.
Out element(const Out& x, int i, const Name& name = {});
Out gather(const Out& params, const Out& indices, int axis = 0, const Name& name = {});

}  // namespace troupe::build
