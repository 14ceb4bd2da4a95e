// Addresses to listen on.
#include <troupe/messaging/listen_address.hpp>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

namespace troupe {
namespace {

constexpr int pick_attempts = 32;

struct Socket {
  explicit Socket(int family) : fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  Socket(Socket&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  ~Socket() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

StatusOr<std::shared_ptr<addrinfo>> resolve(const ListenAddress& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const char* host = address.host.empty() ? nullptr : address.host.c_str();
  if (const int error = ::getaddrinfo(host, "0", &hints, &found); error != 0)
    return invalid("Cannot resolve the address {} to listen on: {}", address.host, ::gai_strerror(error));
  return std::shared_ptr<addrinfo>(found, ::freeaddrinfo);
}

int bound_port(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  const bool v6 = bound.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

/// Binds and listens as gRPC will, which needs the port for itself; returns errno.
int bind_to(const addrinfo& where, int port, std::vector<Socket>& held) {
  Socket socket(where.ai_family);
  if (socket.fd < 0) return errno;
  const int on = 1;
  ::setsockopt(socket.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (where.ai_family == AF_INET6) ::setsockopt(socket.fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  sockaddr_storage address{};
  std::memcpy(&address, where.ai_addr, where.ai_addrlen);
  if (where.ai_family == AF_INET6) reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(static_cast<std::uint16_t>(port));
  else reinterpret_cast<sockaddr_in&>(address).sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(socket.fd, reinterpret_cast<sockaddr*>(&address), where.ai_addrlen) != 0) return errno;
  if (::listen(socket.fd, 1) != 0) return errno;
  held.push_back(std::move(socket));
  return 0;
}

bool family_is_missing(int error) { return error == EAFNOSUPPORT || error == EADDRNOTAVAIL; }

/// One round: every address on its port, where those that ask for 0 share one. EADDRINUSE for a picked port means: pick again.
struct Round {
  const std::vector<ListenAddress>& addresses;
  std::vector<Socket> held{};
  ListenChoice choice{};
  int picked_port = 0;
  bool pick_again = false;

  Status add(const ListenAddress& address) {
    TRY_ASSIGN(const auto list, resolve(address));
    int error = 0;
    bool bound = false;
    for (const addrinfo* where = list.get(); where != nullptr; where = where->ai_next) {
      error = bind_to(*where, address.port != 0 ? address.port : picked_port, held);
      if (error == EADDRINUSE) break;
      if (error != 0) continue;
      bound = true;
      if (address.port == 0 && picked_port == 0) picked_port = bound_port(held.back().fd);
    }
    if (error == EADDRINUSE && address.port == 0) return pick_again = true, absl::OkStatus();
    if (error == EADDRINUSE || (!bound && !(family_is_missing(error) && addresses.size() > 1)))
      return unavailable("Could not start gRPC server: cannot listen on {}: {}", address.text(address.port), std::strerror(error));
    if (bound) choice.addresses.push_back(address.text(address.port != 0 ? address.port : picked_port));
    return absl::OkStatus();
  }
};

}  // namespace

std::string ListenAddress::text(int with_port) const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, with_port) : fmt::format("[{}]:{}", host, with_port);
}

StatusOr<std::vector<ListenAddress>> parse_listen_addresses(const std::vector<std::string>& addresses) {
  std::vector<ListenAddress> parsed;
  for (const std::string& text : addresses) {
    const auto colon = text.rfind(':');
    const char* end = text.data() + text.size();
    int port = -1;
    const bool number = colon != std::string::npos && std::from_chars(text.data() + colon + 1, end, port).ptr == end;
    if (!number || port < 0 || port > 65535) return invalid("Not an address of the form host:port to listen on: {}", text);
    std::string host = text.substr(0, colon);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    parsed.push_back({std::move(host), port});
  }
  if (parsed.empty()) return invalid("No address to listen on");
  return parsed;
}

StatusOr<ListenChoice> choose_listen_addresses(const std::vector<ListenAddress>& addresses) {
  for (int attempt = 0; attempt < pick_attempts; ++attempt) {
    Round round{addresses};
    for (const ListenAddress& address : addresses) {
      TRY(round.add(address));
      if (round.pick_again) break;
    }
    if (round.pick_again) continue;
    if (round.choice.addresses.empty())
      return unavailable("Could not start gRPC server: no address of {} can be bound", addresses.front().text(addresses.front().port));
    round.choice.picked = round.picked_port != 0;
    round.choice.port = addresses.front().port != 0 ? addresses.front().port : round.picked_port;
    return round.choice;
  }
  return unavailable("Could not start gRPC server: found no port that is free on all addresses");
}

}  // namespace troupe
