// SPDX-License-Identifier: Apache-2.0
// Compiled once for each major of librocm_smi64: TF_RSMI_MAJOR.
#include "smi/rocm/layout.h"

#include <algorithm>

#include "smi/rocm/installed.h"

namespace tf::rsmi {
namespace {

// One name for the libraries of ROCm 5.2 and of 6; the others have the name of their ROCm.
constexpr int kMajorOfBoth = 1;

int rocm() {
  if constexpr (TF_RSMI_MAJOR != kMajorOfBoth) return TF_RSMI_MAJOR;
  static const int expected = expected_rocm();
  return expected;
}

template <typename Frequencies>
void write(Frequencies& to, std::span<const std::uint64_t> frequencies, std::uint32_t current) {
  to = {};
  to.num_supported = static_cast<std::uint32_t>(frequencies.size());
  to.current = current;
  std::ranges::copy(frequencies, to.frequency);
}

template <typename Bandwidth>
void write(Bandwidth& to, std::uint64_t rate, std::uint32_t lanes) {
  to = {};
  write(to.transfer_rate, std::span<const std::uint64_t>(&rate, 1), 0);
  to.lanes[0] = lanes;
}

}  // namespace

rsmi_version_t version() { return {static_cast<std::uint32_t>(rocm()), 0, 0, "hip-remote"}; }

void write_frequencies(rsmi_frequencies_t& to, std::span<const std::uint64_t> frequencies,
                       std::uint32_t current) {
  if (rocm() >= 6)
    write(reinterpret_cast<Frequencies6&>(to), frequencies, current);
  else
    write(reinterpret_cast<Frequencies5&>(to), frequencies, current);
}

void write_bandwidth(rsmi_pcie_bandwidth_t& to, std::uint64_t rate, std::uint32_t lanes) {
  if (rocm() >= 6)
    write(reinterpret_cast<Bandwidth6&>(to), rate, lanes);
  else
    write(reinterpret_cast<Bandwidth5&>(to), rate, lanes);
}

}  // namespace tf::rsmi
