// SPDX-License-Identifier: Apache-2.0
// Fill: memory to be set to a repeated value of 1, 2 or 4 bytes; rows of `width` bytes in slices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tf::runtime {

struct Fill {
  std::byte* target = nullptr;
  std::uint32_t value = 0;
  std::uint32_t element_bytes = 1;
  std::size_t width = 0;  // bytes in a row, a multiple of element_bytes
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t pitch = 0;  // bytes from row to row
  std::size_t slice = 0;  // bytes from slice to slice
};

// The bytes from first to last, gaps included. False: the number overflows. REQUIRES: no side of it is 0
inline bool reach_of(const Fill& fill, std::size_t& bytes) {
  std::size_t rows = 0;
  if (__builtin_mul_overflow(fill.pitch, fill.height - 1, &rows)) return false;
  if (__builtin_mul_overflow(fill.slice, fill.depth - 1, &bytes)) return false;
  if (__builtin_add_overflow(bytes, rows, &bytes)) return false;
  return !__builtin_add_overflow(bytes, fill.width, &bytes);
}

}  // namespace tf::runtime
