// Shared memory in a file without a name, and its way to the other process.
#include <troupe/messaging/shared_memory.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <random>

namespace troupe {
namespace {

constexpr std::size_t granule = 4 * 1024;
constexpr std::size_t growth = 16u << 20;
/// Reserved addresses; memory is taken as it is needed.
constexpr std::size_t mapped = std::size_t{16} << 30;
constexpr std::size_t secret_size = 32;

std::size_t physical_memory() { return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
std::size_t capacity() { return std::min(mapped, physical_memory() / 8 / granule * granule); }

/// What all writers of this process have taken together; a quarter of the machine is the most.
std::atomic<std::size_t> taken{0};

bool take_share(std::size_t bytes) {
  if (taken.fetch_add(bytes) + bytes <= physical_memory() / 4) return true;
  taken.fetch_sub(bytes);
  return false;
}

Status system_error(const char* what) { return unavailable("{}: {}", what, std::strerror(errno)); }

std::string random_text() {
  std::random_device source;
  std::string text;
  while (text.size() < secret_size) text += fmt::format("{:08x}", source());
  return text;
}

/// An abstract name: gone with its socket, and seen only where the network is the same.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), size);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
}

Status check_user(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return system_error("SO_PEERCRED");
  if (credentials.uid != geteuid()) return make_status(Code::kPermissionDenied, "The other process belongs to another user");
  return absl::OkStatus();
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

StatusOr<std::unique_ptr<SharedWriter>> SharedWriter::create() {
  Descriptor file(memfd_create("troupe-link", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return system_error("memfd_create");
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return system_error("F_SEAL_SHRINK");
  const std::size_t size = capacity();
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (base == MAP_FAILED) return system_error("mmap");
  return std::unique_ptr<SharedWriter>(new SharedWriter(std::move(file), static_cast<char*>(base), size));
}

SharedWriter::~SharedWriter() {
  munmap(base_, capacity_);
  taken.fetch_sub(size_);
}

std::optional<std::uint64_t> SharedWriter::put(const void* data, std::size_t bytes) {
  const auto offset = allocate(bytes);
  if (offset) std::memcpy(base_ + *offset, data, bytes);
  return offset;
}

std::optional<std::uint64_t> SharedWriter::allocate(std::size_t bytes) {
  const std::size_t wanted = (bytes + granule - 1) / granule * granule;
  for (;;) {
    for (auto place = free_.begin(); place != free_.end(); ++place) {
      const auto [offset, size] = *place;
      if (size < wanted) continue;
      free_.erase(place);
      if (size > wanted) free_[offset + wanted] = size - wanted;
      used_[offset] = wanted;
      return offset;
    }
    const std::size_t more = (wanted + growth - 1) / growth * growth;
    if (more > capacity_ - size_ || !take_share(more)) return std::nullopt;
    // Memory that is not there is refused here, where a mapping would end the process later.
    if (fallocate(file_.get(), 0, static_cast<off_t>(size_), static_cast<off_t>(more)) != 0) {
      taken.fetch_sub(more);
      return std::nullopt;
    }
    used_[size_] = more;
    size_ += more;
    release(size_ - more);
  }
}

void SharedWriter::release(std::uint64_t offset) {
  auto found = used_.find(offset);
  if (found == used_.end()) return;
  auto place = free_.emplace(offset, found->second).first;
  used_.erase(found);
  if (auto next = std::next(place); next != free_.end() && place->first + place->second == next->first) {
    place->second += next->second;
    free_.erase(next);
  }
  if (place == free_.begin()) return;
  if (auto before = std::prev(place); before->first + before->second == place->first) {
    before->second += place->second;
    free_.erase(place);
  }
}

StatusOr<std::shared_ptr<SharedReader>> SharedReader::open(Descriptor file) {
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return invalid("The memory offered could be taken away");
  void* base = mmap(nullptr, mapped, PROT_READ, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (base == MAP_FAILED) return system_error("mmap");
  return std::shared_ptr<SharedReader>(new SharedReader(std::move(file), static_cast<char*>(base), mapped));
}

SharedReader::~SharedReader() { munmap(base_, capacity_); }

const void* SharedReader::at(std::uint64_t offset, std::size_t bytes) {
  const auto is_inside = [&](std::size_t size) { return offset <= size && bytes <= size - offset; };
  if (is_inside(size_.load(std::memory_order_relaxed))) return base_ + offset;
  struct stat facts {};
  if (fstat(file_.get(), &facts) != 0) return nullptr;
  const auto size = std::min(static_cast<std::size_t>(facts.st_size), capacity_);
  size_.store(size, std::memory_order_relaxed);
  return is_inside(size) ? base_ + offset : nullptr;
}

std::string machine_hint() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat network {};
  if (boot.empty() || stat("/proc/self/ns/net", &network) != 0) return {};
  return fmt::format("{}/{}", boot, network.st_ino);
}

StatusOr<std::pair<Descriptor, Invitation>> invite() {
  Invitation invitation{"troupe-" + random_text(), random_text()};
  Descriptor listening(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listening.valid()) return system_error("socket");
  sockaddr_un address;
  const socklen_t size = address_of(invitation.socket, address);
  if (bind(listening.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listening.get(), 1) != 0) return system_error("bind");
  return std::pair(std::move(listening), std::move(invitation));
}

StatusOr<std::shared_ptr<SharedReader>> receive_memory(const Descriptor& listening, const Invitation& invitation) {
  const Descriptor peer(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!peer.valid()) return system_error("accept");
  TRY(check_user(peer.get()));
  char secret[secret_size] = {};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{secret, sizeof(secret)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t got = recvmsg(peer.get(), &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  Descriptor file;
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    file = Descriptor(fd);
  }
  if (got != static_cast<ssize_t>(secret_size) || std::string(secret, secret_size) != invitation.secret || !file.valid())
    return make_status(Code::kPermissionDenied, "Somebody else came to the socket");
  return SharedReader::open(std::move(file));
}

Status send_memory(const Invitation& invitation, int memory) {
  if (invitation.secret.size() != secret_size) return invalid("An invitation without a secret");
  const Descriptor peer(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!peer.valid()) return system_error("socket");
  sockaddr_un address;
  const socklen_t size = address_of(invitation.socket, address);
  if (connect(peer.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return system_error("connect");
  TRY(check_user(peer.get()));
  std::string secret = invitation.secret;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{secret.data(), secret.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &memory, sizeof(memory));
  if (sendmsg(peer.get(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(secret.size())) return system_error("sendmsg");
  return absl::OkStatus();
}

}  // namespace troupe
