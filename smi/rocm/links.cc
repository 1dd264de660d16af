// SPDX-License-Identifier: Apache-2.0
// Where devices are, and how they reach each other and the host.
#include "smi/vendor/links.h"
#include "smi/gen/rocm/custom.h"
#include "smi/rocm/layout.h"
#include "smi/rocm/support.h"

namespace tf::rsmi::custom {
namespace {

using smi::is_known;

constexpr unsigned kDomainBit = 32;

RSMI_IO_LINK_TYPE kind_of(const smi::Link& link) {
  switch (static_cast<smi::LinkKind>(link.kind)) {
    case smi::LinkKind::kPcie: return kLinkPcie;
    case smi::LinkKind::kXgmi: return kLinkXgmi;
    default: return kLinkUndefined;  // the vendor has no name for it
  }
}

}  // namespace

rsmi_status_t dev_pci_id_get(std::uint32_t dv_ind, std::uint64_t* bdfid) {
  smi::Facts facts;
  const rsmi_status_t code = Answers::read_facts(dv_ind, facts);
  return code == kSuccess ? Answers::answer(smi::pci_number(facts, kDomainBit), bdfid) : code;
}

rsmi_status_t dev_pci_bandwidth_get(std::uint32_t dv_ind, rsmi_pcie_bandwidth_t* bandwidth) {
  smi::Sample sample;
  if (const rsmi_status_t code = Answers::read_sample(dv_ind, sample); code != kSuccess) return code;
  if (!is_known(sample.pcie_speed_mtps) || !is_known(sample.pcie_width)) return kNotSupported;
  if (bandwidth == nullptr) return kInvalidArguments;
  write_bandwidth(*bandwidth, sample.pcie_speed_mtps * 1'000'000,
                  static_cast<std::uint32_t>(sample.pcie_width));
  return kSuccess;
}

rsmi_status_t topo_get_link_weight(std::uint32_t dv_ind_src, std::uint32_t dv_ind_dst,
                                   std::uint64_t* weight) {
  return smi::link_weight<Vendor>(dv_ind_src, dv_ind_dst, weight);
}

rsmi_status_t topo_get_link_type(std::uint32_t dv_ind_src, std::uint32_t dv_ind_dst, std::uint64_t* hops,
                                 RSMI_IO_LINK_TYPE* type) {
  return smi::link_type<Vendor>(dv_ind_src, dv_ind_dst, hops, type, &kind_of);
}

rsmi_status_t minmax_bandwidth_get(std::uint32_t dv_ind_src, std::uint32_t dv_ind_dst,
                                   std::uint64_t* min_bandwidth, std::uint64_t* max_bandwidth) {
  return smi::link_bandwidth<Vendor>(dv_ind_src, dv_ind_dst, min_bandwidth, max_bandwidth);
}

rsmi_status_t is_P2P_accessible(std::uint32_t dv_ind_src, std::uint32_t dv_ind_dst, bool* accessible) {
  return smi::peer_access<Vendor>(dv_ind_src, dv_ind_dst, accessible);
}

}  // namespace tf::rsmi::custom
