// Watches of a debugger.
#include <troupe/actors/plan/watches.hpp>

#include <troupe/ops/definitions.hpp>
#include <troupe/ops/kernel.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace troupe {
namespace {

struct Watch {
  std::vector<std::string> ops, urls;
  bool tolerant = false;
};

struct Watches {
  std::map<std::string, Watch> by_tensor;          // "node:slot"
  std::vector<std::string> other_ops, other_urls;  // of all tensors without a watch of their own
};

StatusOr<Watches> read(const wire::DebugOptions& options) {
  Watches watches;
  for (const auto& asked : options.debug_tensor_watch_opts()) {
    Watch watch{{asked.debug_ops().begin(), asked.debug_ops().end()},
                {asked.debug_urls().begin(), asked.debug_urls().end()},
                asked.tolerate_debug_op_creation_failures()};
    if (asked.node_name() == "*") {
      if (asked.output_slot() != -1)
        return failed_precondition("output_slot is expected to be -1 for wildcard node name (\"*\"), but got {}", asked.output_slot());
      watches.other_ops = std::move(watch.ops);
      watches.other_urls = std::move(watch.urls);
      continue;
    }
    if (asked.output_slot() < 0)
      return failed_precondition("A negative output_slot in DebugTensorWatch is valid only for the wildcard node name (\"*\"), but got node name {}",
                                 asked.node_name());
    watches.by_tensor[fmt::format("{}:{}", asked.node_name(), asked.output_slot())] = std::move(watch);
  }
  return watches;
}

/// "DebugNumericSummary(lower_bound=-1.0; gated_grpc=true)" taken apart.
struct Spec {
  std::string op;
  std::map<std::string, std::string> attrs;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

StatusOr<Spec> parse(const std::string& text) {
  const auto open = text.find('('), close = text.find(')');
  if (open == std::string::npos && close == std::string::npos) return Spec{text, {}};
  if (open == std::string::npos || close != text.size() - 1) return invalid("Malformed debug op name \"{}\"", text);
  Spec spec{text.substr(0, open), {}};
  for (std::string_view rest = std::string_view(text).substr(open + 1, close - open - 1); !rest.empty();) {
    const auto end = std::min(rest.find(';'), rest.size());
    const auto item = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (item.empty()) continue;
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) return invalid("Malformed attributes in debug op name \"{}\"", text);
    if (!spec.attrs.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
      return invalid("Encountered duplicate attribute key for debug op name \"{}\"", text);
  }
  return spec;
}

template <class T>
bool number_from(const std::string& text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Gives the attributes that a spec names the values that it gives as text.
Status customize(wire::NodeDef& def, const wire::OpDef& op, Spec spec) {
  for (const auto& attr : op.attr()) {
    auto given = spec.attrs.find(attr.name());
    if (given == spec.attrs.end()) continue;
    auto& value = (*def.mutable_attr())[attr.name()];
    const std::string text = given->second;
    spec.attrs.erase(given);
    bool good = true;
    if (attr.type() == "string") value.set_s(text);
    else if (attr.type() == "float") {
      float number = 0;
      if ((good = number_from(text, number))) value.set_f(number);
    } else if (attr.type() == "int") {
      std::int64_t number = 0;
      if ((good = number_from(text, number))) value.set_i(number);
    } else if (attr.type() == "bool") {
      std::string lower = text;
      std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
      const bool yes = lower == "true" || lower == "t" || lower == "yes" || lower == "y" || lower == "1";
      good = yes || lower == "false" || lower == "f" || lower == "no" || lower == "n" || lower == "0";
      if (good) value.set_b(yes);
    } else {
      return invalid("Unsupported type of custom attribute for debug ops: {}", attr.type());
    }
    if (!good) return invalid("Invalid value string for {}-type attribute {}of debug node {}: \"{}\"", attr.type(), attr.name(), def.name(), text);
  }
  if (spec.attrs.empty()) return absl::OkStatus();
  std::vector<std::string> unknown;
  for (const auto& [name, value] : spec.attrs) unknown.push_back(name);
  return invalid("{} attribute key(s) were not valid for debug node {}: {}", unknown.size(), def.name(), fmt::join(unknown, ", "));
}

bool is_merge(const Node& node) { return node.kind() == "Merge" || node.kind() == "RefMerge" || node.kind() == "_XlaMerge"; }

/// One tensor on its way to be watched.
class Insertion {
 public:
  Insertion(Graph& graph, Edge tensor, std::string name, const std::string& device)
      : graph_(graph), tensor_(tensor), name_(std::move(name)), device_(device), type_(graph.node(tensor.node).signature.outputs[slot()]) {}

  Status run(const Watch& watch, const std::vector<std::vector<int>>& consumers) {
    std::vector<Spec> specs;
    if (Status status = add_copy(watch, specs); !status.ok())
      return failed_precondition("Failed to create Copy/CopyHost node for tensor {}, due to: {}", name_, text_of(status));
    std::vector<int> debuggers;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      auto made = add_debugger(specs[i], i, watch.urls);
      if (made.ok()) {
        debuggers.push_back(*made);
        continue;
      }
      if (!watch.tolerant)
        return failed_precondition("Failed to create debug node {} for tensor {}, due to: {}", watch.ops[i], name_, text_of(made.status()));
      spdlog::info("Tolerating failure to create debug node: tensor name = {}; debug op name = {}", name_, watch.ops[i]);
    }
    for (int consumer : consumers[static_cast<std::size_t>(tensor_.node)]) redirect(graph_.node(consumer), debuggers);
    return absl::OkStatus();
  }

 private:
  std::size_t slot() const { return static_cast<std::size_t>(tensor_.output); }

  Status add_copy(const Watch& watch, std::vector<Spec>& specs) {
    const std::string& flow = graph_.node(tensor_.node).kind();
    const bool in_host_memory = type_ == DType::resource || (without_ref(type_) == DType::i32 && (flow == "Enter" || flow == "Exit"));
    wire::NodeDef def;
    def.set_name(fmt::format("__copy_{}_{}", graph_.node(tensor_.node).name(), tensor_.output));
    def.set_op(in_host_memory ? "CopyHost" : "Copy");
    (*def.mutable_attr())["T"].set_type(static_cast<wire::DataType>(without_ref(type_)));
    auto& list = *(*def.mutable_attr())["debug_ops_spec"].mutable_list();
    for (const auto& op : watch.ops) {
      TRY_ASSIGN(Spec spec, parse(op));
      const auto gated = spec.attrs.find("gated_grpc");
      for (const auto& url : watch.urls)
        list.add_s(fmt::format("{};{};{}", spec.op, url, gated != spec.attrs.end() && gated->second == "true" ? 1 : 0));
      specs.push_back(std::move(spec));
    }
    TRY_ASSIGN(copy_, graph_.add(std::move(def), {tensor_}, {}, device_));
    return absl::OkStatus();
  }

  StatusOr<int> add_debugger(const Spec& spec, std::size_t number, const std::vector<std::string>& urls) {
    const wire::OpDef* op = find_op(spec.op);
    const auto not_made = [&](const char* what) { return invalid("Failed to {} for debug op {} on watched tensor {}", what, spec.op, name_); };
    if (!op || op->input_arg_size() != 1) return not_made("create node definition");
    wire::NodeDef def;
    def.set_name(fmt::format("__dbg_{}_{}_{}", name_, number, spec.op));
    def.set_op(spec.op);
    auto& attrs = *def.mutable_attr();
    attrs["T"].set_type(static_cast<wire::DataType>(without_ref(type_)));
    attrs["tensor_name"].set_s(name_);
    attrs["device_name"].set_s(device_);
    attrs["debug_urls"].mutable_list();
    for (const auto& url : urls) attrs["debug_urls"].mutable_list()->add_s(url);
    for (const auto& [name, value] : attrs)
      if (std::none_of(op->attr().begin(), op->attr().end(), [&](const auto& a) { return a.name() == name; }))
        return not_made("create node definition");
    TRY(customize(def, *op, spec));
    fill_defaults(&def, *op);
    auto signature = resolve_signature(def, *op);
    if (!signature.ok()) return not_made("create node definition");
    wire::NodeDef placed = def;
    placed.set_device(device_);
    if (const auto kernel = all_kernels().bind(placed, *op, *signature); !kernel.ok())
      return kernel.status().code() == Code::kUnimplemented ? not_made("find kernel definition") : kernel.status();
    // A client's node may not have such a name.
    Node node;
    node.op = op;
    node.signature = *std::move(signature);
    node.def = std::move(def);
    node.inputs = {Edge{copy_, 0}};
    node.device = device_;
    return graph_.add_checked(std::move(node));
  }

  /// A reference stays one: who has it reads the tensor itself, after it was looked at.
  void redirect(Node& consumer, const std::vector<int>& debuggers) {
    bool reads = false;
    for (Edge& e : consumer.inputs) {
      if (e != tensor_) continue;
      reads = true;
      if (!is_ref(type_)) e = Edge{copy_, 0};
    }
    if (reads && !is_merge(consumer))
      for (int debugger : debuggers) consumer.controls.push_back(debugger);
  }

  Graph& graph_;
  Edge tensor_;
  std::string name_;
  const std::string& device_;
  DType type_;
  int copy_ = -1;
};

}  // namespace

Status insert_watches(Graph& graph, const wire::DebugOptions& options, const std::string& device) {
  TRY_ASSIGN(const Watches watches, read(options));
  if (watches.by_tensor.empty()) return absl::OkStatus();
  const Watch others{watches.other_ops, watches.other_urls, false};
  const auto consumers = graph.consumers();
  const int given = graph.size();
  for (int i = 0; i < given; ++i)
    for (int slot = 0; slot < static_cast<int>(graph.node(i).signature.outputs.size()); ++slot) {
      std::string name = fmt::format("{}:{}", graph.node(i).name(), slot);
      const auto found = watches.by_tensor.find(name);
      const Watch& watch = found == watches.by_tensor.end() ? others : found->second;
      if (watch.ops.empty() || watch.urls.empty()) continue;
      TRY(Insertion(graph, Edge{i, slot}, std::move(name), device).run(watch, consumers));
    }
  return absl::OkStatus();
}

std::vector<std::string> debug_urls(const wire::DebugOptions& options) {
  std::vector<std::string> urls;
  for (const auto& watch : options.debug_tensor_watch_opts())
    for (const auto& url : watch.debug_urls())
      if (std::find(urls.begin(), urls.end(), url) == urls.end()) urls.push_back(url);
  return urls;
}

}  // namespace troupe
