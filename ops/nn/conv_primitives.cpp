// Makes and keeps primitives, a set for each thread: making one takes longer than many convolutions.
#include <troupe/ops/nn/conv_primitives.hpp>

#include <troupe/ops/nn/gemm.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace troupe::onednn {

namespace {

using dnnl::memory;
using Key = std::array<std::int64_t, 26>;
using Tag = memory::format_tag;

// A program that meets more sizes than this in one thread begins anew.
constexpr std::size_t most_primitives = 512;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}
dnnl::stream& stream() {
  thread_local dnnl::stream here(engine());
  return here;
}

Key key_of(const Convolution& c, Direction direction) {
  Key key{static_cast<std::int64_t>(direction), c.batch, c.in_channels, c.out_channels, c.groups};
  std::size_t at = 5;
  for (const Window& w : c.window)
    for (std::int64_t n : {w.input, w.filter, w.stride, w.dilation, w.before, w.after, w.output}) key[at++] = n;
  return key;
}
struct HashKey {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 14695981039346656037u;
    for (std::int64_t n : key) hash = (hash ^ static_cast<std::uint64_t>(n)) * 1099511628211u;
    return hash ^ hash >> 29;
  }
};

/// The sizes in oneDNN's words. A first spatial dimension that does nothing is left out: not all of its ways are made for three.
struct Sizes {
  memory::dims input, filter, output, strides, dilations, before, after;
  Tag plain, plain_filter;

  explicit Sizes(const Convolution& c) : input{c.batch, c.in_channels}, output{c.batch, c.out_channels} {
    if (c.groups > 1) filter = {c.groups, c.out_channels / c.groups, c.group_channels()};
    else filter = {c.out_channels, c.in_channels};
    const Window& z = c.window[0];
    const bool flat = z.input == 1 && z.filter == 1 && z.output == 1 && z.before == 0;
    for (std::size_t i = flat ? 1 : 0; i < 3; ++i) {
      const Window& w = c.window[i];
      input.push_back(w.input);
      filter.push_back(w.filter);
      output.push_back(w.output);
      strides.push_back(w.stride);
      dilations.push_back(w.dilation - 1);
      before.push_back(w.before);
      after.push_back(std::max<std::int64_t>(0, (w.output - 1) * w.stride + w.reach() - w.input - w.before));
    }
    plain = flat ? Tag::nhwc : Tag::ndhwc;
    plain_filter = flat ? c.groups > 1 ? Tag::hwigo : Tag::hwio : c.groups > 1 ? Tag::dhwigo : Tag::dhwio;
  }
};

memory::desc plain_of(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

template <class Description>
bool is_quick(const Description& description) {
  const std::string_view name = description.impl_info_str();
  return !name.starts_with("ref") && !name.starts_with("simple");
}

/// Null where oneDNN would take the slow way.
std::shared_ptr<const Primitive> make(const Convolution& c, Direction direction) {
  const Sizes s(c);
  auto made = std::make_shared<Primitive>();
  made->input = plain_of(s.input, s.plain);
  made->output = plain_of(s.output, s.plain);
  made->plain_filter = plain_of(s.filter, s.plain_filter);
  const memory::desc any(s.filter, memory::data_type::f32, Tag::any);
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
  dnnl::primitive_attr own_memory;  // the library's own would belong to the thread that made the primitive
  own_memory.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto finish = [&](const auto& description, const memory::desc& filter) {
    if (!is_quick(description)) return false;
    made->filter = filter;
    made->scratchpad = description.scratchpad_desc();
    return true;
  };
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, made->input, any, made->output, s.strides, s.dilations, s.before, s.after}, own_memory,
      engine());
  if (direction == Direction::forward) {
    if (!finish(forward, forward.weights_desc())) return nullptr;
    made->run = dnnl::convolution_forward(forward);
  } else if (direction == Direction::input_gradient) {
    const dnnl::convolution_backward_data::primitive_desc back({algorithm, made->input, any, made->output, s.strides, s.dilations, s.before, s.after},
                                                               own_memory, engine(), forward);
    if (!finish(back, back.weights_desc())) return nullptr;
    made->run = dnnl::convolution_backward_data(back);
  } else {
    const dnnl::convolution_backward_weights::primitive_desc back(
        {algorithm, made->input, any, made->output, s.strides, s.dilations, s.before, s.after}, own_memory, engine(), forward);
    if (!finish(back, back.diff_weights_desc())) return nullptr;
    made->run = dnnl::convolution_backward_weights(back);
  }
  if (made->reorders()) {
    if (direction == Direction::filter_gradient) made->to_plain = dnnl::reorder({engine(), made->filter, engine(), made->plain_filter});
    else made->to_blocked = dnnl::reorder({engine(), made->plain_filter, engine(), made->filter});
  }
  return made;
}

memory over(const memory::desc& desc, const float* data) { return {desc, engine(), const_cast<float*>(data)}; }

void reorder(const dnnl::primitive& how, const memory::desc& from, const float* in, const memory::desc& to, float* out) {
  how.execute(stream(), {{DNNL_ARG_FROM, over(from, in)}, {DNNL_ARG_TO, over(to, out)}});
}

}  // namespace

const float* Primitive::blocked(const float* plain, std::unique_ptr<Scratch>& memory) const {
  if (!reorders()) return plain;
  memory = std::make_unique<Scratch>(filter.get_size());
  reorder(to_blocked, plain_filter, plain, filter, memory->floats());
  return memory->floats();
}

void Primitive::operator()(Direction direction, const float* in, const float* weights, const float* out) const {
  const Scratch scratch(scratchpad.get_size());
  const bool forward = direction == Direction::forward, back = direction == Direction::input_gradient;
  run.execute(stream(), {{back ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, over(input, in)},
                         {forward || back ? DNNL_ARG_WEIGHTS : DNNL_ARG_DIFF_WEIGHTS, over(filter, weights)},
                         {forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, over(output, out)},
                         {DNNL_ARG_SCRATCHPAD, over(scratchpad, scratch.floats())}});
}

void Primitive::gradient(const float* in, const float* out, float* plain) const {
  if (!reorders()) return (*this)(Direction::filter_gradient, in, plain, out);
  const Scratch own(filter.get_size());
  (*this)(Direction::filter_gradient, in, own.floats(), out);
  reorder(to_plain, filter, own.floats(), plain_filter, plain);
}

std::shared_ptr<const Primitive> primitive_for(const Convolution& conv, Direction direction) {
  thread_local std::unordered_map<Key, std::shared_ptr<const Primitive>, HashKey> kept;
  keep_to_this_thread();
  const Key key = key_of(conv, direction);
  if (auto found = kept.find(key); found != kept.end()) return found->second;
  if (kept.size() >= most_primitives) kept.clear();
  std::shared_ptr<const Primitive> made;
  try {
    made = make(conv, direction);
  } catch (const dnnl::error&) {  // sizes that it does not know how to serve
  }
  return kept[key] = std::move(made);
}

}  // namespace troupe::onednn
