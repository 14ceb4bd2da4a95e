// Connections and requests.
#include "http.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>

namespace service {
namespace {

using asio::use_awaitable;

asio::awaitable<void> talk(boost::beast::tcp_stream stream, Route route) {
  boost::beast::flat_buffer buffer;
  for (;;) {
    http::request<http::string_body> request;
    co_await http::async_read(stream, buffer, request, use_awaitable);
    Answer answer = co_await route(std::string(request.method_string()) + " " + std::string(request.target()), request.body());
    http::response<http::string_body> response(answer.status, request.version());
    response.set(http::field::content_type, "text/plain");
    response.keep_alive(request.keep_alive());
    response.body() = std::move(answer.body);
    response.prepare_payload();
    co_await http::async_write(stream, response, use_awaitable);
    if (!request.keep_alive()) break;
  }
  stream.socket().shutdown(asio::ip::tcp::socket::shutdown_send);
}

}  // namespace

asio::awaitable<void> serve(asio::ip::tcp::acceptor& acceptor, Route route) {
  while (acceptor.is_open()) {
    boost::beast::tcp_stream stream(co_await acceptor.async_accept(use_awaitable));
    asio::co_spawn(acceptor.get_executor(), talk(std::move(stream), route), [](std::exception_ptr) {});  // a client that goes away
  }
}

}  // namespace service
