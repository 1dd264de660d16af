// SPDX-License-Identifier: Apache-2.0
// Where devices are, and how they reach each other, as AMD's two libraries ask. These may throw.
#pragma once

#include <cstdint>

#include "smi/vendor/answers.h"

namespace tf::smi {

// As hipDeviceGetPCIBusId has it, in both libraries' bits: domain, bus, device, function. `domain_bit`: where
// the domain begins.
inline std::uint64_t pci_number(const Facts& facts, unsigned domain_bit) {
  if (!is_known(facts.pci_bus)) return kUnknown;
  return (facts.pci_domain & 0xffffffff) << domain_bit | (facts.pci_bus & 0xff) << 8 |
         (facts.pci_device & 0x1f) << 3 | (facts.pci_function & 7);
}

template <typename Vendor>
typename Vendor::Code link_weight(typename Vendor::Handle from, typename Vendor::Handle to,
                                  std::uint64_t* weight) {
  Link link;
  const auto code = Answers<Vendor>::read_link(from, to, link);
  return code == Vendor::kSuccess ? Answers<Vendor>::answer(link.weight, weight) : code;
}

// All are on one host: at least one hop, where the number is not known.
template <typename Vendor, typename Kind>
typename Vendor::Code link_type(typename Vendor::Handle from, typename Vendor::Handle to, std::uint64_t* hops,
                                Kind* kind, Kind (*kind_of)(const Link&)) {
  if (hops == nullptr || kind == nullptr) return Vendor::kInvalidArguments;
  Link link;
  if (const auto code = Answers<Vendor>::read_link(from, to, link); code != Vendor::kSuccess) return code;
  *hops = is_known(link.hops) ? link.hops : 1;
  *kind = kind_of(link);
  return Vendor::kSuccess;
}

template <typename Vendor>
typename Vendor::Code link_bandwidth(typename Vendor::Handle from, typename Vendor::Handle to,
                                     std::uint64_t* least, std::uint64_t* most) {
  using A = Answers<Vendor>;
  Link link;
  if (const auto code = A::read_link(from, to, link); code != Vendor::kSuccess) return code;
  if (least == nullptr) return Vendor::kInvalidArguments;
  const auto code = A::answer(link.bandwidth_most_mb_per_s, most);
  return code == Vendor::kSuccess ? A::answer(link.bandwidth_least_mb_per_s, least) : code;
}

template <typename Vendor>
typename Vendor::Code peer_access(typename Vendor::Handle from, typename Vendor::Handle to,
                                  bool* accessible) {
  if (accessible == nullptr) return Vendor::kInvalidArguments;
  Link link;
  const auto code = Answers<Vendor>::read_link(from, to, link);
  if (code == Vendor::kSuccess) *accessible = link.peer_access != 0;
  return code;
}

}  // namespace tf::smi
