// Reading of small graphs.
#include "plan_graph.hpp"

#include <troupe/ops/definitions.hpp>

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

namespace troupe::testing {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> items;
  static const std::regex item("[^, ]+");
  for (std::sregex_iterator i(text.begin(), text.end(), item), end; i != end; ++i) items.push_back(i->str());
  return items;
}

wire::AttrValue attr_value(const std::string& text) {
  wire::AttrValue value;
  wire::DataType type;
  if (text[0] == '{') EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text.substr(1, text.size() - 2), &value)) << text;
  else if (text[0] == '"') value.set_s(text.substr(1, text.size() - 2));
  else if (wire::DataType_Parse(text, &type)) value.set_type(type);
  else if (text == "true" || text == "false") value.set_b(text == "true");
  else if (text == "shape") value.mutable_shape();
  else value.set_i(std::stoll(text));
  return value;
}

/// Where a value ends: at a space outside of braces and quotes.
std::size_t value_end(const std::string& text, std::size_t at) {
  int depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    depth += (text[at] == '{') - (text[at] == '}');
    if (text[at] == ' ' && depth == 0 && !quoted) break;
  }
  return at;
}

void read_attrs(const std::string& text, wire::NodeDef& node) {
  for (std::size_t at = 0; at < text.size();) {
    const auto equals = text.find('=', at), end = value_end(text, equals);
    (*node.mutable_attr())[text.substr(at, equals - at)] = attr_value(text.substr(equals + 1, end - equals - 1));
    at = std::min(text.size(), end + 1);
  }
}

void fill_types(wire::NodeDef& node) {
  const wire::OpDef* op = find_op(node.op());
  if (!op) return;
  for (const auto& attr : op->attr())
    if ((attr.name() == "T" || attr.name() == "dtype") && !attr.has_default_value() && !node.attr().contains(attr.name()))
      (*node.mutable_attr())[attr.name()].set_type(wire::DT_FLOAT);
}

void fill_constant(wire::NodeDef& node) {
  auto& attr = *node.mutable_attr();
  const auto number = attr.contains("v") ? attr["v"].i() : 1;
  attr.erase("v");
  auto& tensor = *attr["value"].mutable_tensor();
  tensor.set_dtype(attr["dtype"].type());
  tensor.mutable_tensor_shape();
  switch (tensor.dtype()) {
    case wire::DT_FLOAT: tensor.add_float_val(static_cast<float>(number)); break;
    case wire::DT_INT32: tensor.add_int_val(static_cast<int>(number)); break;
    case wire::DT_BOOL: tensor.add_bool_val(number != 0); break;
    default: break;
  }
}

wire::NodeDef node_def(const std::string& line) {
  static const std::regex form(R"rx((\S+) = (\w+)(?:\(([^)]*)\))?(?: @(\S+))?(?: \[([^\]]*)\])?(?: (.*))?)rx");
  std::smatch found;
  EXPECT_TRUE(std::regex_match(line, found, form)) << line;
  wire::NodeDef node;
  node.set_name(found[1]);
  node.set_op(found[2]);
  for (auto& input : split(found[3])) node.add_input(input);
  node.set_device(found[4]);
  for (auto& name : split(found[5])) (*node.mutable_attr())["_class"].mutable_list()->add_s("loc:@" + name);
  read_attrs(found[6], node);
  fill_types(node);
  if (node.op() == "Const") fill_constant(node);
  return node;
}

}  // namespace

wire::GraphDef graph_def(std::string_view text) {
  wire::GraphDef graph;
  graph.mutable_versions()->set_producer(1645);
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty()) *graph.add_node() = node_def(line);
  }
  return graph;
}

Graph graph_of(std::string_view text) {
  auto graph = Graph::from(graph_def(text), std::make_shared<FunctionLibrary>());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

std::string short_name(const std::string& device) {
  static const std::regex form("/job:([a-z]+)/replica:0/task:([0-9]+)(/device:CPU:0)?");
  return std::regex_replace(device, form, "$1$2");
}

std::string long_name(const std::string& name) {
  static const std::regex form("([a-z]+)([0-9]+)");
  return std::regex_replace(name, form, "/job:$1/replica:0/task:$2/device:CPU:0");
}

std::vector<std::string> all_devices() { return {long_name("ps0"), long_name("ps1"), long_name("worker1"), long_name("worker0")}; }

}  // namespace troupe::testing
