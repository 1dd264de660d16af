// SPDX-License-Identifier: Apache-2.0
// amdsmi_gpu_metrics_t. It grows within majors, too: declared is what all minors of one have. Temperatures
// are degrees Celsius, clocks MHz, power watts, activity percent; all ones is unknown.
#pragma once

#include <cstdint>

#include "smi/amd/types.h"

namespace tf::amdsmi {

// Up to version 1.3 of the table. `Count`: of the accumulated numbers that became wider in 27.
template <typename Count>
struct MetricsBase {
  amd_metrics_table_header_t common_header;
  std::uint16_t temperature_edge;
  std::uint16_t temperature_hotspot;
  std::uint16_t temperature_mem;
  std::uint16_t temperature_vr[3];  // of cores, SoC, memory
  std::uint16_t average_gfx_activity;
  std::uint16_t average_umc_activity;
  std::uint16_t average_mm_activity;
  std::uint16_t average_socket_power;
  std::uint64_t energy_accumulator;
  std::uint64_t system_clock_counter;
  std::uint16_t average_gfxclk_frequency;
  std::uint16_t average_socclk_frequency;
  std::uint16_t average_uclk_frequency;
  std::uint16_t average_video_frequency[4];
  std::uint16_t current_gfxclk;
  std::uint16_t current_socclk;
  std::uint16_t current_uclk;
  std::uint16_t current_video[4];
  std::uint32_t throttle_status;
  std::uint16_t current_fan_speed;
  std::uint16_t pcie_link_width;
  std::uint16_t pcie_link_speed;  // tenths of GT/s
  Count gfx_activity_acc;
  Count mem_activity_acc;
  std::uint16_t temperature_hbm[4];
  std::uint64_t firmware_timestamp;
  std::uint16_t voltage_soc;
  std::uint16_t voltage_gfx;
  std::uint16_t voltage_mem;
  std::uint64_t indep_throttle_status;
};

// Versions 1.4 and 1.5.
template <typename Count>
struct MetricsOfLinks : MetricsBase<Count> {
  std::uint16_t current_socket_power;
  std::uint16_t vcn_activity[4];
  std::uint32_t gfxclk_lock_status;
  std::uint16_t xgmi_link_width;
  std::uint16_t xgmi_link_speed;
  std::uint64_t pcie_bandwidth_acc;
  std::uint64_t pcie_bandwidth_inst;
  std::uint64_t pcie_recovered_acc;
  std::uint64_t pcie_replay_count_acc;
  std::uint64_t pcie_replay_rover_count_acc;
  std::uint64_t xgmi_read_data_acc[8];
  std::uint64_t xgmi_write_data_acc[8];
  std::uint16_t current_gfxclks[8];
  std::uint16_t current_socclks[4];
  std::uint16_t current_vclk0s[4];
  std::uint16_t current_dclk0s[4];
  std::uint16_t jpeg_activity[32];
  Count pcie_nak_sent_count_acc;
  Count pcie_nak_rcvd_count_acc;
};

// Versions 1.6 and later. `Partition`: amdsmi_gpu_xcp_metrics_t.
template <typename Count, typename Partition>
struct MetricsOfPartitions : MetricsOfLinks<Count> {
  std::uint64_t accumulation_counter;
  std::uint64_t residency_acc[5];
  std::uint16_t num_partition;
  Partition xcp_stats[8];
  Count pcie_lc_perf_other_end_recovery;
  std::uint64_t vram_max_bandwidth;
  std::uint16_t xgmi_link_status[8];
};

struct Partition25 {
  std::uint32_t gfx_busy_inst[8];
  std::uint16_t jpeg_busy[32];
  std::uint16_t vcn_busy[4];
  std::uint64_t gfx_acc[2][8];
};
struct Partition26 {
  std::uint32_t gfx_busy_inst[8];
  std::uint16_t jpeg_busy[40];
  std::uint16_t vcn_busy[4];
  std::uint64_t gfx_acc[6][8];
};
struct Partition27 : Partition26 {
  std::uint16_t temperature_xcd[8];
};

template <int Major>
struct GpuMetrics : MetricsOfPartitions<std::uint64_t, Partition27> {
  std::uint16_t temperature_hbm_stacks[12];
  std::uint16_t temperature_mid[2];
  std::uint16_t temperature_aid[2];
  std::uint16_t current_uclk_aid[2];
  std::uint16_t current_socclks_mid[2];
  void* apu_metrics;
};
template <>
struct GpuMetrics<24> : MetricsOfLinks<std::uint32_t> {};
template <>
struct GpuMetrics<0> : GpuMetrics<24> {};
template <>
struct GpuMetrics<25> : MetricsOfPartitions<std::uint32_t, Partition25> {};
template <>
struct GpuMetrics<26> : MetricsOfPartitions<std::uint32_t, Partition26> {};

}  // namespace tf::amdsmi
