// SPDX-License-Identifier: Apache-2.0
// Writer and Reader: the little-endian encoding of messages that are not one fixed struct (HELLO, the
// device snapshot). Fixed-width integers, u32-counted strings and arrays, no padding, no varints.
//
// Both work in the caller's memory and never beyond it. The first failure is sticky: later writes do
// nothing, later reads give zero or empty, so a codec checks status() once at its end. Not thread-safe.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "transport/base/status.h"

namespace tf {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian and so is every target");

template <typename T>
concept WireNumber = (std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool> && sizeof(T) <= 8;

class Writer {
 public:
  explicit Writer(std::span<std::byte> target) : target_(target) {}

  template <WireNumber T>
  void put(T value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  // As u32: 0 or 1.
  void flag(bool value) { put<std::uint32_t>(value ? 1 : 0); }
  // u32 length, then the bytes. Longer than `bytes_max` is kInvalidArgument: the reader would refuse it.
  void text(std::string_view value, std::size_t bytes_max);
  // u32 count; the caller writes the elements.
  void count(std::size_t elements, std::size_t elements_max);
  void bytes(std::span<const std::byte> value);

  std::size_t size() const { return used_; }
  // kResourceExhausted when the target was too small.
  const Status& status() const { return status_; }
  // REQUIRES: status().is_ok()
  std::span<const std::byte> written() const { return target_.first(used_); }

 private:
  std::span<std::byte> target_;
  std::size_t used_ = 0;
  Status status_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> source) : source_(source) {}

  template <WireNumber T>
  T get() {
    T value{};
    bytes(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  // Anything but 0 and 1 is kProtocol.
  bool flag();
  // Returns a copy: a hostile peer may still be writing to the source. Longer than `bytes_max`: kProtocol.
  std::string text(std::size_t bytes_max);
  // A count of at most `elements_max` whose elements, of at least `element_bytes` each, fit into what
  // remains; so no allocation is sized by an unchecked number. 0 after a failure.
  std::size_t count(std::size_t elements_max, std::size_t element_bytes);
  void bytes(std::span<std::byte> target);

  std::size_t remaining() const { return source_.size() - used_; }
  // Records that the decoder itself found a value wrong. Sticky like any other failure.
  void reject(std::string_view why);
  const Status& status() const { return status_; }
  // status(), or kProtocol when bytes are left over.
  Status finish();

 private:
  bool need(std::size_t bytes, std::string_view what);

  std::span<const std::byte> source_;
  std::size_t used_ = 0;
  Status status_;
};

}  // namespace tf
