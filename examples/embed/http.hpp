// A small HTTP server on Beast: what the service had before it had a model.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http.hpp>

#include <functional>
#include <string>

namespace service {

namespace asio = boost::asio;
namespace http = boost::beast::http;

struct Answer {
  http::status status = http::status::ok;
  std::string body;
};
/// Answers "POST /path" with a body.
using Route = std::function<asio::awaitable<Answer>(std::string method_and_path, std::string body)>;

/// Accepts connections until the acceptor is closed; each is a coroutine on the acceptor's executor.
asio::awaitable<void> serve(asio::ip::tcp::acceptor& acceptor, Route route);

}  // namespace service
