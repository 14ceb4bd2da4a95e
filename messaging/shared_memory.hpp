// Memory that two processes of one machine share: one puts tensors into it, the other reads them where they are.
#pragma once

#include <troupe/messaging/status.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

/// A file descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// The side that writes. It grows up to a share of the machine's memory and reuses what is released. Of one thread.
class SharedWriter {
 public:
  static StatusOr<std::unique_ptr<SharedWriter>> create();
  ~SharedWriter();
  SharedWriter(const SharedWriter&) = delete;
  SharedWriter& operator=(const SharedWriter&) = delete;

  int descriptor() const { return file_.get(); }
  /// Copies bytes in and tells where; nothing when there is no room.
  std::optional<std::uint64_t> put(const void* data, std::size_t bytes);
  /// The reader needs that place no more; unknown places are ignored.
  void release(std::uint64_t offset);

 private:
  SharedWriter(Descriptor file, char* base, std::size_t capacity) : file_(std::move(file)), base_(base), capacity_(capacity) {}
  std::optional<std::uint64_t> allocate(std::size_t bytes);

  Descriptor file_;
  char* base_;
  std::size_t capacity_, size_ = 0;
  std::map<std::uint64_t, std::size_t> used_, free_;  // offset to size; neighbours in free_ are joined
};

/// The side that reads; what it gives stays readable as long as it lives, whatever becomes of the writer. Any thread may use it.
class SharedReader {
 public:
  /// Refuses memory that the writer could take away.
  static StatusOr<std::shared_ptr<SharedReader>> open(Descriptor file);
  ~SharedReader();
  SharedReader(const SharedReader&) = delete;
  SharedReader& operator=(const SharedReader&) = delete;

  /// Null when it is not inside.
  const void* at(std::uint64_t offset, std::size_t bytes);

 private:
  SharedReader(Descriptor file, char* base, std::size_t capacity) : file_(std::move(file)), base_(base), capacity_(capacity) {}
  Descriptor file_;
  char* base_;
  std::size_t capacity_;
  std::atomic<std::size_t> size_{0};  // as last seen; it never shrinks
};

/// A word that differs between machines, and between containers that do not share a network: a hint, not a proof.
std::string machine_hint();

// The proof: the reader listens on a Unix socket and tells its name and a secret over the link; the writer dials it, both see that the
// other is of the same user, and the writer leaves the secret there together with its memory and says so. Nobody waits.
struct Invitation {
  std::string socket;
  std::string secret;
};
/// A socket that listens, and what to tell the writer.
StatusOr<std::pair<Descriptor, Invitation>> invite();
/// Takes what the writer has left.
StatusOr<std::shared_ptr<SharedReader>> receive_memory(const Descriptor& listening, const Invitation& invitation);
/// Follows an invitation.
Status send_memory(const Invitation& invitation, int memory);

}  // namespace troupe
