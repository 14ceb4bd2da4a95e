// Network addresses as clusters name them: `host:port`, with IPv6 literals in brackets.
#pragma once

#include <troupe/messaging/status.hpp>

#include <string>
#include <string_view>

namespace troupe {

inline constexpr int default_port = 2222;

/// A host name, an IPv4 literal or an IPv6 literal (kept without its brackets), and a port; port 0 means "pick a free
/// one".
struct Address {
  std::string host;
  int port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

/// Reads `host:port`, `1.2.3.4:port` or `[::1]:port`. An error says what is wrong and how to write it instead.
StatusOr<Address> parse_address(std::string_view text);

/// Reads a host alone: a name, an IPv4 literal, or an IPv6 literal with or without brackets.
StatusOr<std::string> parse_host(std::string_view text);

/// A decimal number from 0 to 65535.
StatusOr<int> parse_port(std::string_view text);

/// `host:port`, with brackets around an IPv6 literal.
std::string to_string(const Address& address);

bool is_ipv4(std::string_view host);
bool is_ipv6(std::string_view host);
/// localhost, 127.x.y.z or ::1.
bool is_loopback(std::string_view host);
/// 0.0.0.0 or ::, which name every interface of a machine and no machine in particular.
bool is_wildcard(std::string_view host);

}  // namespace troupe
