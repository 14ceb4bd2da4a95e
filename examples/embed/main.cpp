// An HTTP service with a model inside, all on one thread: its own io_context also runs Troupe's actors.
//
//   POST /predict  "1 2"      the model's value at x = (1, 2)
//   POST /learn    "1 2 5"    one step towards y = 5 there, in the background
//   GET  /healthz
//
// It prints where it serves HTTP, and where TensorFlow's clients may train the same variables meanwhile. `--help` lists options.
#include "http.hpp"
#include "model.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

namespace {

using namespace service;

Answer answer_of(const troupe::Status& status) {
  if (status.ok()) return {};
  const bool theirs = status.code() == troupe::Code::kInvalidArgument;
  return {theirs ? http::status::bad_request : http::status::service_unavailable, troupe::text_of(status) + "\n"};
}

std::vector<float> numbers(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<float>(in), {}};
}

asio::awaitable<Answer> route(Model& model, std::string path, std::string body) {
  auto x = numbers(body);
  if (path == "GET /healthz")
    co_return model.target().empty() ? Answer{http::status::service_unavailable, "no model yet\n"} : Answer{http::status::ok, "ok\n"};
  if (path == "POST /start") {
    const auto status = co_await model.start();
    co_return status.ok() ? Answer{http::status::ok, model.target() + "\n"} : answer_of(status);
  }
  if (path == "POST /predict") {
    const auto value = co_await model.predict(x);
    co_return value.ok() ? Answer{http::status::ok, fmt::format("{}\n", *value)} : answer_of(value.status());
  }
  if (path == "POST /learn") {
    if (x.size() < 2) co_return Answer{http::status::bad_request, "Give x, and y after it\n"};
    const float y = x.back();
    x.pop_back();
    asio::co_spawn(co_await asio::this_coro::executor, model.learn(std::move(x), y), asio::detached);
    co_return Answer{http::status::accepted, ""};
  }
  co_return Answer{http::status::not_found, "Nothing here\n"};
}

struct Options {
  unsigned short port = 0;
  bool idle = false;  // the model is started by a request
};

constexpr const char* help = R"(usage: embed_service [--port=N] [--idle]

An HTTP service with a model inside, all on one thread. It prints the address of the service, then the target for TensorFlow's clients.

  --port=N   serve HTTP on this port of the loopback interface; 0, the default, picks a free one
  --idle     start without the model, which POST /start then starts
  --help     this text

  POST /predict "1 2"      the model's value at x = (1, 2)
  POST /learn   "1 2 5"    one step towards y = 5 there, in the background
  POST /start              starts the model, answers with the target
  GET  /healthz            200 while the model is there
)";

/// The program's exit status.
asio::awaitable<int> live(Model& model, Options options) {
  const auto executor = co_await asio::this_coro::executor;
  if (!options.idle) {
    if (const auto status = co_await model.start(); !status.ok()) {
      fmt::print(stderr, "{}\n", troupe::text_of(status));
      co_return 1;
    }
  }
  asio::ip::tcp::acceptor acceptor(executor, {asio::ip::address_v4::loopback(), options.port});
  asio::co_spawn(executor, serve(acceptor, [&](std::string path, std::string body) { return route(model, std::move(path), std::move(body)); }),
                 [](const std::exception_ptr&) {});
  fmt::print("http://localhost:{}\n{}\n", acceptor.local_endpoint().port(), model.target());
  std::fflush(stdout);
  asio::signal_set signals(executor, SIGINT, SIGTERM);
  co_await signals.async_wait(asio::use_awaitable);
  acceptor.close();
  if (!model.target().empty()) co_await model.stop();
  co_return 0;
}

/// False where an argument makes no sense.
bool read(std::string_view argument, Options& options) {
  constexpr std::string_view port = "--port=";
  if (argument == "--idle") return options.idle = true;
  if (!argument.starts_with(port)) return false;
  const std::string number(argument.substr(port.size()));
  char* end = nullptr;
  const unsigned long value = std::strtoul(number.c_str(), &end, 10);
  options.port = static_cast<unsigned short>(value);
  return !number.empty() && *end == 0 && value <= 65535;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help") {
      fmt::print("{}", help);
      return 0;
    }
    if (!read(argv[i], options)) {
      fmt::print(stderr, "embed_service: what is {}?\n{}", argv[i], help);
      return 2;
    }
  }
  asio::io_context io(1);
  troupe::embed::Stage stage(io);
  Model model(stage);
  int result = 1;
  asio::co_spawn(io, live(model, options), [&](const std::exception_ptr& failed, int status) {
    if (!failed) result = status;
    else fmt::print(stderr, "embed_service: cannot serve on port {}\n", options.port);
    io.stop();
  });
  io.run();
  return result;
}
