// SPDX-License-Identifier: Apache-2.0
// Compiled once for each major of librocm_smi64: TF_RSMI_MAJOR.
#include "smi/rocm/layout.h"

#include <algorithm>
#include <type_traits>

namespace tf::rsmi {
namespace {

constexpr bool kOfRocm6 = TF_RSMI_MAJOR >= 6;
using Frequencies = std::conditional_t<kOfRocm6, Frequencies6, Frequencies5>;
using Bandwidth = std::conditional_t<kOfRocm6, Bandwidth6, Bandwidth5>;

void write(Frequencies& to, std::span<const std::uint64_t> frequencies, std::uint32_t current) {
  to = {};
  to.num_supported = static_cast<std::uint32_t>(frequencies.size());
  to.current = current;
  std::ranges::copy(frequencies, to.frequency);
}

}  // namespace

// Debian calls ROCm 5.2's library .so.1.
const rsmi_version_t kVersion{TF_RSMI_MAJOR == 1 ? 5 : TF_RSMI_MAJOR, 0, 0, "hip-remote"};

void write_frequencies(rsmi_frequencies_t& to, std::span<const std::uint64_t> frequencies,
                       std::uint32_t current) {
  write(reinterpret_cast<Frequencies&>(to), frequencies, current);
}

void write_bandwidth(rsmi_pcie_bandwidth_t& to, std::uint64_t rate, std::uint32_t lanes) {
  auto& bandwidth = reinterpret_cast<Bandwidth&>(to);
  bandwidth = {};
  write(bandwidth.transfer_rate, std::span(&rate, 1), 0);
  bandwidth.lanes[0] = lanes;
}

}  // namespace tf::rsmi
