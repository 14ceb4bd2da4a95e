// Reads TF_CONFIG as TensorFlow's resolver does, and says where it is wrong.
#include <troupe/config/tf_config.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

namespace troupe {
namespace {

using Json = nlohmann::json;

constexpr int deepest = 64;
constexpr std::string_view example = R"({"cluster": {"ps": ["host:2222"], "worker": ["host:2222"]}, "task": {"type": "worker", "index": 0}})";
constexpr std::array known_keys{"cluster", "task", "rpc_layer", "environment", "session_master", "eval_session_master", "service", "model_dir"};

/// A value as a message shows it: short, on one line.
std::string shown(const Json& value) {
  constexpr size_t most = 60;
  std::string text = value.dump(-1, ' ', true);
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

Status wrong(std::string_view path, std::string_view wanted, const Json& value) {
  return invalid("TF_CONFIG: {}: this is {}; it must be {}", path, shown(value), wanted);
}

std::string position(std::string_view text, size_t at) {
  std::string_view before = text.substr(0, at);
  auto line = 1 + std::count(before.begin(), before.end(), '\n');
  auto last = before.rfind('\n');
  size_t column = 1 + (last == std::string_view::npos ? before.size() : before.size() - last - 1);
  return fmt::format("line {}, column {}", line, column);
}

/// The library's reason without its own number and position.
std::string reason_of(const Json::parse_error& error) {
  std::string text = error.what();
  auto start = text.find(": ");
  return start == std::string::npos ? text : text.substr(start + 2);
}

/// Watches the parser: notes keys that occur twice in an object, which the parsed value no longer shows, and drops what
/// is nested so deeply that printing it would exhaust the stack.
class Watch {
 public:
  Watch(std::vector<std::string>& repeated, bool& too_deep) : found_(&repeated), too_deep_(&too_deep) {}

  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    if (depth > deepest) {
      *too_deep_ = true;
      return false;
    }
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end && !open_.empty()) open_.pop_back();
    if (event == Json::parse_event_t::key && !open_.empty() && !open_.back().insert(value.get<std::string>()).second)
      found_->push_back(value.get<std::string>());
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
  std::vector<std::string>* found_;
  bool* too_deep_;
};

StatusOr<Json> parse_json(std::string_view text, std::vector<std::string>& repeated) {
  bool too_deep = false;
  try {
    Json value = Json::parse(text.begin(), text.end(), Watch(repeated, too_deep));
    if (too_deep) return invalid("TF_CONFIG: top level: this is nested more than {} levels deep; make it flatter", deepest);
    return value;
  } catch (const Json::parse_error& error) {
    size_t at = error.byte == 0 ? 0 : error.byte - 1;
    bool quote = at < text.size() && text[at] == '\'';
    return invalid("TF_CONFIG: {}: this is no JSON: {}{}", position(text, at), reason_of(error), quote ? "; JSON takes double quotes only" : "");
  } catch (const std::exception& error) {
    return invalid("TF_CONFIG: top level: this is no JSON: {}", error.what());
  }
}

/// A number as text, blanks around it allowed as Python's int() allows them.
std::optional<int> read_int(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(blanks) - first + 1);
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> whole_number(const Json& value) {
  constexpr int most = std::numeric_limits<int>::max();
  if (value.is_string()) return read_int(value.get_ref<const std::string&>());
  if (value.is_number_unsigned() && value.get<uint64_t>() <= most) return value.get<int>();
  if (value.is_number_integer() && !value.is_number_unsigned()) return value.get<int64_t>() >= -most ? value.get<int>() : -1;
  if (!value.is_number_float()) return std::nullopt;
  auto number = value.get<double>();
  bool whole = number >= -most && number <= most && number == static_cast<int>(number);
  return whole ? std::optional(static_cast<int>(number)) : std::nullopt;
}

Status read_task_list(Cluster& cluster, const std::string& job, const Json& list, const std::string& path) {
  int index = 0;
  for (const Json& address : list) {
    std::string where = fmt::format("{}[{}]", path, index);
    if (!address.is_string()) return wrong(where, "an address like \"host:2222\"", address);
    TRY(add_task(cluster, job, index++, address.get_ref<const std::string&>(), "TF_CONFIG: " + where));
  }
  return {};
}

Status read_task_map(Cluster& cluster, const std::string& job, const Json& map, const std::string& path) {
  for (const auto& [key, address] : map.items()) {
    std::string where = fmt::format("{}[\"{}\"]", path, key);
    auto index = read_int(key);
    if (!index) return invalid("TF_CONFIG: {}: the key '{}' is no task index; write \"0\", \"1\" and so on", path, key);
    if (!address.is_string()) return wrong(where, "an address like \"host:2222\"", address);
    TRY(add_task(cluster, job, *index, address.get_ref<const std::string&>(), "TF_CONFIG: " + where));
  }
  return {};
}

Status read_cluster(TfConfig& config, const Json& value) {
  if (!value.is_object()) return wrong("cluster", "an object from job names to lists of addresses", value);
  for (const auto& [job, tasks] : value.items()) {
    std::string path = "cluster." + job;
    TRY(add_job(config.cluster, job, "TF_CONFIG: cluster"));
    if (tasks.is_array()) TRY(read_task_list(config.cluster, job, tasks, path));
    else if (tasks.is_object()) TRY(read_task_map(config.cluster, job, tasks, path));
    else return wrong(path, "a list of addresses, or an object from task indices to addresses", tasks);
  }
  return {};
}

Status read_task(TfConfig& config, const Json& value) {
  if (!value.is_object()) return wrong("task", R"(an object like {"type": "worker", "index": 0})", value);
  if (auto type = value.find("type"); type != value.end()) {
    if (!type->is_string() || type->get_ref<const std::string&>().empty()) return wrong("task.type", "a job name like \"worker\"", *type);
    config.task_type = type->get<std::string>();
  }
  if (auto index = value.find("index"); index != value.end()) {
    config.task_index = whole_number(*index);
    if (!config.task_index || *config.task_index < 0) return wrong("task.index", "a whole number from 0 on", *index);
  }
  return {};
}

Status read_text(std::string& place, const Json& config, const char* key) {
  auto value = config.find(key);
  if (value == config.end() || value->is_null()) return {};
  if (!value->is_string()) return wrong(key, "a string", *value);
  place = value->get<std::string>();
  return {};
}

Status read_texts(TfConfig& config, const Json& json) {
  std::string rpc_layer;
  TRY(read_text(rpc_layer, json, "rpc_layer"));
  if (!rpc_layer.empty()) config.rpc_layer = rpc_layer;
  TRY(read_text(config.environment, json, "environment"));
  TRY(read_text(config.session_master, json, "session_master"));
  TRY(read_text(config.eval_session_master, json, "eval_session_master"));
  return read_text(config.model_dir, json, "model_dir");
}

}  // namespace

StatusOr<TfConfig> parse_tf_config(std::string_view json) {
  TfConfig config;
  TRY_ASSIGN(Json value, parse_json(json, config.repeated_keys));
  if (!value.is_object()) return wrong("top level", fmt::format("an object like {}", example), value);
  if (auto cluster = value.find("cluster"); cluster != value.end()) TRY(read_cluster(config, *cluster));
  if (auto task = value.find("task"); task != value.end()) TRY(read_task(config, *task));
  TRY(read_texts(config, value));
  if (auto service = value.find("service"); service != value.end()) {
    if (!service->is_object()) return wrong("service", "an object", *service);
    config.service = service->dump();
  }
  for (const auto& [key, unused] : value.items())
    if (std::find(known_keys.begin(), known_keys.end(), key) == known_keys.end()) config.ignored_keys.push_back(key);
  return config;
}

std::string render_tf_config(const Cluster& cluster, const std::optional<Task>& task) {
  nlohmann::ordered_json json;
  auto& jobs = json["cluster"] = nlohmann::ordered_json::object();
  for (const auto& [job, tasks] : cluster.jobs) {
    bool dense = tasks.empty() || tasks.rbegin()->first + 1 == std::ssize(tasks);
    auto& place = jobs[job] = dense ? nlohmann::ordered_json::array() : nlohmann::ordered_json::object();
    for (const auto& [index, address] : tasks)
      if (dense) place.push_back(address);
      else place[std::to_string(index)] = address;
  }
  if (task) json["task"] = {{"type", task->job}, {"index", task->index}};
  // Whatever the strings hold, this must not throw.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace troupe
