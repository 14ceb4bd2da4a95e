// Examples written as JSON to their binary form.
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>
#include <troupe/wire/example.pb.h>
#include <troupe/ops/kernel.hpp>

#include <memory>

namespace troupe {
namespace {

namespace pb = google::protobuf;

/// Messages name types; clients know them under TensorFlow's names.
std::string in_their_names(std::string text) {
  const std::string ours = wire::Example::descriptor()->file()->package() + ".";
  for (auto at = text.find(ours); at != std::string::npos; at = text.find(ours)) text.replace(at, ours.size(), "tensorflow.");
  return text;
}

Status decode_json(Call& call, const In<std::string>& json) {
  std::string* out = call.alloc<std::string>(0, json.shape());
  const std::unique_ptr<pb::util::TypeResolver> resolver(
      pb::util::NewTypeResolverForDescriptorPool("type.googleapis.com", wire::Example::descriptor()->file()->pool()));
  const std::string type = "type.googleapis.com/" + wire::Example::descriptor()->full_name();
  for (std::int64_t i = 0; i < json.size(); ++i) {
    pb::io::ArrayInputStream from(json[i].data(), static_cast<int>(json[i].size()));
    pb::io::StringOutputStream to(&out[i]);
    const auto status = pb::util::JsonToBinaryStream(resolver.get(), type, &from, &to);
    if (!status.ok()) return invalid("Error while parsing JSON: {}", in_their_names(std::string(status.message().data(), status.message().size())));
  }
  return absl::OkStatus();
}

}  // namespace

void add_json_example(Registry& ops) {
  ops.add("DecodeJSONExample", [](Call& call, In<std::string> json) { return decode_json(call, json); });
  ops.cost({"DecodeJSONExample"}, 5000);
}

}  // namespace troupe
