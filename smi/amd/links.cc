// SPDX-License-Identifier: Apache-2.0
// Where devices are, and how they reach each other and the host.
#include "smi/vendor/links.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "smi/amd/layout.h"
#include "smi/amd/support.h"
#include "smi/gen/amd/custom.h"

namespace tf::amdsmi::custom {
namespace {

using smi::is_known;
using smi::kUnknown;

constexpr unsigned kDomainBitOfNumber = 32;
constexpr unsigned kDomainBitOfType = 16;
constexpr std::uint8_t kNotDefined = 0xff;
constexpr std::uint32_t kSlotUnknown = 3;
constexpr std::uint32_t kNoGeneration = 0xffffffff;

std::uint32_t type_of(const smi::Link& link) {
  return answered_link_type(static_cast<smi::LinkKind>(link.kind));
}

template <typename Number>
void put(Number& to, std::uint64_t number) {
  constexpr auto kNone = static_cast<Number>(~std::uint64_t{0});
  to = number < kNone ? static_cast<Number>(number) : kNone;
}

// Generation n is 2.5, 5, 8, 16, 32, 64 GT/s.
std::uint32_t generation_of(std::uint64_t mtps) {
  constexpr std::uint64_t kMtps[] = {2500, 5000, 8000, 16000, 32000, 64000};
  const auto* const found = std::ranges::find(kMtps, mtps);
  return found != std::end(kMtps) ? static_cast<std::uint32_t>(found - std::begin(kMtps)) + 1 : kNoGeneration;
}

// Of ROCm 6.1 these are zero where they are not known: that is what the vendor's library makes of a link that
// the kernel does not know, and its amd-smi computes with them.
void put_most(decltype(amdsmi_pcie_info_t::pcie_static)& to, const smi::Facts& facts) {
  put(to.max_pcie_width, facts.pcie_width_max);
  put(to.max_pcie_speed, facts.pcie_speed_max_mtps);
  to.pcie_interface_version = generation_of(facts.pcie_speed_max_mtps);
  if (!is_of_rocm_61()) return;
  if (!is_known(facts.pcie_width_max)) to.max_pcie_width = 0;
  if (!is_known(facts.pcie_speed_max_mtps)) to.max_pcie_speed = 0;
  if (to.pcie_interface_version == kNoGeneration) to.pcie_interface_version = 0;
}

amdsmi_status_t answer_number(amdsmi_processor_handle device, unsigned domain_bit, std::uint64_t* number) {
  smi::Facts facts;
  const amdsmi_status_t code = Answers::read_facts(device, facts);
  return code == kSuccess ? Answers::answer(smi::pci_number(facts, domain_bit), number) : code;
}

}  // namespace

amdsmi_status_t get_gpu_bdf_id(amdsmi_processor_handle device, std::uint64_t* bdfid) {
  return answer_number(device, kDomainBitOfNumber, bdfid);
}

amdsmi_status_t get_gpu_device_bdf(amdsmi_processor_handle device, amdsmi_bdf_t* bdf) {
  return answer_number(device, kDomainBitOfType, bdf != nullptr ? &bdf->as_uint : nullptr);
}

amdsmi_status_t get_gpu_pci_bandwidth(amdsmi_processor_handle device, amdsmi_pcie_bandwidth_t* bandwidth) {
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_sample(device, sample); code != kSuccess) return code;
  if (!is_known(sample.pcie_speed_mtps) || !is_known(sample.pcie_width)) return kNotSupported;
  if (bandwidth == nullptr) return kInvalidArguments;
  *bandwidth = {};
  bandwidth->transfer_rate.num_supported = 1;
  bandwidth->transfer_rate.frequency[0] = sample.pcie_speed_mtps * 1'000'000;
  bandwidth->lanes[0] = static_cast<std::uint32_t>(sample.pcie_width);
  return kSuccess;
}

// What is behind its last number stays as it is.
amdsmi_status_t get_pcie_info(amdsmi_processor_handle device, amdsmi_pcie_info_t* info) {
  smi::Facts facts;
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_both(device, facts, sample); code != kSuccess) return code;
  if (info == nullptr) return kInvalidArguments;
  auto& fixed = info->pcie_static;
  auto& now = info->pcie_metric;
  put_most(fixed, facts);
  fixed.slot_type = kSlotUnknown;
  std::ranges::fill(fixed.reserved, std::uint64_t{0});
  fixed.reserved[0] = fixed.pcie_interface_version;
  put(now.pcie_width, sample.pcie_width);
  put(now.pcie_speed, sample.pcie_speed_mtps);
  put(now.pcie_bandwidth, kUnknown);
  now.pcie_replay_count = sample.pcie_replays;
  now.pcie_l0_to_recovery_count = now.pcie_replay_roll_over_count = kUnknown;
  now.pcie_nak_sent_count = now.pcie_nak_received_count = kUnknown;
  put(now.pcie_lc_perf_other_end_recovery_count, kUnknown);
  return kSuccess;
}

amdsmi_status_t get_xgmi_info(amdsmi_processor_handle device, amdsmi_xgmi_info_t* info) {
  smi::Facts facts;
  if (const amdsmi_status_t code = Answers::read_facts(device, facts); code != kSuccess) return code;
  if (!is_known(facts.xgmi_hive_id)) return kNotSupported;
  if (info == nullptr) return kInvalidArguments;
  *info = {0, facts.xgmi_hive_id, 0, static_cast<std::uint32_t>(device_of(device))};
  return kSuccess;
}

amdsmi_status_t topo_get_link_weight(amdsmi_processor_handle from, amdsmi_processor_handle to,
                                     std::uint64_t* weight) {
  return smi::link_weight<Vendor>(from, to, weight);
}

amdsmi_status_t get_minmax_bandwidth_between_processors(amdsmi_processor_handle from,
                                                        amdsmi_processor_handle to,
                                                        std::uint64_t* min_bandwidth,
                                                        std::uint64_t* max_bandwidth) {
  return smi::link_bandwidth<Vendor>(from, to, min_bandwidth, max_bandwidth);
}

amdsmi_status_t topo_get_link_type(amdsmi_processor_handle from, amdsmi_processor_handle to,
                                   std::uint64_t* hops, std::uint32_t* type) {
  return smi::link_type<Vendor>(from, to, hops, type, &type_of);
}

amdsmi_status_t is_P2P_accessible(amdsmi_processor_handle from, amdsmi_processor_handle to,
                                  bool* accessible) {
  return smi::peer_access<Vendor>(from, to, accessible);
}

// What a link can do is not known.
amdsmi_status_t topo_get_p2p_status(amdsmi_processor_handle from, amdsmi_processor_handle to,
                                    std::uint32_t* type, amdsmi_p2p_capability_t* cap) {
  std::uint64_t hops = 0;
  if (cap == nullptr) return kInvalidArguments;
  const amdsmi_status_t code = topo_get_link_type(from, to, &hops, type);
  if (code == kSuccess) *cap = {kNotDefined, kNotDefined, kNotDefined, kNotDefined, kNotDefined};
  return code;
}

// The fewest hops first.
amdsmi_status_t get_link_topology_nearest(amdsmi_processor_handle device, std::uint32_t link_type,
                                          amdsmi_topology_nearest_t* topology_nearest_info) {
  std::uint32_t there = 0;
  int self = 0;
  if (const amdsmi_status_t code = Answers::find(device, self); code != kSuccess) return code;
  if (topology_nearest_info == nullptr) return kInvalidArguments;
  if (const amdsmi_status_t code = Answers::count_devices(there); code != kSuccess) return code;
  std::vector<std::pair<std::uint64_t, amdsmi_processor_handle>> near;
  for (int other = 0; static_cast<std::uint32_t>(other) < there; ++other) {
    smi::Link link;
    if (other == self) continue;
    if (const amdsmi_status_t code = Answers::read_link(device, handle_of(other), link); code != kSuccess)
      return code;
    if (asked_link_type(static_cast<smi::LinkKind>(link.kind)) == link_type)
      near.emplace_back(link.hops, handle_of(other));
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::uint64_t, amdsmi_processor_handle>::first);
  std::vector<amdsmi_processor_handle> handles;
  for (const auto& [hops, handle] : near) handles.push_back(handle);
  write_nearest(*topology_nearest_info, handles);
  return kSuccess;
}

}  // namespace tf::amdsmi::custom
