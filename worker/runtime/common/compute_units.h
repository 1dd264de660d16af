// SPDX-License-Identifier: Apache-2.0
// Masks of compute units for streams (hipExtStreamCreateWithCUMask). Our runtimes use every unit for every
// stream. They store a program's mask, and return it.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tf::runtime {

using ComputeUnits = std::vector<std::uint32_t>;  // a bit for each unit, unit 0 the lowest of the first word

inline constexpr std::uint32_t kUnitsPerWord = 32;

// The mask of all units of a device with this many.
inline ComputeUnits all_compute_units(int units) {
  const auto count = static_cast<std::uint32_t>(std::max(units, 1));
  ComputeUnits all((count + kUnitsPerWord - 1) / kUnitsPerWord, ~std::uint32_t{0});
  if (const std::uint32_t rest = count % kUnitsPerWord; rest != 0)
    all.back() = (std::uint32_t{1} << rest) - 1;
  return all;
}

// The part of a program's mask that a stream keeps: as many bits as the device has units.
inline ComputeUnits kept_compute_units(int units, std::uint32_t words, const std::uint32_t* mask) {
  return {mask, mask + std::min<std::size_t>(words, all_compute_units(units).size())};
}

// hipExtStreamGetCUMask's answer for a stream that keeps `kept` (nothing: created without a mask), on a
// current device with this many units. As in AMD's runtime, bits of missing units do not count, a mask
// without any unit means all, and words after the device's last stay unchanged. Words that the program did
// not give are 0.
inline hipError_t give_compute_units(const ComputeUnits& kept, int units, std::uint32_t words,
                                     std::uint32_t* mask) {
  const ComputeUnits all = all_compute_units(units);
  if (mask == nullptr || words < all.size()) return hipErrorInvalidValue;
  ComputeUnits used = all;
  for (std::size_t word = 0; word < used.size(); ++word) used[word] &= word < kept.size() ? kept[word] : 0;
  const bool any = std::any_of(used.begin(), used.end(), [](std::uint32_t word) { return word != 0; });
  const ComputeUnits& given = any ? used : all;
  std::copy(given.begin(), given.end(), mask);
  return hipSuccess;
}

}  // namespace tf::runtime
