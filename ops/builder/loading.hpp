// Reading of graphs, models and checkpoints that others have written. Blocks while files are read.
#pragma once

#include <troupe/wire/meta_graph.pb.h>
#include <troupe/messaging/tensor.hpp>

#include <map>
#include <string>
#include <vector>

namespace troupe::build {

/// Binary or text, whatever the file has.
StatusOr<wire::GraphDef> load_graph_def(const std::string& file);
StatusOr<wire::MetaGraphDef> load_meta_graph(const std::string& file);

/// A graph of a saved model's directory. To bring its variables into a session: feed `filename()` with `variables_prefix()` and run `restore_op()`,
/// then `init_op()` where there is one.
class SavedModel {
 public:
  /// NOT_FOUND when the directory has no model, or none with exactly these tags.
  static StatusOr<SavedModel> load(const std::string& directory, const std::vector<std::string>& tags = {"serve"});

  const wire::MetaGraphDef& meta_graph() const { return meta_graph_; }
  const wire::GraphDef& graph() const { return meta_graph_.graph_def(); }
  /// NOT_FOUND with the names that there are.
  StatusOr<wire::SignatureDef> signature(const std::string& name = "serving_default") const;
  std::string variables_prefix() const;
  bool has_variables() const;
  const std::string& filename() const { return meta_graph_.saver_def().filename_tensor_name(); }
  const std::string& restore_op() const { return meta_graph_.saver_def().restore_op_name(); }
  /// Empty where the model says none.
  std::string init_op() const;
  /// Values of the variables by the names they are kept under.
  StatusOr<std::map<std::string, Tensor>> variables() const;

 private:
  std::string directory_;
  wire::MetaGraphDef meta_graph_;
};

/// All tensors of a checkpoint of version 2, parts put together.
StatusOr<std::map<std::string, Tensor>> load_checkpoint(const std::string& prefix);
/// The prefix that the directory's `checkpoint` file names as the latest.
StatusOr<std::string> latest_checkpoint(const std::string& directory);

}  // namespace troupe::build
