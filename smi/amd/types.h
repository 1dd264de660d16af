// SPDX-License-Identifier: Apache-2.0
// The types of libamd_smi's functions that are alike in all majors, under the vendor's names: our own
// declarations. smi/amd/structs.h has those that differ, and abi_check.cc the sizes and offsets of all.
// Enumerations are numbers of the same size here, since callers may pass any. Of types that end in room for
// more, and are never written as a whole, that room is left out. Source: amdsmi.h of ROCm 6.1, 6.3, 7.1
// and 10.1.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using amdsmi_status_t = std::uint32_t;
using amdsmi_processor_handle = void*;
using amdsmi_socket_handle = void*;

// Function 3 bits, device 5, bus 8, and the domain.
union amdsmi_bdf_t {
  std::uint64_t as_uint;
};

struct amdsmi_link_id_bw_type_t {
  std::uint32_t bw_type;
  char* link_name;
};

struct amdsmi_vram_usage_t {
  std::uint32_t vram_total;  // MB, as all of this library are MiB
  std::uint32_t vram_used;
};

struct amdsmi_engine_usage_t {
  std::uint32_t gfx_activity;  // percent
  std::uint32_t umc_activity;
  std::uint32_t mm_activity;
};

struct amdsmi_clk_info_t {
  std::uint32_t clk;  // MHz
  std::uint32_t min_clk;
  std::uint32_t max_clk;
  std::uint8_t clk_locked;
  std::uint8_t clk_deep_sleep;
};

struct amdsmi_frequencies_t {
  bool has_deep_sleep;
  std::uint32_t num_supported;
  std::uint32_t current;
  std::uint64_t frequency[33];  // Hz
};

struct amdsmi_pcie_bandwidth_t {
  amdsmi_frequencies_t transfer_rate;
  std::uint32_t lanes[33];
};

struct amdsmi_pcie_info_t {
  struct {
    std::uint16_t max_pcie_width;
    std::uint32_t max_pcie_speed;  // MT/s
    std::uint32_t pcie_interface_version;
    std::uint32_t slot_type;
    std::uint64_t reserved[10];  // its first half: max_pcie_interface_version, from 25 on
  } pcie_static;
  struct {
    std::uint16_t pcie_width;
    std::uint32_t pcie_speed;      // MT/s
    std::uint32_t pcie_bandwidth;  // Mb/s
    std::uint64_t pcie_replay_count;
    std::uint64_t pcie_l0_to_recovery_count;
    std::uint64_t pcie_replay_roll_over_count;
    std::uint64_t pcie_nak_sent_count;
    std::uint64_t pcie_nak_received_count;
    std::uint32_t pcie_lc_perf_other_end_recovery_count;
  } pcie_metric;
};

struct amdsmi_power_cap_info_t {
  std::uint64_t power_cap;  // microwatts, but dpm_cap
  std::uint64_t default_power_cap;
  std::uint64_t dpm_cap;
  std::uint64_t min_power_cap;
  std::uint64_t max_power_cap;
};

struct amdsmi_error_count_t {
  std::uint64_t correctable_count;
  std::uint64_t uncorrectable_count;
  std::uint64_t deferred_count;
};

struct amdsmi_kfd_info_t {
  std::uint64_t kfd_id;
  std::uint32_t node_id;
  std::uint32_t current_partition_id;
};

struct amdsmi_xgmi_info_t {
  std::uint8_t xgmi_lanes;
  std::uint64_t xgmi_hive_id;
  std::uint64_t xgmi_node_id;
  std::uint32_t index;
};

struct amdsmi_p2p_capability_t {
  std::uint8_t is_iolink_coherent;
  std::uint8_t is_iolink_atomics_32bit;
  std::uint8_t is_iolink_atomics_64bit;
  std::uint8_t is_iolink_dma;
  std::uint8_t is_iolink_bi_directional;
};

// With one field more between the first two up to 25.
struct amdsmi_process_info_t {
  std::uint32_t process_id;
  std::uint64_t vram_usage;  // bytes
  std::uint64_t sdma_usage;  // microseconds
  std::uint32_t cu_occupancy;
  std::uint32_t evicted_time;  // room of the type up to 26
};

struct amd_metrics_table_header_t {
  std::uint16_t structure_size;
  std::uint8_t format_revision;
  std::uint8_t content_revision;
};

// One layout for each major, or for some of them: smi/amd/structs.h.
struct amdsmi_asic_info_t;
struct amdsmi_board_info_t;
struct amdsmi_driver_info_t;
struct amdsmi_enumeration_info_t;
struct amdsmi_gpu_metrics_t;
struct amdsmi_power_info_t;
struct amdsmi_proc_info_t;
struct amdsmi_proc_info_by_pid_t;
struct amdsmi_topology_nearest_t;
struct amdsmi_vbios_info_t;
struct amdsmi_version_t;
struct amdsmi_vram_info_t;

}  // extern "C"

namespace tf::amdsmi {

enum : amdsmi_status_t {
  kSuccess = 0,
  kInvalidArguments = 1,
  kNotSupported = 2,
  kApiFailed = 7,
  kPermission = 10,
  kOutOfResources = 15,
  kInternalException = 16,
  kNotFound = 31,
  kNotInitialized = 32,
  kInsufficientSize = 41,
};
enum : std::uint32_t { kUnknownProcessor = 0, kGpuProcessor = 1 };
inline constexpr std::uint64_t kMemoryBlock = 1;  // AMDSMI_GPU_BLOCK_UMC

}  // namespace tf::amdsmi
