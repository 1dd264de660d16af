// SPDX-License-Identifier: Apache-2.0
// streaming_copy(): memcpy() whose target does not stay in this core's caches, for a device to read next. A
// device that reads lines which lie modified in the caches of several cores gets them one by one from there:
// 256 KiB filled by eight cores took it 13 us, the same streamed to memory 7 (H200, PCIe Gen5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tf::proxy {

#if defined(__x86_64__)

// All of it is visible to others, as after any store, once a later release store is. REQUIRES: no overlap
inline void streaming_copy(std::byte* target, const std::byte* source, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kWord = sizeof(__m128i);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(target) % kWord;
  if (bytes < kLine + head) {
    if (bytes != 0) std::memcpy(target, source, bytes);  // no bytes may be nowhere
    return;
  }
  std::memcpy(target, source, head);
  std::size_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    const auto* const from = reinterpret_cast<const __m128i*>(source + at);
    auto* const to = reinterpret_cast<__m128i*>(target + at);
    const __m128i words[] = {_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2),
                             _mm_loadu_si128(from + 3)};
    for (std::size_t word = 0; word < kLine / kWord; ++word) _mm_stream_si128(to + word, words[word]);
  }
  std::memcpy(target + at, source + at, bytes - at);
  _mm_sfence();  // streaming stores are not ordered by later ones
}

#else

inline void streaming_copy(std::byte* target, const std::byte* source, std::size_t bytes) {
  std::memcpy(target, source, bytes);
}

#endif

}  // namespace tf::proxy
