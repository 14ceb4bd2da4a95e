// Readers of what TensorFlow writes.
#include <troupe/ops/builder/loading.hpp>

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <troupe/wire/saver.pb.h>
#include <troupe/ops/checkpoint/bundle.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <set>

namespace troupe::build {
namespace {

/// The first mistake of a text, and where it is.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = fmt::format("line {} column {}: {}", line + 1, column + 1, message);
  }
  std::string text;
};

bool parse_text(const std::string& content, google::protobuf::Message* message, std::string* error) {
  FirstError first;
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.RecordErrorsTo(&first);
  if (parser.ParseFromString(content, message)) return true;
  *error = first.text;
  return false;
}

/// Bytes below a space that no text has.
bool looks_binary(const std::string& content) {
  for (std::size_t i = 0; i < std::min<std::size_t>(content.size(), 512); ++i)
    if (const auto c = static_cast<unsigned char>(content[i]); c < 32 && c != '\n' && c != '\r' && c != '\t') return true;
  return false;
}

Status parse_file(const std::string& file, google::protobuf::Message* message) {
  TRY_ASSIGN(const std::string content, read_file(file));
  std::string error = "bytes that are none";
  const bool text_first = !looks_binary(content);
  if (text_first && parse_text(content, message, &error)) return absl::OkStatus();
  message->Clear();
  if (message->ParseFromString(content)) return absl::OkStatus();
  return data_loss("{} is not a {}: {}", file, message->GetDescriptor()->name(), error);
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

StatusOr<wire::GraphDef> load_graph_def(const std::string& file) {
  wire::GraphDef graph;
  TRY(parse_file(file, &graph));
  return graph;
}

StatusOr<wire::MetaGraphDef> load_meta_graph(const std::string& file) {
  wire::MetaGraphDef meta;
  TRY(parse_file(file, &meta));
  return meta;
}

StatusOr<SavedModel> SavedModel::load(const std::string& directory, const std::vector<std::string>& tags) {
  std::string file = join_path(directory, "saved_model.pb");
  if (!file_exists(file)) file = join_path(directory, "saved_model.pbtxt");
  if (!file_exists(file)) return not_found("SavedModel file does not exist at: {}/{{saved_model.pbtxt|saved_model.pb}}", directory);
  wire::SavedModel all;
  TRY(parse_file(file, &all));
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::vector<std::string> there;
  for (auto& meta : *all.mutable_meta_graphs()) {
    const std::set<std::string> has(meta.meta_info_def().tags().begin(), meta.meta_info_def().tags().end());
    there.push_back(fmt::format("{{{}}}", fmt::join(has, ", ")));
    if (has != wanted) continue;
    SavedModel model;
    model.directory_ = directory;
    model.meta_graph_ = std::move(meta);
    return model;
  }
  return not_found("No graph of {} has the tags {{{}}}; there are: {}", file, fmt::join(wanted, ", "), joined(there));
}

StatusOr<wire::SignatureDef> SavedModel::signature(const std::string& name) const {
  auto found = meta_graph_.signature_def().find(name);
  if (found != meta_graph_.signature_def().end()) return found->second;
  std::set<std::string> there;
  for (const auto& [key, def] : meta_graph_.signature_def()) there.insert(key);
  return not_found("The model in {} has no signature '{}'; there are: {}", directory_, name, joined({there.begin(), there.end()}));
}

std::string SavedModel::variables_prefix() const { return join_path(join_path(directory_, "variables"), "variables"); }
bool SavedModel::has_variables() const { return file_exists(bundle::index_file(variables_prefix())); }

std::string SavedModel::init_op() const {
  if (auto by_signature = meta_graph_.signature_def().find("__saved_model_init_op"); by_signature != meta_graph_.signature_def().end())
    for (const auto& [key, info] : by_signature->second.outputs()) return info.name();
  for (const char* key : {"saved_model_main_op", "legacy_init_op"})
    if (auto found = meta_graph_.collection_def().find(key); found != meta_graph_.collection_def().end())
      if (found->second.node_list().value_size() == 1) return found->second.node_list().value(0);
  return "";
}

StatusOr<std::map<std::string, Tensor>> SavedModel::variables() const {
  if (!has_variables()) return std::map<std::string, Tensor>();
  return load_checkpoint(variables_prefix());
}

StatusOr<std::map<std::string, Tensor>> load_checkpoint(const std::string& prefix) {
  TRY_ASSIGN(BundleReader reader, BundleReader::open(prefix));
  std::vector<std::string> names;
  TRY(reader.each([&](const std::string& key, const wire::BundleEntryProto& entry) -> Status {
    // Parts of tensors have keys of their own, which begin with a zero byte; the whole stands under its name.
    if (!key.empty() && key[0] != '\0' && entry.dtype() != wire::DT_INVALID) names.push_back(key);
    return absl::OkStatus();
  }));
  std::map<std::string, Tensor> values;
  for (const auto& name : names) {
    TRY_ASSIGN(values[name], reader.read(name));
  }
  return values;
}

StatusOr<std::string> latest_checkpoint(const std::string& directory) {
  wire::CheckpointState state;
  TRY(parse_file(join_path(directory, "checkpoint"), &state));
  const std::string& path = state.model_checkpoint_path();
  if (path.empty()) return not_found("{} names no checkpoint", join_path(directory, "checkpoint"));
  return path.starts_with('/') ? path : join_path(directory, path);
}

}  // namespace troupe::build
