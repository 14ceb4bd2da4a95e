// Writing of metrics.
#include <troupe/actors/exposition.hpp>

#include <troupe/actors/tally.hpp>

#include <fmt/format.h>

#include <map>
#include <vector>

namespace troupe {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') out += "\\n";
    else if (c == '"' || c == '\\') (out += '\\') += c;
    else out += c;
  }
  return out + "\"";
}

std::string as_name(std::string text) {
  for (char& c : text)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return text;
}

/// Samples of one name stand together, below what they are.
class Page {
 public:
  void add(const std::string& name, const char* type, const char* help, const std::string& labels, double value) {
    auto& family = families_[name];
    if (family.empty()) family = fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
    family += sample(name, labels, value);
  }
  void add(const std::string& name, const char* help, const std::string& label, const std::map<std::string, Spread>& spreads) {
    for (const auto& [key, spread] : spreads) {
      auto& family = families_[name];
      if (family.empty()) family = fmt::format("# HELP {0} {1}\n# TYPE {0} histogram\n", name, help);
      const std::string who = label + "=" + quoted(key);
      std::uint64_t below = 0;
      for (std::size_t i = 0; i < spread.buckets.size(); ++i) {
        below += spread.buckets[i];
        const std::string limit = i < Spread::limits.size() ? fmt::format("{}", Spread::limits[i]) : "+Inf";
        family += sample(name + "_bucket", fmt::format("{},le=\"{}\"", who, limit), static_cast<double>(below));
      }
      family += sample(name + "_sum", who, spread.sum) + sample(name + "_count", who, static_cast<double>(spread.count));
    }
  }
  std::string take() const {
    std::string all;
    for (const auto& [name, family] : families_) all += family;
    return all;
  }

 private:
  static std::string sample(const std::string& name, const std::string& labels, double value) {
    return labels.empty() ? fmt::format("{} {}\n", name, value) : fmt::format("{}{{{}}} {}\n", name, labels, value);
  }
  std::map<std::string, std::string> families_;
};

void add_histogram(const std::string& tag, const Spread& spread, wire::Summary& summary) {
  auto* v = summary.add_value();
  v->set_tag(tag);
  auto* histogram = v->mutable_histo();
  histogram->set_min(0);
  histogram->set_max(spread.most);
  histogram->set_num(static_cast<double>(spread.count));
  histogram->set_sum(spread.sum);
  histogram->set_sum_squares(spread.squares);
  for (std::size_t i = 0; i < spread.buckets.size(); ++i) {
    histogram->add_bucket_limit(i < Spread::limits.size() ? Spread::limits[i] : 1e300);
    histogram->add_bucket(static_cast<double>(spread.buckets[i]));
  }
}

}  // namespace

void add_staleness(const Staleness::Counts& counts, wire::Summary& summary) {
  for (const auto& [name, spread] : counts.variables) add_histogram("staleness/variables/" + name, spread, summary);
  for (const auto& [name, spread] : counts.workers) add_histogram("staleness/workers" + name, spread, summary);
  for (const auto& [name, gradients] : counts.senders) {
    add_number(fmt::format("gradients{}/taken", name), static_cast<double>(gradients.taken), summary);
    add_number(fmt::format("gradients{}/dropped", name), static_cast<double>(gradients.dropped), summary);
  }
  for (const auto& [who, waits] : counts.waits) add_number(fmt::format("waits{}/{}_seconds", who.first, who.second), waits.seconds, summary);
}

std::string exposition(const wire::Summary& summary, const Staleness::Counts& counts) {
  Page page;
  for (const auto& value : summary.value()) {
    if (value.tensor().double_val_size() != 1) continue;
    const std::string& tag = value.tag();
    const double number = value.tensor().double_val(0);
    const auto first = tag.find('/'), last = tag.rfind('/');
    const std::string group = tag.substr(0, first), what = tag.substr(last + 1);
    if (group == "calls") {
      page.add("troupe_calls_" + as_name(what), "counter", "By method, since the start", "method=" + quoted(tag.substr(first + 1, last - first - 1)),
               number);
    } else if (group == "links" || group == "node") {
      page.add(as_name(fmt::format("troupe_{}_{}", group, what)), what == "resident_bytes" ? "gauge" : "counter",
               "Of the whole node, since the start", "", number);
    }
  }
  page.add("troupe_variable_staleness", "Versions between what an update was computed from and what it met", "variable", counts.variables);
  page.add("troupe_worker_staleness", "The same by the task whose master ran the step", "worker", counts.workers);
  for (const auto& [name, version] : counts.versions)
    page.add("troupe_variable_version", "gauge", "After its latest update", "variable=" + quoted(name), static_cast<double>(version));
  const char* gradients_help = "Gradients handed to accumulators: taken, or dropped because they came too late";
  for (const auto& [name, gradients] : counts.accumulators) {
    page.add("troupe_accumulator_gradients", "counter", gradients_help, "accumulator=" + quoted(name) + ",fate=\"taken\"",
             static_cast<double>(gradients.taken));
    page.add("troupe_accumulator_gradients", "counter", gradients_help, "accumulator=" + quoted(name) + ",fate=\"dropped\"",
             static_cast<double>(gradients.dropped));
  }
  for (const auto& [name, gradients] : counts.senders) {
    page.add("troupe_worker_gradients", "counter", gradients_help, "worker=" + quoted(name) + ",fate=\"taken\"",
             static_cast<double>(gradients.taken));
    page.add("troupe_worker_gradients", "counter", gradients_help, "worker=" + quoted(name) + ",fate=\"dropped\"",
             static_cast<double>(gradients.dropped));
  }
  for (const auto& [who, waits] : counts.waits) {
    const std::string labels = "worker=" + quoted(who.first) + ",for=" + quoted(who.second);
    page.add("troupe_waits", "counter", "How often steps waited on this node", labels, static_cast<double>(waits.count));
    page.add("troupe_waits_seconds", "counter", "How long steps waited on this node", labels, waits.seconds);
  }
  return page.take();
}

}  // namespace troupe
