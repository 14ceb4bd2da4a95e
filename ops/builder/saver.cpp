// Building of the ops that save and restore.
#include <troupe/ops/builder/saver.hpp>

#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/ops/builder/array.hpp>

#include <algorithm>

namespace troupe::build {
namespace {

struct Lists {
  Out names, slices;
};

/// Names of tensors, each whole.
Lists tensor_lists(Builder& b, const std::string& op, const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const auto& v : variables) names.push_back(v.name());
  const Out list = b.constant(names, op + "/tensor_names");
  return {list, b.constant(std::vector<std::string>(names.size()), op + "/shape_and_slices")};
}

Out filename_input(Builder& b) {
  const Out usual = b.constant(Tensor::scalar<std::string>("model"), "filename/input");
  const Out name = b.op("PlaceholderWithDefault", {usual}, {{"shape", dims({})}}, "filename");
  return b.op("PlaceholderWithDefault", {name}, {{"shape", dims({})}}, "Const");
}

wire::TensorInfo info_of(const Out& out) {
  wire::TensorInfo info;
  info.set_name(out.name());
  info.set_dtype(static_cast<wire::DataType>(out.dtype()));
  to_proto(out.shape(), info.mutable_tensor_shape());
  return info;
}

}  // namespace

Saver saver(Builder& b, std::vector<Variable> variables) {
  if (variables.empty()) variables = b.variables();
  std::sort(variables.begin(), variables.end(), [](const Variable& x, const Variable& y) { return x.name() < y.name(); });
  Saver made;
  if (variables.empty()) {
    b.fail(invalid("No variables to save"));
    return made;
  }
  auto scope = b.scope("save");
  made.filename = filename_input(b);
  std::vector<Out> values;
  std::vector<DType> types;
  for (const auto& v : variables) {
    values.push_back(v.snapshot);
    types.push_back(v.dtype);
  }
  const Lists to_save = tensor_lists(b, "SaveV2", variables);
  const Op write = b.op("SaveV2", {made.filename, to_save.names, to_save.slices, values});
  {
    auto after = b.after({write});
    made.saved = b.op("Identity", {made.filename}, {}, "control_dependency");
  }
  const Lists to_read = tensor_lists(b, "RestoreV2", variables);
  const Op read = b.op("RestoreV2", {made.filename, to_read.names, to_read.slices}, {{"dtypes", types}});
  std::vector<Op> assigned;
  for (std::size_t i = 0; i < variables.size() && read.valid(); ++i) {
    const Out value = read[static_cast<int>(i)];
    b.refine(value, variables[i].shape);
    auto place = b.device(op_of(variables[i].handle).device());
    assigned.push_back(variables[i].assign(variables[i].resource ? identity(value) : value));
  }
  made.restore = b.group(assigned, "restore_all");
  return made;
}

wire::SaverDef Saver::def() const {
  wire::SaverDef def;
  def.set_filename_tensor_name(filename.name());
  def.set_save_tensor_name(saved.name());
  def.set_restore_op_name(restore.name());
  def.set_max_to_keep(5);
  def.set_keep_checkpoint_every_n_hours(10000);
  def.set_version(wire::SaverDef::V2);
  return def;
}

wire::SignatureDef signature(const std::vector<std::pair<std::string, Out>>& inputs, const std::vector<std::pair<std::string, Out>>& outputs,
                             const std::string& method) {
  wire::SignatureDef def;
  for (const auto& [name, out] : inputs) (*def.mutable_inputs())[name] = info_of(out);
  for (const auto& [name, out] : outputs) (*def.mutable_outputs())[name] = info_of(out);
  def.set_method_name(method);
  return def;
}

StatusOr<wire::MetaGraphDef> meta_graph(const Builder& b, const Saver& saver,
                                        const std::vector<std::pair<std::string, wire::SignatureDef>>& signatures,
                                        const std::vector<std::string>& tags) {
  wire::MetaGraphDef meta;
  TRY_ASSIGN(*meta.mutable_graph_def(), b.graph());
  for (const auto& tag : tags) meta.mutable_meta_info_def()->add_tags(tag);
  meta.mutable_meta_info_def()->set_tensorflow_version("2.15.1");
  *meta.mutable_saver_def() = saver.def();
  for (const auto& [name, def] : signatures) (*meta.mutable_signature_def())[name] = def;
  return meta;
}

}  // namespace troupe::build
