// The way back through a graph: from ys to xs, each op's gradient in turn.
#include <troupe/ops/builder/gradients.hpp>

#include <troupe/ops/builder/array.hpp>
#include <troupe/ops/builder/nn.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace troupe::build {
namespace {

const GradientTable& gradient_table() {
  static const GradientTable table = [] {
    GradientTable t;
    add_math_gradients(t);
    add_reduction_gradients(t);
    add_array_gradients(t);
    add_pick_gradients(t);
    add_nn_gradients(t);
    return t;
  }();
  return table;
}

/// Types through which gradients flow; resources do, for what they hold.
bool flows(DType type) {
  switch (type) {
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::c64:
    case DType::c128:
    case DType::resource: return true;
    default: return false;
  }
}

Grad aggregate(const std::vector<Grad>& parts) {
  if (parts.empty()) return {};
  if (parts.size() == 1) return parts[0];
  if (std::all_of(parts.begin(), parts.end(), [](const Grad& g) { return g.is_sparse(); })) {
    std::vector<Out> values, indices;
    for (const Grad& g : parts) {
      values.push_back(g.sparse().values);
      indices.push_back(cast(g.sparse().indices, parts[0].sparse().indices.dtype()));
    }
    return IndexedSlices{concat(values, 0), concat(indices, 0), parts[0].sparse().dense_shape};
  }
  std::vector<Out> dense;
  for (const Grad& g : parts) dense.push_back(g.dense());
  return add_n(dense);
}

/// Whether a gradient may be handed on as rows; all others want it whole.
bool takes_rows(const std::string& kind) { return kind == "Identity" || kind == "ReadVariableOp" || kind == "Cast"; }

class Way {
 public:
  Way(Builder& b, const std::vector<Out>& xs) : b_(b), between_(static_cast<std::size_t>(b.size())) {
    for (const Out& x : xs) {
      between_[static_cast<std::size_t>(x.node)] = true;
      wanted_.insert(x.node);
    }
    // Nodes stand in an order in which inputs come first, but for edges that lead back in a loop.
    for (int n = 0; n < b.size(); ++n)
      for (const Out& in : b.made(n).inputs)
        if (in.node < n && between_[static_cast<std::size_t>(in.node)] && flows(in.dtype())) between_[static_cast<std::size_t>(n)] = true;
  }

  void start(const Out& y, const Grad& grad) {
    grads_[{y.node, y.index}].push_back(grad);
    last_ = std::max(last_, y.node);
  }

  void walk() {
    for (int n = last_; n >= 0; --n)
      if (between_[static_cast<std::size_t>(n)]) visit(n);
  }

  Grad of(const Out& x) { return gathered(x.node, x.index); }

 private:
  Grad gathered(int node, int index) {
    auto found = grads_.find({node, index});
    if (found == grads_.end()) return {};
    if (found->second.size() > 1) found->second = {aggregate(found->second)};
    return found->second[0];
  }

  void visit(int n) {
    const Op op{&b_, n};
    bool any = false, onward = false;
    for (int i = 0; i < op.outputs(); ++i) any |= grads_.contains({n, i});
    for (int i = 0; i < op.inputs(); ++i) onward |= between_[static_cast<std::size_t>(op.input(i).node)] && flows(op.input(i).dtype());
    if (!any || !onward) {
      if (any && wanted_.contains(n))
        for (int i = 0; i < op.outputs(); ++i) gathered(n, i);
      return;
    }
    auto found = gradient_table().find(op.kind());
    if (found == gradient_table().end()) return b_.fail(unimplemented("No gradient defined for operation '{}' (op type: {})", op.name(), op.kind()));
    if (!found->second) return;  // nothing flows through it
    std::vector<Grad> dy;
    for (int i = 0; i < op.outputs(); ++i) {
      Grad g = gathered(n, i);
      dy.push_back(g.is_sparse() && !takes_rows(op.kind()) ? Grad(g.dense()) : g);
    }
    auto scope = b_.scope(op.name() + "_grad");
    Backward call(op, std::move(dy));
    found->second(call);
    hand_on(op, call.take());
  }

  void hand_on(const Op& op, const std::vector<Grad>& dx) {
    for (int i = 0; i < op.inputs(); ++i) {
      const Grad& g = dx[static_cast<std::size_t>(i)];
      const Out in = op.input(i);
      if (g.none() || !between_[static_cast<std::size_t>(in.node)] || !flows(in.dtype())) continue;
      if (!g.is_sparse() && in.dtype() != DType::resource) b_.refine(g.dense(), in.shape());
      grads_[{in.node, in.index}].push_back(g);
    }
  }

  Builder& b_;
  std::vector<bool> between_;
  std::set<int> wanted_;
  std::map<std::pair<int, int>, std::vector<Grad>> grads_;
  int last_ = -1;
};

Builder* builder_of(const std::vector<Out>& ys, const std::vector<Out>& xs) {
  Builder* b = nullptr;
  for (const auto* list : {&ys, &xs})
    for (const Out& out : *list) {
      if (!out.valid() || (b && out.builder != b)) {
        if (Builder* any = b ? b : out.builder) any->fail(invalid("gradients() was given an empty output, or those of two builders"));
        return nullptr;
      }
      b = out.builder;
    }
  return b;
}

}  // namespace

Out Grad::dense() const {
  if (none()) return {};
  if (!is_sparse()) return std::get<Out>(value_);
  const auto& [values, indices, dense_shape] = sparse();
  Builder& b = *values.builder;
  return b.op("UnsortedSegmentSum", {values, indices, element(dense_shape, 0)});
}

Out Backward::dy(int i) {
  Grad& g = dy_[static_cast<std::size_t>(i)];
  if (g.none()) g = zeros_like(y(i));
  return g.dense();
}

Attrs Backward::attrs(std::initializer_list<const char*> names) const {
  Attrs out;
  for (const char* name : names)
    if (auto found = b.made(op.node).def.attr().find(name); found != b.made(op.node).def.attr().end()) out.emplace_back(name, Attr(found->second));
  return out;
}

std::vector<Grad> gradients(const std::vector<Out>& ys, const std::vector<Out>& xs, const std::vector<Out>& grad_ys) {
  std::vector<Grad> out(xs.size());
  Builder* b = builder_of(ys, xs);
  if (!b) return out;
  auto scope = b->scope("gradients");
  Way way(*b, xs);
  for (std::size_t i = 0; i < ys.size(); ++i) {
    if (i < grad_ys.size() && grad_ys[i].valid()) {
      way.start(ys[i], grad_ys[i]);
      continue;
    }
    if (!flows(ys[i].dtype()) || ys[i].dtype() == DType::resource) {
      b->fail(invalid("gradients() of '{}', which is {}", ys[i].name(), name_of(ys[i].dtype())));
      return out;
    }
    const Out sizes = shape_of(ys[i]);
    const std::string name = b->unique_name(fmt::format("grad_ys_{}", i));
    way.start(ys[i], fill(sizes, b->number(1, ys[i].dtype(), name + "/Const/"), name + "/"));
  }
  way.walk();
  for (std::size_t i = 0; i < xs.size(); ++i) out[i] = way.of(xs[i]);
  return out;
}

std::vector<Grad> gradients(const Out& y, const std::vector<Variable>& xs) {
  std::vector<Out> handles;
  for (const Variable& v : xs) handles.push_back(v.handle);
  return gradients({y}, handles);
}

std::vector<Grad> clip_by_global_norm(Builder& b, const std::vector<Grad>& grads, double limit) {
  auto scope = b.scope("clip_by_global_norm");
  std::vector<Out> halves;
  for (const Grad& g : grads)
    if (!g.none()) halves.push_back(l2_loss(g.is_sparse() ? g.sparse().values : g.dense()));
  if (halves.empty()) return grads;
  const Out norm = sqrt(add_n(halves) * 2.0);
  // An infinite or undefined norm makes all of it undefined rather than hide it.
  const Out scale = minimum(reciprocal(norm), b.number(1.0 / limit, norm.dtype())) * limit + (norm - norm);
  std::vector<Grad> out;
  for (const Grad& g : grads) {
    if (g.none()) out.emplace_back();
    else if (g.is_sparse()) out.emplace_back(IndexedSlices{g.sparse().values * scale, g.sparse().indices, g.sparse().dense_shape});
    else out.emplace_back(g.dense() * scale);
  }
  return out;
}

}  // namespace troupe::build
