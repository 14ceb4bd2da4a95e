// Programs of row functions: where results are held, which inputs they serve, and the run itself.
#include <troupe/ops/row_program.hpp>

#include <troupe/ops/parallel.hpp>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <array>

namespace troupe {

namespace {

using Kind = RowProgram::Operand::Kind;

/// What a block of a result takes at most: a few of them stay in the first cache.
constexpr std::int64_t held_bytes = 4096;
/// What a row function takes for an element, roughly.
constexpr double element_ns = 0.3;

bool is_single(const Tensor& t) { return t.size() == 1; }

}  // namespace

RowProgram::RowProgram(std::vector<Instruction> instructions, std::vector<Tensor> constants, int inputs)
    : constants_(std::move(constants)), types_(static_cast<std::size_t>(inputs), DType::invalid) {
  std::int64_t largest = 1;
  for (const Instruction& i : instructions) {
    strict_ |= !i.form.broadcasts;
    for (const Operand* o : {&i.x, &i.y})
      if (o == &i.x || i.form.inputs == 2) {
        if (o->kind == Kind::input) types_[static_cast<std::size_t>(o->index)] = i.form.in;
        if (o->kind == Kind::constant) usable_ &= i.form.broadcasts;
      }
    steps_.push_back({i, static_cast<std::int64_t>(size_of(i.form.in)), static_cast<std::int64_t>(size_of(i.form.out))});
    largest = std::max({largest, steps_.back().in_size, steps_.back().out_size});
  }
  block_ = held_bytes / largest;
  know_constants();
  place_results();
}

void RowProgram::know_constants() {
  for (const Tensor& c : constants_) {
    constants_at_.push_back({c.data<char>(), is_single(c)});
    if (is_single(c)) {
      if (c.rank() > single_.rank()) single_ = c.shape();
    } else {
      usable_ &= !has_shape_ || shape_ == c.shape();
      shape_ = c.shape();
      has_shape_ = true;
    }
  }
}

/// A result may go where an operand was that is not needed any more, if their elements are of one size.
void RowProgram::place_results() {
  std::vector<int> last_use(steps_.size(), -1);
  const auto each_result = [this](std::size_t i, const auto& act) {
    const Instruction& what = steps_[i].what;
    if (what.x.kind == Kind::result) act(what.x.index);
    if (what.form.inputs == 2 && what.y.kind == Kind::result && !(what.x.kind == Kind::result && what.x.index == what.y.index)) act(what.y.index);
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) each_result(i, [&](int r) { last_use[static_cast<std::size_t>(r)] = static_cast<int>(i); });
  std::vector<int> free;
  int places = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::vector<int> freed;
    each_result(i, [&](int r) {
      if (last_use[static_cast<std::size_t>(r)] == static_cast<int>(i)) freed.push_back(steps_[static_cast<std::size_t>(r)].place);
    });
    const bool in_place = steps_[i].in_size == steps_[i].out_size;
    if (in_place) free.insert(free.end(), freed.begin(), freed.end());
    if (free.empty()) free.push_back(places++);
    steps_[i].place = free.back();
    free.pop_back();
    if (!in_place) free.insert(free.end(), freed.begin(), freed.end());
  }
  usable_ &= places <= most_held;
}

const Shape* RowProgram::output_shape(const Call& call) const {
  const Shape* shape = has_shape_ ? &shape_ : nullptr;
  const Shape* single = &single_;
  for (int i = 0; i < call.inputs(); ++i) {
    const Tensor& t = call.in(i);
    if (t.dtype() != types_[static_cast<std::size_t>(i)]) return nullptr;
    if (is_single(t)) {
      if (t.rank() > single->rank()) single = &t.shape();
    } else if (shape == nullptr) {
      shape = &t.shape();
    } else if (*shape != t.shape()) {
      return nullptr;
    }
  }
  if (strict_)
    for (int i = 0; i < call.inputs(); ++i)
      if (call.in(i).shape() != (shape ? *shape : *single)) return nullptr;
  if (shape == nullptr) return single;
  return single->rank() <= shape->rank() ? shape : nullptr;
}

Tensor RowProgram::make_output(Call& call, const Shape& shape) const {
  const DType type = steps_.back().what.form.out;
  for (int i = 0; i < call.inputs(); ++i) {
    const Tensor& x = call.in(i);
    if (x.unique() && size_of(x.dtype()) == size_of(type) && x.size() == shape.elements()) return x.reshaped(shape).viewed_as(type);
  }
  return Tensor(type, shape);
}

bool RowProgram::run(Call& call) const {
  const Shape* shape = output_shape(call);
  if (shape == nullptr) return false;
  const std::int64_t count = shape->elements();
  boost::container::small_vector<Source, 8> inputs;
  for (int i = 0; i < call.inputs(); ++i) inputs.push_back({call.in(i).data<char>(), count > 1 && is_single(call.in(i))});
  call.set(0, make_output(call, *shape));
  char* out = call.out(0).mutable_data<char>();
  const double ns = element_ns * static_cast<double>(steps_.size());
  const auto part = [&](std::int64_t first, std::int64_t last) { run_range(inputs, out, first, last); };
  if (static_cast<double>(count) * ns < 50'000) part(0, count);
  else in_parallel(count, ns, Cut::fine, part);
  return true;
}

void RowProgram::run_range(std::span<const Source> inputs, char* out, std::int64_t first, std::int64_t last) const {
  alignas(64) std::array<std::array<char, held_bytes>, most_held> held;
  std::array<bool, most_held> repeats{};
  for (std::int64_t i = first; i < last; i += block_) {
    const std::int64_t n = std::min(block_, last - i);
    const auto find = [&](const Operand& o, std::int64_t size) -> Source {
      if (o.kind == Kind::result) {
        const auto place = static_cast<std::size_t>(steps_[static_cast<std::size_t>(o.index)].place);
        return {held[place].data(), repeats[place]};
      }
      const Source& source = o.kind == Kind::input ? inputs[static_cast<std::size_t>(o.index)] : constants_at_[static_cast<std::size_t>(o.index)];
      return {source.repeats ? source.data : source.data + i * size, source.repeats};
    };
    for (const Step& step : steps_) {
      const RowForm& form = step.what.form;
      const Source x = find(step.what.x, step.in_size);
      const Source y = form.inputs == 2 ? find(step.what.y, step.in_size) : Source{nullptr, true};
      const bool single = x.repeats && y.repeats && n > 1;
      char* to = held[static_cast<std::size_t>(step.place)].data();
      if (&step == &steps_.back()) to = out + i * step.out_size;
      else repeats[static_cast<std::size_t>(step.place)] = single;
      form.function(form.context, x.data, x.repeats, y.data, y.repeats, to, single ? 1 : n);
    }
  }
}

}  // namespace troupe
