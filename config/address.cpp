// Checks of hosts and ports, strict enough that a typing error is found here and not by a connection that never comes.
#include <troupe/config/address.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace troupe {
namespace {

constexpr size_t longest_host = 253;

bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_host_char(char c) { return is_alnum(c) || c == '.' || c == '-' || c == '_'; }

bool reads_as(int family, std::string_view host) {
  // inet_pton stops at a NUL, so a literal that contains one would pass for its first part.
  if (host.find('\0') != std::string_view::npos) return false;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(family, std::string(host).c_str(), bytes.data()) == 1;
}

bool all_digits_and_dots(std::string_view host) {
  return std::all_of(host.begin(), host.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

Status check_name(std::string_view host) {
  if (host.empty()) return invalid("the host is empty; write 'host:port'");
  if (host.size() > longest_host) return invalid("the host has {} characters; use a name of at most {}", host.size(), longest_host);
  auto bad = std::find_if_not(host.begin(), host.end(), is_host_char);
  if (bad != host.end()) return invalid("the host '{}' has the character {:?}; use letters, digits, '.', '-' and '_'", host, *bad);
  if (!is_alnum(host.front()) && host.front() != '_')
    return invalid("the host '{}' starts with '{}'; start it with a letter or a digit", host, host.front());
  if (host.find("..") != std::string_view::npos) return invalid("the host '{}' has two dots in a row; remove one", host);
  if (all_digits_and_dots(host) && !is_ipv4(host)) return invalid("'{}' is no IPv4 address; it needs four numbers from 0 to 255", host);
  return {};
}

StatusOr<std::string> checked_ipv6(std::string_view literal) {
  if (!is_ipv6(literal)) return invalid("'{}' is no IPv6 address; write it like '[::1]:{}'", literal, default_port);
  return std::string(literal);
}

Status refuse_scheme(std::string_view text) {
  auto at = text.find("://");
  if (at == std::string_view::npos) return {};
  return invalid("'{}' has the scheme '{}://'; write 'host:port' without it", text, text.substr(0, at));
}

StatusOr<Address> parse_bracketed(std::string_view text) {
  auto close = text.find(']');
  if (close == std::string_view::npos) return invalid("'{}' has no closing ']'; write it like '[::1]:{}'", text, default_port);
  TRY_ASSIGN(std::string host, checked_ipv6(text.substr(1, close - 1)));
  std::string_view rest = text.substr(close + 1);
  if (rest.empty() || rest.front() != ':') return invalid("'{}' has no port; write '[{}]:{}'", text, host, default_port);
  TRY_ASSIGN(int port, parse_port(rest.substr(1)));
  return Address{std::move(host), port};
}

}  // namespace

bool is_ipv4(std::string_view host) { return reads_as(AF_INET, host); }

bool is_ipv6(std::string_view host) {
  // A zone (fe80::1%eth0) belongs to the machine, not to the literal that inet_pton knows.
  auto zone = host.find('%');
  if (zone == std::string_view::npos) return reads_as(AF_INET6, host);
  std::string_view name = host.substr(zone + 1);
  return !name.empty() && std::all_of(name.begin(), name.end(), is_host_char) && reads_as(AF_INET6, host.substr(0, zone));
}

bool is_loopback(std::string_view host) {
  if (is_ipv4(host)) return host.substr(0, 4) == "127.";
  if (is_ipv6(host)) {
    in6_addr bytes{};
    return inet_pton(AF_INET6, std::string(host).c_str(), &bytes) == 1 && IN6_IS_ADDR_LOOPBACK(&bytes);
  }
  std::string lower(host);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower == "localhost" || lower == "localhost.";
}

bool is_wildcard(std::string_view host) {
  in6_addr bytes{};
  if (is_ipv4(host)) return host == "0.0.0.0";
  return is_ipv6(host) && inet_pton(AF_INET6, std::string(host).c_str(), &bytes) == 1 && IN6_IS_ADDR_UNSPECIFIED(&bytes);
}

StatusOr<int> parse_port(std::string_view text) {
  int port = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  bool whole = end == text.data() + text.size() && !text.empty();
  if (!whole || error == std::errc::invalid_argument)
    return invalid("the port '{}' is no number; use one from 1 to 65535, or 0 to pick a free one", text);
  if (error != std::errc() || port < 0 || port > 65535)
    return invalid("the port {} is out of range; use one from 1 to 65535, or 0 to pick a free one", text);
  return port;
}

StatusOr<std::string> parse_host(std::string_view text) {
  if (text.size() > 1 && text.front() == '[' && text.back() == ']') return checked_ipv6(text.substr(1, text.size() - 2));
  if (text.find(':') != std::string_view::npos) return checked_ipv6(text);
  TRY(check_name(text));
  return std::string(text);
}

StatusOr<Address> parse_address(std::string_view text) {
  if (text.empty()) return invalid("the address is empty; write 'host:port'");
  TRY(refuse_scheme(text));
  if (text.front() == '[') return parse_bracketed(text);
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    TRY(check_name(text));
    return invalid("'{}' has no port; write '{}:{}'", text, text, default_port);
  }
  if (text.find(':') != colon) return invalid("'{}' has several colons; an IPv6 address needs brackets, like '[::1]:{}'", text, default_port);
  TRY(check_name(text.substr(0, colon)));
  TRY_ASSIGN(int port, parse_port(text.substr(colon + 1)));
  return Address{std::string(text.substr(0, colon)), port};
}

std::string to_string(const Address& address) {
  bool literal = address.host.find(':') != std::string::npos;
  return literal ? fmt::format("[{}]:{}", address.host, address.port) : fmt::format("{}:{}", address.host, address.port);
}

}  // namespace troupe
