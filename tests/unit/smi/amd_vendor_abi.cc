// SPDX-License-Identifier: Apache-2.0
// Our declarations of libamd_smi's types, compared with the vendor's header: of the major that it is of.
#include <cstddef>  // what that header includes, outside of the namespace
#include <cstdint>
#include <cstdlib>

namespace vendor {
#include <amd_smi/amdsmi.h>
}  // namespace vendor

#include <type_traits>

#include "smi/amd/metrics.h"
#include "smi/amd/structs.h"

namespace tf::amdsmi {
namespace {

// Up to 25 the header has a year in front of the version. Debian calls the library of ROCm 6.1 (24.5) 0.
#if defined AMDSMI_LIB_VERSION_YEAR && AMDSMI_LIB_VERSION_YEAR == 24 && AMDSMI_LIB_VERSION_MAJOR < 6
#define TF_OF_ROCM_61
constexpr int kMajor = 0;
#elif defined AMDSMI_LIB_VERSION_YEAR
constexpr int kMajor = AMDSMI_LIB_VERSION_YEAR;
#else
constexpr int kMajor = AMDSMI_LIB_VERSION_MAJOR;
#endif
constexpr bool kOfRocm7 = kMajor >= 26;

using Asic = AsicInfo<kMajor>;
using Board = BoardInfo<kMajor>;
using Driver = DriverInfo<kMajor>;
using Vbios = VbiosInfo<kMajor>;
using Power = PowerInfo<kMajor>;
using Proc = ProcInfo<kMajor>;
using Metrics = GpuMetrics<kMajor>;
using Nearest = TopologyNearest;
using Vram = std::conditional_t<kOfRocm7, VramInfo26, VramInfo24>;
using VersionOf = std::conditional_t<kOfRocm7, Version26, Version24>;

#define TF_FIELD(theirs, ours, field)                                                           \
  static_assert(offsetof(vendor::theirs, field) == offsetof(ours, field), #theirs "::" #field); \
  static_assert(sizeof(((vendor::theirs*)nullptr)->field) >= sizeof(((ours*)nullptr)->field),   \
                #theirs "::" #field);
#ifdef TF_OF_ROCM_61
#define TF_LATER(theirs, ours, field)
static_assert(offsetof(vendor::amdsmi_vram_info_t, vram_size_mb) == offsetof(Vram, vram_size));
static_assert(offsetof(vendor::amdsmi_clk_info_t, sleep_clk) == offsetof(::amdsmi_clk_info_t, clk_locked));
#else
#define TF_LATER TF_FIELD
static_assert(sizeof(vendor::amdsmi_topology_nearest_t) >= sizeof(Nearest));
#endif
#include "smi/amd/layouts.inc"

// Nothing of ours is larger, and what lies in lists is of the same size.
static_assert(sizeof(vendor::amdsmi_asic_info_t) >= sizeof(Asic));
static_assert(sizeof(vendor::amdsmi_board_info_t) >= sizeof(Board));
static_assert(sizeof(vendor::amdsmi_driver_info_t) == sizeof(Driver));
static_assert(sizeof(vendor::amdsmi_vbios_info_t) >= sizeof(Vbios));
static_assert(sizeof(vendor::amdsmi_power_info_t) >= sizeof(Power));
static_assert(sizeof(vendor::amdsmi_vram_info_t) >= sizeof(Vram));
static_assert(sizeof(vendor::amdsmi_gpu_metrics_t) >= sizeof(Metrics));
static_assert(sizeof(vendor::amdsmi_version_t) == sizeof(VersionOf));
static_assert(sizeof(vendor::amdsmi_proc_info_t) == sizeof(Proc));
static_assert(sizeof(vendor::amdsmi_process_info_t) == sizeof(::amdsmi_process_info_t));
static_assert(sizeof(vendor::amdsmi_frequencies_t) == sizeof(::amdsmi_frequencies_t));
static_assert(sizeof(vendor::amdsmi_pcie_bandwidth_t) == sizeof(::amdsmi_pcie_bandwidth_t));

}  // namespace
}  // namespace tf::amdsmi
