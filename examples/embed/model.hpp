// A linear model whose weights live on two parameter servers inside of this process.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <troupe/actors/embed/variable.hpp>

#include <string>
#include <vector>

namespace service {

namespace asio = boost::asio;

/// Used on the executor of its stage.
class Model {
 public:
  explicit Model(const troupe::embed::Stage& stage);

  asio::awaitable<troupe::Status> start();
  asio::awaitable<troupe::Status> stop();
  /// Where TensorFlow's clients find it: "grpc://localhost:port".
  std::string target() const { return worker_.target(); }

  asio::awaitable<troupe::StatusOr<float>> predict(std::vector<float> x);
  /// One update by gradient descent, towards y at x.
  asio::awaitable<troupe::Status> learn(std::vector<float> x, float y);

 private:
  troupe::embed::Node first_, second_, worker_;
  troupe::embed::Session session_;
};

}  // namespace service
