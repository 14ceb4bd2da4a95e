// What an experiment is: model, data, workers, times, faults, and the modes to compare.
#pragma once

#include <troupe/actors/lab/distribution.hpp>
#include <troupe/actors/lab/mode.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::lab {

enum class Stage { virtual_time, one_process, processes };
std::string name_of(Stage stage);

struct ModelSpec {
  std::string kind = "softmax";    // softmax, mlp, cnn, embedding, linear, graph
  std::vector<int> hidden = {64};  // mlp: sizes of the layers between
  int width = 16;                  // embedding: numbers per word
  std::string file;                // graph: a GraphDef, and the tensors in it that matter
  std::string inputs = "x", labels = "y", loss = "loss", score = "score";
};

struct DataSpec {
  std::string kind = "digits";  // digits, mnist, regression, words, csv
  std::string folder, file;     // mnist; csv
  std::string label;            // csv: the column to learn
  int examples = 2000, tests = 500;
  int features = 20;                              // regression
  double noise = 0.1;                             // regression
  int vocabulary = 500, length = 8, classes = 4;  // words
};

struct OptimizerSpec {
  std::string kind = "sgd";  // sgd, momentum, adagrad, rmsprop, adam
  double rate = 0.1;
  double momentum = 0.9;
};

/// Whatever is reached first ends a run.
struct Length {
  std::optional<std::int64_t> updates, gradients;
  std::optional<double> seconds;
  bool stop_at_target = false;
};

struct Fault {
  int worker = 0;
  double slow = 1;  // its computing takes so many times as long
  std::optional<double> crash, back;
};

/// A mode that holds for so long; the last one of a plan holds to the end.
struct Phase {
  Mode mode;
  std::optional<std::int64_t> updates;
  std::optional<double> seconds;
};

struct ModePlan {
  std::string name;
  std::vector<Phase> phases;
};

struct Spec {
  std::string name, title, note;
  Stage stage = Stage::virtual_time;
  ModelSpec model;
  DataSpec data;
  std::vector<int> workers = {4};
  int ps = 1;
  int batch = 32;
  OptimizerSpec optimizer;
  std::vector<std::uint64_t> seeds = {1, 2, 3};
  Length length;
  std::optional<double> target;
  std::optional<double> evaluate_seconds;
  std::optional<std::int64_t> evaluate_updates;
  Distribution compute = Distribution::constant(1), network = Distribution::constant(0);
  std::vector<Fault> faults;
  std::vector<ModePlan> modes;
};

/// A mode's name as part of a file's.
std::string file_name_of(const std::string& mode);

/// One run of a spec.
struct Case {
  int workers = 0;
  ModePlan mode;
  std::uint64_t seed = 0;
  /// "w50_sync+4_seed2", a name for files.
  std::string id() const;
};

/// All runs in order: workers, modes, seeds.
std::vector<Case> cases_of(const Spec& spec);

/// Reads and checks; `file` is for messages, which read "file:line: what is wrong; what to do". Paths in it are relative to `folder`.
StatusOr<Spec> parse_spec(const std::string& text, const std::string& file, const std::string& folder);
StatusOr<Spec> load_spec(const std::string& file);

}  // namespace troupe::lab
