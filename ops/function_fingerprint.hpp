// Functions that say what they are made of, for who must know equal ones in another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace troupe {

class FunctionLibrary;

/// The other side of a KeptFunction that can tell.
class HasFingerprint {
 public:
  /// Of the body, and of the bodies of functions in it; not of names.
  virtual std::uint64_t fingerprint() const = 0;
  /// An op in it whose state is not part of a dataset's, by its name; empty: there is none.
  virtual std::string stateful_op() const = 0;
  /// Where it and those it calls are defined.
  virtual const FunctionLibrary& library() const = 0;

 protected:
  ~HasFingerprint() = default;
};

/// FNV-1a, which is the same everywhere.
class Fingerprint {
 public:
  void add(const void* bytes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sum_ = (sum_ ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3u;
  }
  template <class Text>
  void add_text(const Text& text) {
    add_number(text.size());
    add(text.data(), text.size());
  }
  void add_number(std::uint64_t value) { add(&value, sizeof value); }
  std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325u;
};

}  // namespace troupe
