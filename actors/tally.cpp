// Counting of calls.
#include <troupe/actors/tally.hpp>

#include <troupe/messaging/dtype.hpp>

namespace troupe {

void add_number(const std::string& tag, double value, wire::Summary& summary) {
  auto* v = summary.add_value();
  v->set_tag(tag);
  v->mutable_metadata()->mutable_plugin_data()->set_plugin_name("scalars");
  v->mutable_metadata()->set_data_class(wire::DATA_CLASS_SCALAR);
  v->mutable_tensor()->set_dtype(static_cast<wire::DataType>(DType::f64));
  v->mutable_tensor()->mutable_tensor_shape();
  v->mutable_tensor()->add_double_val(value);
}

void Tally::add(const Answered& call) {
  if (call.method < 0 || static_cast<std::size_t>(call.method) >= counts_.size()) return;
  Counts& c = counts_[static_cast<std::size_t>(call.method)];
  ++c.calls;
  c.failed += call.failed;
  c.received += call.received;
  c.sent += call.sent;
  c.seconds += call.seconds;
  ++c.lately;
  c.durations.add(call.seconds);
}

void Tally::report_of(const std::string& name, const Counts& counts, wire::Summary& summary) {
  add_number(name + "/calls", static_cast<double>(counts.calls), summary);
  add_number(name + "/errors", static_cast<double>(counts.failed), summary);
  add_number(name + "/received_bytes", static_cast<double>(counts.received), summary);
  add_number(name + "/sent_bytes", static_cast<double>(counts.sent), summary);
  add_number(name + "/seconds", counts.seconds, summary);
}

wire::Summary Tally::report() {
  wire::Summary summary;
  Counts all;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    Counts& c = counts_[i];
    if (c.calls == 0) continue;
    report_of("calls/" + methods_[i], c, summary);
    if (c.lately > 0) {
      auto* v = summary.add_value();
      v->set_tag("durations/" + methods_[i]);
      c.durations.to_proto(v->mutable_histo());
      c.durations = Histogram();
      c.lately = 0;
    }
    all.calls += c.calls;
    all.failed += c.failed;
    all.received += c.received;
    all.sent += c.sent;
    all.seconds += c.seconds;
  }
  report_of("node", all, summary);
  return summary;
}

}  // namespace troupe
