// Events of the first debugger, in the files that its readers expect.
#include <troupe/ops/logging/debug_publishing.hpp>

#include <troupe/messaging/event_listener.hpp>
#include <troupe/messaging/tensor_codec.hpp>
#include <troupe/messaging/wall_clock.hpp>
#include <troupe/ops/files/local_files.hpp>

#include <algorithm>
#include <functional>

namespace troupe {
namespace {

constexpr std::string_view file_scheme = "file://", grpc_scheme = "grpc://";

std::string directory_of_device(const std::string& device) {
  std::string name = device;
  std::replace(name.begin(), name.end(), '/', ',');
  std::replace(name.begin(), name.end(), ':', '_');
  return "_tfdbg_device_" + name;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string list_of(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const auto& name : names) all.push_back(quoted(name));
  return fmt::format("[{}]", fmt::join(all, ","));
}

/// Nobody is told of runs and graphs where a URL is wrong; the first tensor says so.
std::vector<std::string> known(const std::vector<std::string>& urls) {
  std::vector<std::string> good;
  for (const auto& url : urls)
    if (url.starts_with(file_scheme) || url.starts_with(grpc_scheme)) good.push_back(url);
  return good;
}

/// What a server gets: messages there have a greatest size.
using Chunks = std::function<std::vector<wire::Event>(const wire::Event&)>;
constexpr std::size_t largest_chunk = 3 << 20;

std::size_t chunks_of(std::size_t bytes) { return std::max<std::size_t>(1, (bytes + largest_chunk - 1) / largest_chunk); }

/// "hash,device,time|chunk|chunks|bytes".
std::vector<wire::Event> graph_chunks(const wire::Event& event, std::size_t hash, const std::string& device) {
  const std::string& all = event.graph_def();
  const std::size_t count = chunks_of(all.size());
  std::vector<wire::Event> chunks(count);
  for (std::size_t i = 0; i < count; ++i) {
    chunks[i].set_wall_time(event.wall_time());
    chunks[i].set_graph_def(fmt::format("{},{},{}|{}|{}|", hash, device, static_cast<std::int64_t>(event.wall_time()), i, count) +
                            all.substr(i * largest_chunk, largest_chunk));
  }
  return chunks;
}

std::string about_tensor(const WatchedTensor& watched, std::size_t chunk, std::size_t chunks) {
  return fmt::format("{{\"device\":{},\"outputSlot\":{},\"numChunks\":{},\"chunkIndex\":{}}}", quoted(watched.device), watched.slot, chunks, chunk);
}

std::vector<wire::Event> tensor_chunks(const wire::Event& event, const WatchedTensor& watched) {
  const std::string& all = event.summary().value(0).tensor().tensor_content();
  const std::size_t count = chunks_of(all.size());
  if (count == 1) return {event};
  wire::Event bare = event;
  bare.mutable_summary()->mutable_value(0)->mutable_tensor()->clear_tensor_content();
  std::vector<wire::Event> chunks(count, bare);
  for (std::size_t i = 0; i < count; ++i) {
    auto* value = chunks[i].mutable_summary()->mutable_value(0);
    value->mutable_tensor()->set_tensor_content(all.substr(i * largest_chunk, largest_chunk));
    value->mutable_metadata()->mutable_plugin_data()->set_content(about_tensor(watched, i, count));
  }
  return chunks;
}

/// The name gets the time behind it; two events of the same microsecond get different ones.
Status publish(wire::Event event, const std::string& name, const std::vector<std::string>& urls, const Chunks& in_chunks) {
  const std::int64_t now = now_micros();
  event.set_wall_time(static_cast<double>(now));
  const std::string bytes = event.SerializeAsString();
  for (const auto& url : urls) {
    if (url.starts_with(grpc_scheme)) {
      const std::string place = url.substr(grpc_scheme.size());
      std::vector<std::string> sent;
      for (const auto& chunk : in_chunks(event)) sent.push_back(chunk.SerializeAsString());
      TRY(send_events(place.substr(0, place.find('/')), sent));
      continue;
    }
    if (!url.starts_with(file_scheme)) return internal("Invalid debug target URL: {}", url);
    const std::string path = join_path(url.substr(file_scheme.size()), name);
    TRY(make_directories(std::string(directory_of(path))));
    std::int64_t when = now;
    while (file_exists(fmt::format("{}_{}", path, when))) ++when;
    TRY(write_file(fmt::format("{}_{}", path, when), bytes));
  }
  return absl::OkStatus();
}

}  // namespace

bool waits_for_servers(const std::vector<std::string>& urls) {
  return std::any_of(urls.begin(), urls.end(), [](const std::string& url) { return url.starts_with(grpc_scheme); });
}

Status publish_tensor(const WatchedTensor& watched, const Tensor& tensor, const std::vector<std::string>& urls) {
  if (urls.empty()) return absl::OkStatus();
  wire::Event event;
  auto* value = event.mutable_summary()->add_value();
  value->set_tag(watched.node);
  value->set_node_name(fmt::format("{}:{}:{}", watched.node, watched.slot, watched.op));
  to_proto(tensor, value->mutable_tensor());
  auto* plugin = value->mutable_metadata()->mutable_plugin_data();
  plugin->set_plugin_name("debugger");
  plugin->set_content(about_tensor(watched, 0, 1));
  return publish(std::move(event), fmt::format("{}/{}_{}_{}", directory_of_device(watched.device), watched.node, watched.slot, watched.op), urls,
                 [&](const wire::Event& e) { return tensor_chunks(e, watched); });
}

Status publish_graph(const std::string& device, const std::string& graph_def, const std::vector<std::string>& urls) {
  wire::Event event;
  event.set_graph_def(graph_def);
  const std::size_t hash = std::hash<std::string>()(graph_def);
  return publish(std::move(event), fmt::format("{}/_tfdbg_graph_hash{}", directory_of_device(device), hash), known(urls),
                 [&](const wire::Event& e) { return graph_chunks(e, hash, device); });
}

Status publish_run(const DebuggedRun& run, const std::vector<std::string>& urls) {
  wire::Event event;
  event.mutable_log_message()->set_message(fmt::format(
      "{{\"global_step\":{},\"session_run_index\":{},\"executor_step_index\":{},\"input_names\":{},\"output_names\":{},\"target_nodes\":{}}}",
      run.global_step, run.number, run.number, list_of(run.feeds), list_of(run.fetches), list_of(run.targets)));
  return publish(std::move(event), fmt::format("_tfdbg_core_metadata_sessionrun{:014}", run.number), known(urls),
                 [](const wire::Event& e) { return std::vector{e}; });
}

}  // namespace troupe
