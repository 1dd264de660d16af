// SPDX-License-Identifier: Apache-2.0
// The types of librocm_smi64's functions, under the vendor's names: our own declarations.
// smi/rocm/layouts.inc has their sizes and offsets, which are compared with the vendor's header where there
// is one (tests/unit/smi/vendor_abi.cc). Enumerations are numbers of the same size here, since callers may
// pass any. Sources: rocm_smi.h of ROCm 5.2 and 6.4.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using rsmi_status_t = std::uint32_t;
using rsmi_sw_component_t = std::uint32_t;
using rsmi_fw_block_t = std::uint32_t;
using rsmi_activity_metric_t = std::uint32_t;
using rsmi_memory_type_t = std::uint32_t;
using rsmi_temperature_metric_t = std::uint32_t;
using rsmi_voltage_type_t = std::uint32_t;
using rsmi_voltage_metric_t = std::uint32_t;
using RSMI_POWER_TYPE = std::uint32_t;
using RSMI_IO_LINK_TYPE = std::uint32_t;
using rsmi_power_profile_preset_masks_t = std::uint32_t;
using rsmi_clk_type_t = std::uint32_t;
using rsmi_freq_ind_t = std::uint32_t;
using rsmi_dev_perf_level_t = std::uint32_t;
using rsmi_xgmi_status_t = std::uint32_t;
using rsmi_ras_err_state_t = std::uint32_t;
using rsmi_compute_partition_type_t = std::uint32_t;
using rsmi_memory_partition_type_t = std::uint32_t;
using rsmi_event_group_t = std::uint32_t;
using rsmi_event_type_t = std::uint32_t;
using rsmi_counter_command_t = std::uint32_t;
using rsmi_gpu_block_t = std::uint64_t;
using rsmi_event_handle_t = std::uintptr_t;

struct rsmi_version_t {
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t patch;
  const char* build;
};

struct rsmi_process_info_t {
  std::uint32_t process_id;
  std::uint32_t pasid;
  std::uint64_t vram_usage;  // bytes
  std::uint64_t sdma_usage;  // microseconds
  std::uint32_t cu_occupancy;
};

struct rsmi_error_count_t {
  std::uint64_t correctable_err;
  std::uint64_t uncorrectable_err;
};

struct rsmi_activity_metric_counter_t {
  std::uint16_t average_gfx_activity;
  std::uint16_t average_umc_activity;
  std::uint16_t average_mm_activity;
};

// metrics_table_header_t
struct rsmi_metrics_header_t {
  std::uint16_t structure_size;
  std::uint8_t format_revision;
  std::uint8_t content_revision;
};

// As far as version 1.3 of the table goes, which is all of it in ROCm 5, and where it begins in later ones.
// Temperatures are degrees Celsius, clocks MHz, power watts, activity percent.
struct rsmi_gpu_metrics_t {
  rsmi_metrics_header_t common_header;
  std::uint16_t temperature_edge;
  std::uint16_t temperature_hotspot;
  std::uint16_t temperature_mem;
  std::uint16_t temperature_vrgfx;
  std::uint16_t temperature_vrsoc;
  std::uint16_t temperature_vrmem;
  std::uint16_t average_gfx_activity;
  std::uint16_t average_umc_activity;
  std::uint16_t average_mm_activity;
  std::uint16_t average_socket_power;
  std::uint64_t energy_accumulator;
  std::uint64_t system_clock_counter;
  std::uint16_t average_gfxclk_frequency;
  std::uint16_t average_socclk_frequency;
  std::uint16_t average_uclk_frequency;
  std::uint16_t average_vclk0_frequency;
  std::uint16_t average_dclk0_frequency;
  std::uint16_t average_vclk1_frequency;
  std::uint16_t average_dclk1_frequency;
  std::uint16_t current_gfxclk;
  std::uint16_t current_socclk;
  std::uint16_t current_uclk;
  std::uint16_t current_vclk0;
  std::uint16_t current_dclk0;
  std::uint16_t current_vclk1;
  std::uint16_t current_dclk1;
  std::uint32_t throttle_status;
  std::uint16_t current_fan_speed;
  std::uint16_t pcie_link_width;
  std::uint16_t pcie_link_speed;  // tenths of GT/s
  std::uint16_t padding;
  std::uint32_t gfx_activity_acc;
  std::uint32_t mem_actvity_acc;
  std::uint16_t temperature_hbm[4];
};

// Of one layout up to ROCm 5, and another one from ROCm 6 on: smi/rocm/layout.h.
struct rsmi_frequencies_t;
struct rsmi_pcie_bandwidth_t;

// Only answered with RSMI_STATUS_NOT_SUPPORTED.
struct rsmi_utilization_counter_t;
struct rsmi_retired_page_record_t;
struct rsmi_power_profile_status_t;
struct rsmi_od_volt_freq_data_t;
struct rsmi_freq_volt_region_t;
struct rsmi_counter_value_t;
struct rsmi_evt_notification_data_t;
using rsmi_func_id_iter_handle_t = struct rsmi_func_id_iter_handle*;

}  // extern "C"

namespace tf::rsmi {

enum : rsmi_status_t {
  kSuccess = 0,
  kInvalidArguments = 1,
  kNotSupported = 2,
  kPermission = 4,
  kOutOfResources = 5,
  kInternalException = 6,
  kInitError = 8,
  kNotFound = 10,
  kInsufficientSize = 11,
  kUnknownError = 0xffffffff,
};
enum : RSMI_POWER_TYPE { kAveragePower = 0, kCurrentPower = 1 };
enum : RSMI_IO_LINK_TYPE { kLinkUndefined = 0, kLinkPcie = 1, kLinkXgmi = 2 };
enum : rsmi_activity_metric_t { kCoreActivity = 1, kMemoryActivity = 2, kMediaActivity = 4 };
inline constexpr rsmi_gpu_block_t kMemoryBlock = 1;  // RSMI_GPU_BLOCK_UMC

}  // namespace tf::rsmi
