// SPDX-License-Identifier: Apache-2.0
// What differs by major of librocm_smi64: the lists of frequencies. Defined once for each major (layout.cc).
#pragma once

#include <cstdint>
#include <span>

#include "smi/rocm/types.h"

namespace tf::rsmi {

inline constexpr std::size_t kFrequencies5 = 32;
inline constexpr std::size_t kFrequencies6 = 33;

// Up to ROCm 5.
struct Frequencies5 {
  std::uint32_t num_supported;
  std::uint32_t current;
  std::uint64_t frequency[kFrequencies5];
};
struct Bandwidth5 {
  Frequencies5 transfer_rate;
  std::uint32_t lanes[kFrequencies5];
};
// From ROCm 6 on.
struct Frequencies6 {
  bool has_deep_sleep;
  std::uint32_t num_supported;
  std::uint32_t current;
  std::uint64_t frequency[kFrequencies6];
};
struct Bandwidth6 {
  Frequencies6 transfer_rate;
  std::uint32_t lanes[kFrequencies6];
};

rsmi_version_t version();

// REQUIRES: at most kFrequencies5 of them, and `current` is one.
void write_frequencies(rsmi_frequencies_t& to, std::span<const std::uint64_t> frequencies,
                       std::uint32_t current);
// One rate, in transfers per second, on so many lanes.
void write_bandwidth(rsmi_pcie_bandwidth_t& to, std::uint64_t rate, std::uint32_t lanes);

}  // namespace tf::rsmi
