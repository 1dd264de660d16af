// SPDX-License-Identifier: Apache-2.0
// Reads little-endian numbers from unchecked bytes. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace tf::codeobject {

using Bytes = std::span<const std::byte>;

inline constexpr std::uint64_t kMaxImageBytes = std::uint64_t{4} << 30;

// The part [offset, offset + size) of `bytes`; nothing if any of it lies outside.
inline std::optional<Bytes> slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

// The T at `offset`; REQUIRES: it lies inside.
template <typename T>
T load(Bytes bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace tf::codeobject
