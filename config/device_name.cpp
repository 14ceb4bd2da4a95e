// The grammar of device names, settled by trying TensorFlow's own placer with each form.
#include <troupe/config/device_name.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

namespace troupe {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// Takes pieces off the front of a text; every take leaves the text alone when it does not apply.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }

  bool take(std::string_view prefix) {
    if (text_.substr(0, prefix.size()) != prefix) return false;
    text_.remove_prefix(prefix.size());
    return true;
  }

  /// A name, or `*`, which clears the place.
  bool take_name(std::optional<std::string>& place) {
    if (take("*")) {
      place.reset();
      return true;
    }
    if (text_.empty() || !is_letter(text_.front())) return false;
    place = std::string(take_while(is_name_char));
    return true;
  }

  /// Digits, or `*`, which clears the place.
  bool take_number(std::optional<int>& place) {
    if (take("*")) {
      place.reset();
      return true;
    }
    std::string_view digits = take_while(is_digit);
    if (digits.empty()) return false;
    int value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    place = error == std::errc() ? value : std::numeric_limits<int>::max();
    return true;
  }

 private:
  template <class Predicate>
  std::string_view take_while(Predicate keep) {
    auto end = std::find_if_not(text_.begin(), text_.end(), keep);
    std::string_view taken = text_.substr(0, static_cast<size_t>(end - text_.begin()));
    text_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view text_;
};

bool take_device(Reader& reader, DeviceName& name) {
  if (!reader.take_name(name.type)) return false;
  if (reader.take(":")) return reader.take_number(name.id);
  name.id.reset();
  return true;
}

bool take_legacy(Reader& reader, DeviceName& name, std::string_view type) {
  name.type = std::string(type);
  return reader.take_number(name.id);
}

bool take_part(Reader& reader, DeviceName& name) {
  if (reader.take("/job:")) return reader.take_name(name.job);
  if (reader.take("/replica:")) return reader.take_number(name.replica);
  if (reader.take("/task:")) return reader.take_number(name.task);
  if (reader.take("/device:")) return take_device(reader, name);
  if (reader.take("/cpu:") || reader.take("/CPU:")) return take_legacy(reader, name, "CPU");
  if (reader.take("/gpu:") || reader.take("/GPU:")) return take_legacy(reader, name, "GPU");
  return false;
}

template <class T>
bool agrees(const std::optional<T>& wanted, const std::optional<T>& given) {
  return !wanted || wanted == given;
}

template <class T>
bool conflict(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b && *a != *b;
}

template <class T>
void adopt(std::optional<T>& place, const std::optional<T>& from) {
  if (from) place = from;
}

Status cannot_merge(std::string_view what, const DeviceName& base, const DeviceName& over) {
  return invalid("Cannot merge devices with incompatible {}: '{}' and '{}'", what, to_string(base), to_string(over));
}

}  // namespace

StatusOr<DeviceName> parse_device(std::string_view text) {
  DeviceName name;
  if (text == "/") return name;
  Reader reader(text);
  while (!reader.at_end())
    if (!take_part(reader, name)) return invalid("Malformed device specification '{}'", text);
  return name;
}

std::string to_string(const DeviceName& name) {
  std::string text;
  if (name.job) text += "/job:" + *name.job;
  if (name.replica) text += fmt::format("/replica:{}", *name.replica);
  if (name.task) text += fmt::format("/task:{}", *name.task);
  if (name.type) text += fmt::format("/device:{}:{}", *name.type, name.id ? std::to_string(*name.id) : "*");
  return text;
}

std::string task_name(std::string_view job, int task) { return fmt::format("/job:{}/replica:0/task:{}", job, task); }

std::string device_name(std::string_view job, int task, std::string_view type, int id) {
  return fmt::format("{}/device:{}:{}", task_name(job, task), type, id);
}

std::string_view local_part(std::string_view device) {
  const auto at = device.find("/device:");
  return at == std::string_view::npos ? std::string_view() : device.substr(at);
}

std::string rename_task(std::string_view device, std::string_view task) { return fmt::format("{}{}", task, local_part(device)); }

bool is_valid_name(std::string_view text) { return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_name_char); }

bool is_complete(const DeviceName& name) { return name.job && name.replica && name.task && name.type && name.id; }

bool matches(const DeviceName& spec, const DeviceName& full) {
  return agrees(spec.job, full.job) && agrees(spec.replica, full.replica) && agrees(spec.task, full.task) && agrees(spec.type, full.type) &&
         agrees(spec.id, full.id);
}

bool same_address_space(const DeviceName& a, const DeviceName& b) {
  return a.job && a.replica && a.task && a.job == b.job && a.replica == b.replica && a.task == b.task;
}

StatusOr<DeviceName> merge(const DeviceName& base, const DeviceName& over, bool allow_soft) {
  // TensorFlow's texts show the base with the parts merged so far, so the merged value is what they are made from.
  DeviceName merged = base;
  if (conflict(merged.job, over.job)) return cannot_merge("jobs", merged, over);
  adopt(merged.job, over.job);
  if (conflict(merged.replica, over.replica)) return cannot_merge("replicas", merged, over);
  adopt(merged.replica, over.replica);
  if (conflict(merged.task, over.task)) return cannot_merge("tasks", merged, over);
  adopt(merged.task, over.task);
  if (conflict(merged.type, over.type)) {
    if (!allow_soft) return cannot_merge("types", merged, over);
    merged.type.reset();
    merged.id.reset();
    return merged;
  }
  adopt(merged.type, over.type);
  if (conflict(merged.id, over.id)) {
    if (!allow_soft) return cannot_merge("ids", merged, over);
    merged.id.reset();
    return merged;
  }
  adopt(merged.id, over.id);
  return merged;
}

}  // namespace troupe
