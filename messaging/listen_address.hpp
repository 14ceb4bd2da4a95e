// Addresses to listen on: which can be bound, and which port is free on all of them.
#pragma once

#include <troupe/messaging/status.hpp>

#include <string>
#include <vector>

namespace troupe {

struct ListenAddress {
  std::string host;  // without brackets
  int port = 0;
  std::string text(int with_port) const;  // "host:port", IPv6 in brackets
};

/// What to bind, and the port: the first address's, or the one picked for those that ask for 0.
struct ListenChoice {
  std::vector<std::string> addresses;
  int port = 0;
  bool picked = false;
};

StatusOr<std::vector<ListenAddress>> parse_listen_addresses(const std::vector<std::string>& addresses);

/// Tries every address with a socket of its own, since gRPC does not say why it cannot bind. UNAVAILABLE names an address that
/// is taken. Addresses of a family that this machine has not are left out, unless all are.
StatusOr<ListenChoice> choose_listen_addresses(const std::vector<ListenAddress>& addresses);

}  // namespace troupe
