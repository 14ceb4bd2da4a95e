// Ops that say something: Assert, Print, StringFormat; and those that a server does not run for its clients.
#include <troupe/ops/kernel.hpp>
#include <troupe/ops/logging/summarize.hpp>

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>

namespace troupe {
namespace {

Status assert_true(const Tensor& condition, const List& data, std::int64_t limit) {
  if (condition.rank() != 0) return invalid("In[0] should be a scalar: {}", condition.shape());
  if (condition.item<bool>()) return absl::OkStatus();
  std::string text = "assertion failed: ";
  for (int i = 0; i < data.size(); ++i) text += fmt::format("{}[{}]", i > 0 ? " " : "", summarize(data[i], limit));
  return make_status(Code::kInvalidArgument, text);
}

void write_line(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

/// Where PrintV2 writes; checked when the node is bound.
struct Stream {
  std::string name, end;

  static StatusOr<Stream> make(Binding& binding) {
    Stream s;
    TRY_ASSIGN(s.name, binding.attr<std::string>("output_stream"));
    TRY_ASSIGN(s.end, binding.attr<std::string>("end"));
    static constexpr std::string_view known[] = {"stdout", "stderr", "log(info)", "log(warning)", "log(error)"};
    const bool found = std::find(std::begin(known), std::end(known), s.name) != std::end(known);
    if (!found && !s.name.starts_with("file://")) return invalid("Unknown output stream: {}, Valid streams are: {}", s.name, fmt::join(known, " "));
    return s;
  }

  Status write(const std::string& text) const {
    if (name == "stdout") write_line(stdout, text + end);
    else if (name == "stderr") write_line(stderr, text + end);
    else if (name == "log(info)") spdlog::info("{}", text);
    else if (name == "log(warning)") spdlog::warn("{}", text);
    else if (name == "log(error)") spdlog::error("{}", text);
    else return append_to_file(name.substr(7), text + end);
    return absl::OkStatus();
  }

 private:
  static Status append_to_file(const std::string& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "a");
    if (!file) return invalid("Could not append to file: {}", path);
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = std::fclose(file) == 0;
    return written && closed ? absl::OkStatus() : invalid("Could not append to file: {}", path);
  }
};

/// A template cut at its placeholders.
struct Template {
  std::vector<std::string> pieces;

  static StatusOr<Template> make(Binding& binding) {
    TRY_ASSIGN(std::string text, binding.attr<std::string>("template"));
    TRY_ASSIGN(std::string placeholder, binding.attr<std::string>("placeholder"));
    Template t;
    std::size_t from = 0;
    if (!placeholder.empty())
      for (std::size_t at; (at = text.find(placeholder, from)) != std::string::npos; from = at + placeholder.size())
        t.pieces.push_back(text.substr(from, at - from));
    t.pieces.push_back(text.substr(from));
    const std::size_t inputs = binding.signature().inputs.size();
    if (t.pieces.size() != inputs + 1)
      return invalid("num placeholders in template and num inputs must match: {} vs. {}", t.pieces.size() - 1, inputs);
    return t;
  }
};

struct PrintCount {
  std::int64_t printed = 0;
};

}  // namespace

void add_logging(Registry& ops) {
  ops.add("Assert",
          [](Call&, In<bool> condition, List data, Attr<"summarize", std::int64_t> limit) { return assert_true(condition.tensor, data, *limit); });

  ops.add("Print", [](Call& call, Any input, List data, Attr<"message", std::string> message, Attr<"first_n", std::int64_t> first,
                      Attr<"summarize", std::int64_t> limit, State<PrintCount> count) {
    call.set(0, input.tensor);
    if (*first >= 0 && count->printed >= *first) return;
    ++count->printed;
    std::string text = *message;
    for (int i = 0; i < data.size(); ++i) text += '[' + summarize(data[i], *limit) + ']';
    write_line(stderr, text + '\n');
  });
  ops.add("PrintV2", [](Call&, In<std::string> input, State<Stream> stream) -> Status {
    if (input.dims() != 0) return invalid("Input is expected to be scalar, but got {}", input.shape());
    return stream->write(input[0]);
  });
  ops.add("StringFormat", [](Call& call, List inputs, Attr<"summarize", std::int64_t> ends, State<Template> t) {
    std::string text = t->pieces[0];
    for (int i = 0; i < inputs.size(); ++i) text += summarize_nested(inputs[i], *ends) + t->pieces[static_cast<std::size_t>(i) + 1];
    call.set_scalar(0, std::move(text));
  });
  ops.add("Timestamp",
          [](Call& call) { call.set_scalar(0, std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()); });

  ops.add("Abort", [](Call& call, Attr<"error_msg", std::string> text) {
    return permission_denied("{} is refused: a step may not end the process that serves it{}{}", call.node().op, text->empty() ? "" : ": ", *text);
  });
  // As a server of TensorFlow's says it that has an interpreter, but not the client's.
  ops.add({"PyFunc", "PyFuncStateless", "EagerPyFunc"}, [](Call& call, List, Attr<"token", std::string> token) {
    return invalid(
        "ValueError: Could not find callback with key={} in the registry. {} calls a function of the client's Python interpreter, which this server "
        "does not have; place it in the client or express it as ops",
        *token, call.node().op);
  });
}

}  // namespace troupe
