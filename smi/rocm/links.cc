// SPDX-License-Identifier: Apache-2.0
// Where devices are, and how they reach each other and the host.
#include "smi/gen/rocm/custom.h"
#include "smi/rocm/layout.h"
#include "smi/rocm/support.h"

namespace tf::rsmi::custom {
namespace {

using smi::is_known;

rsmi_status_t read_link(std::uint32_t from, std::uint32_t to, smi::Link& link) {
  return code_of(smi::with_remote([&](smi::Remote& remote) {
    const auto count = static_cast<std::uint32_t>(remote.device_count());
    if (from >= count || to >= count) return Status(Code::kInvalidArgument, "there is no such device");
    return remote.find_link(static_cast<int>(from), static_cast<int>(to), link);
  }));
}

RSMI_IO_LINK_TYPE kind_of(const smi::Link& link) {
  switch (static_cast<smi::LinkKind>(link.kind)) {
    case smi::LinkKind::kPcie: return kLinkPcie;
    case smi::LinkKind::kXgmi: return kLinkXgmi;
    default: return kLinkUndefined;  // the vendor has no name for it
  }
}

}  // namespace

// As hipDeviceGetPCIBusId has it, in the vendor's bits: domain, bus, device, function.
rsmi_status_t dev_pci_id_get(std::uint32_t dv_ind, std::uint64_t* bdfid) {
  smi::Facts facts;
  if (const rsmi_status_t code = read_facts(dv_ind, facts); code != kSuccess) return code;
  if (!is_known(facts.pci_bus)) return kNotSupported;
  return answer((facts.pci_domain & 0xffffffff) << 32 | (facts.pci_bus & 0xff) << 8 |
                    (facts.pci_device & 0x1f) << 3 | (facts.pci_function & 7),
                bdfid);
}

rsmi_status_t dev_pci_bandwidth_get(std::uint32_t dv_ind, rsmi_pcie_bandwidth_t* bandwidth) {
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  if (!is_known(sample.pcie_speed_mtps) || !is_known(sample.pcie_width)) return kNotSupported;
  if (bandwidth == nullptr) return kInvalidArguments;
  write_bandwidth(*bandwidth, sample.pcie_speed_mtps * 1'000'000,
                  static_cast<std::uint32_t>(sample.pcie_width));
  return kSuccess;
}

rsmi_status_t topo_get_link_weight(std::uint32_t dv_ind_src, std::uint32_t dv_ind_dst,
                                   std::uint64_t* weight) {
  smi::Link link;
  const rsmi_status_t code = read_link(dv_ind_src, dv_ind_dst, link);
  return code == kSuccess ? answer(link.weight, weight) : code;
}

rsmi_status_t topo_get_link_type(std::uint32_t dv_ind_src, std::uint32_t dv_ind_dst, std::uint64_t* hops,
                                 RSMI_IO_LINK_TYPE* type) {
  if (hops == nullptr || type == nullptr) return kInvalidArguments;
  smi::Link link;
  if (const rsmi_status_t code = read_link(dv_ind_src, dv_ind_dst, link); code != kSuccess) return code;
  *hops = is_known(link.hops) ? link.hops : 1;  // all are on one host
  *type = kind_of(link);
  return kSuccess;
}

rsmi_status_t minmax_bandwidth_get(std::uint32_t dv_ind_src, std::uint32_t dv_ind_dst,
                                   std::uint64_t* min_bandwidth, std::uint64_t* max_bandwidth) {
  smi::Link link;
  if (const rsmi_status_t code = read_link(dv_ind_src, dv_ind_dst, link); code != kSuccess) return code;
  if (min_bandwidth == nullptr) return kInvalidArguments;
  const rsmi_status_t code = answer(link.bandwidth_most_mb_per_s, max_bandwidth);
  return code == kSuccess ? answer(link.bandwidth_least_mb_per_s, min_bandwidth) : code;
}

rsmi_status_t is_P2P_accessible(std::uint32_t dv_ind_src, std::uint32_t dv_ind_dst, bool* accessible) {
  if (accessible == nullptr) return kInvalidArguments;
  smi::Link link;
  const rsmi_status_t code = read_link(dv_ind_src, dv_ind_dst, link);
  if (code == kSuccess) *accessible = link.peer_access != 0;
  return code;
}

}  // namespace tf::rsmi::custom
