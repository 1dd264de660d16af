// SPDX-License-Identifier: Apache-2.0
// The layouts of our declarations. tests/unit/smi/amd_vendor_abi.cc compares more of them with a vendor's
// header.
#include "smi/amd/metrics.h"
#include "smi/amd/structs.h"
#include "smi/amd/types.h"

namespace tf::amdsmi {
namespace {

static_assert(sizeof(AsicInfo<0>) == 184 && offsetof(AsicInfo<0>, oam_id) == 180 &&
              sizeof(BoardInfo<0>) == 256);
static_assert(sizeof(VbiosInfo<0>) == 192 && sizeof(ProcInfo<0>) == 224 && sizeof(PowerInfo<0>) == 24);
static_assert(sizeof(DriverInfo<24>) == 192 && sizeof(DriverInfo<27>) == 768);
static_assert(sizeof(ProcInfo<24>) == 224 && sizeof(ProcInfo<25>) == 704 && sizeof(ProcInfo<27>) == 704);
static_assert(sizeof(amdsmi_process_info_t) == 32 && offsetof(amdsmi_process_info_t, vram_usage) == 8);
static_assert(sizeof(amdsmi_frequencies_t) == 280 && sizeof(amdsmi_pcie_bandwidth_t) == 416);
static_assert(sizeof(Version24) == 24 && sizeof(Version26) == 24);
static_assert(offsetof(Version24, build) == 16 && offsetof(Version26, build) == 16);
static_assert(sizeof(GpuMetrics<24>) <= 1832 && sizeof(GpuMetrics<27>) == 4736);

}  // namespace
}  // namespace tf::amdsmi
