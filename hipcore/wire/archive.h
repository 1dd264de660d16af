// SPDX-License-Identifier: Apache-2.0
// Encoder and Decoder: transport/base/codec.h's Writer and Reader behind one surface, so that one field list
// per struct serves both directions (see device_snapshot.cc). Failures are sticky. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/base/codec.h"
#include "transport/base/status.h"

namespace tf::protocol {

class Encoder {
 public:
  // Output longer than `target` is kResourceExhausted.
  explicit Encoder(std::span<std::byte> target) : out_(target) {}

  template <WireNumber T>
  void field(const T& value) {
    out_.put(value);
  }
  void field(const std::string& value, std::size_t bytes_max) { out_.text(value, bytes_max); }
  template <WireNumber T, std::size_t N>
  void array(const std::array<T, N>& values) {
    for (const T& value : values) out_.put(value);
  }
  // Writes the count of `values`; false after a failure. The caller visits the elements.
  template <typename T>
  bool elements(const std::vector<T>& values, std::size_t elements_max, std::size_t /*element_bytes_min*/) {
    out_.count(values.size(), elements_max);
    return out_.status().is_ok();
  }

  const Status& status() const { return out_.status(); }
  std::span<const std::byte> written() const { return out_.written(); }

 private:
  Writer out_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> source) : in_(source) {}

  template <WireNumber T>
  void field(T& value) {
    value = in_.get<T>();
  }
  void field(std::string& value, std::size_t bytes_max) { value = in_.text(bytes_max); }
  template <WireNumber T, std::size_t N>
  void array(std::array<T, N>& values) {
    for (T& value : values) value = in_.get<T>();
  }
  // Resizes `values` to a count that fits both the limit and the bytes left.
  template <typename T>
  bool elements(std::vector<T>& values, std::size_t elements_max, std::size_t element_bytes_min) {
    values.resize(in_.count(elements_max, element_bytes_min));
    return in_.status().is_ok();
  }

  void fail(std::string_view why) { in_.reject(why); }
  const Status& status() const { return in_.status(); }
  // status(), or kProtocol when bytes are left over.
  Status finish() { return in_.finish(); }

 private:
  Reader in_;
};

}  // namespace tf::protocol
