// SPDX-License-Identifier: Apache-2.0
// Place: where the elements of an array stand, in addresses. Copies to and from arrays are boxes between
// addresses, as all other copies (hipcore/graph/box.h).
//
// Only on the CPU runtime memory stands there. Elsewhere a runtime lays its arrays out as it likes. The
// addresses are then names for positions in the array, in a window that no memory has; whoever hands the copy
// to that runtime turns them back into the array and a position.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <optional>

namespace tf::array {

// Addresses that user space never has, on x86-64 as on arm64. Each side counts through them on its own.
inline constexpr std::uint64_t kNamesBegin = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kNamesEnd = std::uint64_t{1} << 63;

inline bool is_name(std::uint64_t address) { return address >= kNamesBegin && address < kNamesEnd; }

struct Place {
  std::uint64_t base = 0;
  std::uint64_t pitch = 0;  // bytes from row to row
  std::uint64_t slice = 0;  // bytes from slice to slice
  std::uint64_t row_bytes = 0;
  std::uint64_t rows = 1;
  std::uint64_t slices = 1;  // or layers
  std::uint32_t element_bytes = 1;

  std::uint64_t bytes() const { return slices * slice; }
};

// A position in an array.
struct Position {
  std::uint64_t x = 0;  // bytes
  std::uint64_t y = 0;  // rows
  std::uint64_t z = 0;  // slices
};
inline Position position_of(const Place& place, std::uint64_t address) {
  const std::uint64_t offset = address - place.base;
  return {offset % place.slice % place.pitch, offset % place.slice / place.pitch, offset / place.slice};
}

struct FoundArray {
  hipArray_t array = nullptr;
  Place place;
};

// Knows the arrays of a program. Any thread.
class Finder {
 public:
  virtual std::optional<Place> find(hipArray_const_t array) const = 0;
  // The array that this address is part of.
  virtual std::optional<FoundArray> at(std::uint64_t address) const = 0;

 protected:
  ~Finder() = default;
};

}  // namespace tf::array
