// SPDX-License-Identifier: Apache-2.0
// copy_small(): inline memcpy for the few dozen bytes of a message. A call to memcpy with a size unknown at
// compile time costs more than the copy. And few wide stores hand the cache line to another core sooner than
// many narrow ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tf {

namespace internal {
template <std::size_t kBytes>
inline void copy_exactly(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, kBytes);  // a load and a store
}
}  // namespace internal

// As memcpy(to, from, bytes).
inline void copy_small(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kWide = 16;
  constexpr std::size_t kMost = 128;
  if (bytes > kMost) [[unlikely]] {
    std::memcpy(to, from, bytes);
    return;
  }
  if (bytes >= kWide) {
    // The last piece overlaps the one before it.
    for (std::size_t at = 0; at + kWide < bytes; at += kWide)
      internal::copy_exactly<kWide>(to + at, from + at);
    internal::copy_exactly<kWide>(to + bytes - kWide, from + bytes - kWide);
  } else if (bytes >= 8) {
    internal::copy_exactly<8>(to, from);
    internal::copy_exactly<8>(to + bytes - 8, from + bytes - 8);
  } else {
    for (std::size_t at = 0; at < bytes; ++at) to[at] = from[at];
  }
}

}  // namespace tf
