// Reading and checking of experiments.
#include <troupe/actors/lab/spec.hpp>

#include <troupe/actors/lab/spec_section.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <cctype>
#include <cstdlib>

namespace troupe::lab {
namespace {

using Words = std::vector<std::string>;

/// A word, or a mapping whose `kind` is the word.
Section kind_section(const YAML::Node& node, const std::string& what, Words keys, Mistakes& mistakes) {
  keys.insert(keys.begin(), "kind");
  if (!node.IsScalar()) return Section(node, what, keys, mistakes);
  YAML::Node map;
  map["kind"] = node;
  return Section(map, what, keys, mistakes);
}

class Reader {
 public:
  Reader(std::string file, std::string folder) : mistakes_(std::move(file)), folder_(std::move(folder)) {}

  StatusOr<Spec> read(const YAML::Node& root) {
    const Section top(root, "the experiment",
                      {"name", "title", "note", "stage", "model", "data", "workers", "ps", "batch", "optimizer", "seeds", "length", "target",
                       "evaluate", "times", "faults", "modes"},
                      mistakes_);
    if (mistakes_.any()) return mistakes_.first();
    top.text("name", spec_.name);
    top.text("title", spec_.title);
    top.text("note", spec_.note);
    top.whole("ps", spec_.ps, 1);
    top.whole("batch", spec_.batch, 1);
    if (top.has("stage")) read_stage(top.at("stage"));
    if (top.has("model")) read_model(top.at("model"));
    if (top.has("data")) read_data(top.at("data"));
    if (top.has("optimizer")) read_optimizer(top.at("optimizer"));
    read_workers(top);
    read_seeds(top);
    read_length(top);
    if (spec_.stage != Stage::virtual_time) spec_.compute = Distribution::constant(0);
    if (top.has("times")) read_times_section(top.at("times"));
    if (top.has("faults")) read_faults(top.at("faults"));
    read_modes(top);
    check_together(top);
    if (mistakes_.any()) return mistakes_.first();
    return spec_;
  }

 private:
  std::string path_of(const std::string& name) const { return name.empty() || name[0] == '/' || folder_.empty() ? name : join_path(folder_, name); }

  void read_stage(const YAML::Node& node) {
    const std::string word = choice_in(node, "stage", {"virtual", "inprocess", "processes"}, mistakes_);
    spec_.stage = word == "processes" ? Stage::processes : word == "inprocess" ? Stage::one_process : Stage::virtual_time;
  }

  void read_model(const YAML::Node& node) {
    ModelSpec& m = spec_.model;
    const Section s = kind_section(node, "model", {"hidden", "width", "file", "inputs", "labels", "loss", "score"}, mistakes_);
    s.choice("kind", m.kind, {"softmax", "mlp", "cnn", "embedding", "linear", "graph"});
    s.whole("width", m.width, 1);
    s.text("file", m.file);
    s.text("inputs", m.inputs);
    s.text("labels", m.labels);
    s.text("loss", m.loss);
    s.text("score", m.score);
    if (m.kind == "graph") {
      m.file = path_of(m.file);
      if (m.file.empty()) mistakes_.add(node, "the model graph has no file; add file: a GraphDef, binary or text");
      else if (!file_exists(m.file)) mistakes_.add(node, fmt::format("the file {} does not exist", m.file));
    }
    if (!s.has("hidden")) return;
    spec_.model.hidden.clear();
    for (const auto& size : as_list(s.at("hidden"))) spec_.model.hidden.push_back(static_cast<int>(whole_in(size, "hidden", 1, mistakes_)));
  }

  void read_data(const YAML::Node& node) {
    DataSpec& d = spec_.data;
    const Section s = kind_section(
        node, "data", {"folder", "file", "label", "examples", "tests", "features", "noise", "vocabulary", "length", "classes"}, mistakes_);
    s.choice("kind", d.kind, {"digits", "mnist", "regression", "words", "csv"});
    s.text("folder", d.folder);
    s.text("file", d.file);
    s.text("label", d.label);
    s.whole("examples", d.examples, 1);
    s.whole("tests", d.tests, 1);
    s.whole("features", d.features, 1);
    s.number("noise", d.noise, 0);
    s.whole("vocabulary", d.vocabulary, 2);
    s.whole("length", d.length, 1);
    s.whole("classes", d.classes, 2);
    if (d.kind == "mnist") {
      const char* usual = std::getenv("TROUPE_MNIST_DIR");
      d.folder = d.folder.empty() && usual ? usual : path_of(d.folder);
      if (d.folder.empty()) mistakes_.add(node, "data mnist has no folder; say one, set TROUPE_MNIST_DIR, or take data: digits, which draws its own");
      else if (!is_directory(d.folder)) mistakes_.add(node, fmt::format("the folder {} does not exist", d.folder));
    }
    if (d.kind == "csv") {
      d.file = path_of(d.file);
      if (d.file.empty()) mistakes_.add(node, "data csv has no file; add file: NAME.csv");
      else if (!file_exists(d.file)) mistakes_.add(node, fmt::format("the file {} does not exist", d.file));
      if (d.label.empty()) mistakes_.add(node, "data csv has no label; add label: the name of the column to learn");
    }
  }

  void read_optimizer(const YAML::Node& node) {
    const Section s = kind_section(node, "optimizer", {"rate", "momentum"}, mistakes_);
    s.choice("kind", spec_.optimizer.kind, {"sgd", "momentum", "adagrad", "rmsprop", "adam"});
    s.number("rate", spec_.optimizer.rate, 0);
    s.number("momentum", spec_.optimizer.momentum, 0);
  }

  static std::vector<YAML::Node> as_list(const YAML::Node& node) {
    if (!node.IsSequence()) return {node};
    return {node.begin(), node.end()};
  }

  void read_workers(const Section& top) {
    if (!top.has("workers")) return;
    spec_.workers.clear();
    for (const auto& count : as_list(top.at("workers"))) {
      const auto workers = whole_in(count, "workers", 1, mistakes_);
      if (workers > 100'000) mistakes_.add(count, fmt::format("{} workers are too many; at most 100000", workers));
      spec_.workers.push_back(static_cast<int>(workers));
    }
    if (spec_.workers.empty()) mistakes_.add(top.at("workers"), "no number of workers");
  }

  void read_seeds(const Section& top) {
    if (!top.has("seeds")) return;
    spec_.seeds.clear();
    for (const auto& seed : as_list(top.at("seeds"))) spec_.seeds.push_back(static_cast<std::uint64_t>(whole_in(seed, "a seed", 0, mistakes_)));
    if (spec_.seeds.empty()) mistakes_.add(top.at("seeds"), "no seeds");
  }

  void read_length(const Section& top) {
    if (top.has("length")) {
      const Section s(top.at("length"), "length", {"updates", "gradients", "seconds", "stop_at_target"}, mistakes_);
      if (s.has("updates")) spec_.length.updates = whole_in(s.at("updates"), "updates", 1, mistakes_);
      if (s.has("gradients")) spec_.length.gradients = whole_in(s.at("gradients"), "gradients", 1, mistakes_);
      if (s.has("seconds")) spec_.length.seconds = number_in(s.at("seconds"), "seconds", 1e-9, mistakes_);
      s.truth("stop_at_target", spec_.length.stop_at_target);
    }
    const Length& l = spec_.length;
    if (!l.updates && !l.gradients && !l.seconds)
      mistakes_.add(top.node(), "the experiment has no end; add length: with updates, gradients or seconds");
    if (top.has("target")) spec_.target = number_in(top.at("target"), "target", 0, mistakes_);
    if (l.stop_at_target && !spec_.target) mistakes_.add(top.at("length"), "stop_at_target without a target; add target: 0.9, for instance");
    if (!top.has("evaluate")) return;
    const Section s(top.at("evaluate"), "evaluate", {"updates", "seconds"}, mistakes_);
    if (s.has("updates")) spec_.evaluate_updates = whole_in(s.at("updates"), "updates", 1, mistakes_);
    if (s.has("seconds")) spec_.evaluate_seconds = number_in(s.at("seconds"), "seconds", 1e-9, mistakes_);
  }

  Distribution read_distribution(const YAML::Node& node, const std::string& what) {
    if (node.IsScalar()) return Distribution::constant(number_in(node, what, 0, mistakes_));
    const Section s(node, what, {"constant", "exponential", "pareto", "recorded"}, mistakes_);
    if (!mistakes_.any() && node.size() != 1)
      mistakes_.add(node, fmt::format("{} wants exactly one of constant, exponential, pareto, recorded", what));
    if (mistakes_.any()) return {};
    if (s.has("constant")) return Distribution::constant(number_in(s.at("constant"), what, 0, mistakes_));
    if (s.has("exponential")) return Distribution::exponential(number_in(s.at("exponential"), what, 0, mistakes_));
    if (s.has("pareto")) {
      const Section p(s.at("pareto"), "pareto", {"scale", "shape"}, mistakes_);
      double scale = 1, shape = 2;
      p.number("scale", scale, 0);
      p.number("shape", shape, 1e-3);
      return Distribution::pareto(scale, shape);
    }
    auto times = read_times(path_of(text_in(s.at("recorded"), "recorded", mistakes_)));
    if (times.ok()) return Distribution::recorded(*std::move(times));
    mistakes_.add(s.at("recorded"), text_of(times.status()));
    return {};
  }

  void read_times_section(const YAML::Node& node) {
    const Section s(node, "times", {"compute", "network"}, mistakes_);
    if (s.has("compute")) spec_.compute = read_distribution(s.at("compute"), "compute");
    if (s.has("network")) spec_.network = read_distribution(s.at("network"), "network");
  }

  void read_faults(const YAML::Node& node) {
    if (!node.IsSequence()) return mistakes_.add(node, "faults is not a list; begin each with '- worker: 0'");
    for (const auto& each : node) {
      const Section s(each, "a fault", {"worker", "slow", "crash", "return"}, mistakes_);
      if (mistakes_.any()) return;
      Fault fault;
      if (!s.has("worker")) mistakes_.add(each, "a fault without a worker");
      s.whole("worker", fault.worker, 0);
      s.number("slow", fault.slow, 1e-6);
      if (s.has("crash")) fault.crash = number_in(s.at("crash"), "crash", 0, mistakes_);
      if (s.has("return")) fault.back = number_in(s.at("return"), "return", 0, mistakes_);
      if (fault.back && (!fault.crash || *fault.back <= *fault.crash)) mistakes_.add(s.at("return"), "a worker returns after its crash");
      for (int workers : spec_.workers)
        if (fault.worker >= workers)
          mistakes_.add(s.at("worker"), fmt::format("there is no worker {}; of {} the last is {}", fault.worker, workers, workers - 1));
      spec_.faults.push_back(fault);
    }
  }

  Mode read_mode(const YAML::Node& node) {
    auto mode = parse_mode(text_in(node, "a mode", mistakes_));
    if (!mode.ok()) {
      mistakes_.add(node, text_of(mode.status()));
      return {};
    }
    for (int workers : spec_.workers)
      if (const Status status = check_mode(*mode, workers); !status.ok()) mistakes_.add(node, text_of(status));
    return *mode;
  }

  void read_schedule(const YAML::Node& node, ModePlan& plan) {
    if (!node.IsSequence() || node.size() == 0) return mistakes_.add(node, "a schedule is a list of modes");
    for (std::size_t i = 0; i < node.size(); ++i) {
      const Section s(node[i], "a phase", {"mode", "updates", "seconds"}, mistakes_);
      if (mistakes_.any()) return;
      Phase phase;
      if (!s.has("mode")) return mistakes_.add(node[i], "a phase without a mode");
      phase.mode = read_mode(s.at("mode"));
      if (s.has("updates")) phase.updates = whole_in(s.at("updates"), "updates", 1, mistakes_);
      if (s.has("seconds")) phase.seconds = number_in(s.at("seconds"), "seconds", 1e-9, mistakes_);
      const bool ends = phase.updates || phase.seconds, last = i + 1 == node.size();
      if (!ends && !last) mistakes_.add(node[i], "a phase that others follow needs updates or seconds, its length");
      if (ends && last) mistakes_.add(node[i], "the last phase lasts to the end; it has no length of its own");
      plan.phases.push_back(phase);
    }
  }

  void read_modes(const Section& top) {
    if (!top.has("modes")) return mistakes_.add(top.node(), "no modes to compare; add modes: [sync, async], for instance");
    for (const auto& node : as_list(top.at("modes"))) {
      ModePlan plan;
      if (node.IsScalar()) {
        plan.phases = {{read_mode(node), {}, {}}};
        plan.name = name_of(plan.phases[0].mode);
      } else {
        const Section s(node, "a mode", {"name", "schedule"}, mistakes_);
        if (mistakes_.any()) return;
        if (!s.has("schedule")) return mistakes_.add(node, "a mode is a word, or has a schedule");
        s.text("name", plan.name);
        read_schedule(s.at("schedule"), plan);
        if (plan.name.empty()) plan.name = "schedule";
      }
      for (const auto& other : spec_.modes)
        if (file_name_of(other.name) == file_name_of(plan.name)) mistakes_.add(node, fmt::format("the mode {} comes twice", plan.name));
      spec_.modes.push_back(std::move(plan));
    }
    if (spec_.modes.empty()) mistakes_.add(top.at("modes"), "no modes to compare");
  }

  void check_together(const Section& top) {
    if (mistakes_.any()) return;
    const std::string &model = spec_.model.kind, &data = spec_.data.kind;
    const YAML::Node at = top.has("model") ? top.at("model") : top.node();
    const bool words = data == "words", images = data == "digits" || data == "mnist";
    if (model == "graph") return check_size(top);
    if ((model == "embedding") != words)
      mistakes_.add(at, fmt::format("the model {} does not fit the data {}; embedding goes with words", model, data));
    if (model == "cnn" && !images) mistakes_.add(at, fmt::format("the model cnn wants images, not {}; take digits or mnist", data));
    if (model == "linear" && images) mistakes_.add(at, "the model linear predicts a number; take softmax for digits");
    if (data == "regression" && model == "softmax") mistakes_.add(at, "the model softmax predicts classes; take linear or mlp for regression");
    check_size(top);
  }

  void check_size(const Section& top) {
    for (int workers : spec_.workers)
      if (spec_.stage != Stage::virtual_time && workers > 64)
        mistakes_.add(top.at("workers"), fmt::format("{} workers are too many for this machine; above 64 take stage: virtual", workers));
  }

  Mistakes mistakes_;
  std::string folder_;
  Spec spec_;
};

}  // namespace

std::string name_of(Stage stage) { return stage == Stage::virtual_time ? "virtual" : stage == Stage::one_process ? "inprocess" : "processes"; }

std::string file_name_of(const std::string& mode) {
  std::string name;
  for (char c : mode)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '.') name += c;
    else if (!name.empty() && name.back() != '-') name += '-';
  while (name.ends_with('-')) name.pop_back();
  return name;
}

std::string Case::id() const { return fmt::format("w{}_{}_seed{}", workers, file_name_of(mode.name), seed); }

std::vector<Case> cases_of(const Spec& spec) {
  std::vector<Case> cases;
  for (int workers : spec.workers)
    for (const auto& mode : spec.modes)
      for (std::uint64_t seed : spec.seeds) cases.push_back({workers, mode, seed});
  return cases;
}

StatusOr<Spec> parse_spec(const std::string& text, const std::string& file, const std::string& folder) {
  try {
    const YAML::Node root = YAML::Load(text);
    TRY_ASSIGN(Spec spec, Reader(file, folder).read(root));
    if (spec.name.empty()) {
      spec.name = std::string(base_name_of(file));
      spec.name = spec.name.substr(0, spec.name.rfind('.'));
    }
    if (spec.title.empty()) spec.title = spec.name;
    return spec;
  } catch (const YAML::ParserException& e) {
    return invalid("{}:{}: {}", file, e.mark.line + 1, e.msg);
  } catch (const YAML::Exception& e) {
    return invalid("{}: {}", file, e.what());
  }
}

StatusOr<Spec> load_spec(const std::string& file) {
  TRY_ASSIGN(const std::string text, read_file(file));
  return parse_spec(text, file, std::string(directory_of(file)));
}

}  // namespace troupe::lab
