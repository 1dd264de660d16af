// SPDX-License-Identifier: Apache-2.0
// Types of libamd_smi of which each major, or some, has its own layout. Room for more at their ends is left
// out where nobody has a list of them: that is never written, so callers built against any minor are safe.
// Sources: amdsmi.h of ROCm 6.1 (0: Debian's number for it), of ROCm 6.3 (24), of the development branch that
// became 25, of ROCm 7.1 (26) and of Debian's 10.1 (27); its changelog for ROCm 6.4 (25).
#pragma once

#include <cstddef>
#include <cstdint>

#include "smi/amd/types.h"

namespace tf::amdsmi {

// Most texts; some of 24 are longer or shorter.
template <int Major>
inline constexpr std::size_t kText = Major >= 25 ? 256 : 64;
template <int Major>
inline constexpr std::size_t kShortText = Major >= 25 ? 256 : 32;
template <int Major>
inline constexpr std::size_t kDate = Major >= 26 ? 256 : 32;

template <int Major>
struct AsicInfo {
  char market_name[256];
  std::uint32_t vendor_id;
  char vendor_name[kText<Major>];
  std::uint32_t subvendor_id;
  std::uint64_t device_id;
  std::uint32_t rev_id;
  char asic_serial[kShortText<Major>];  // hexadecimal
  std::uint32_t oam_id;
  std::uint32_t num_of_compute_units;
  std::uint64_t target_graphics_version;  // 0x942: gfx942
  std::uint32_t subsystem_id;             // room of the type up to 25
  std::uint32_t reserved;
  std::uint64_t flags;  // room of the type up to 26, as what follows
  std::uint32_t physical_acc_id;
  std::uint32_t chip_rev_id;
  std::uint32_t external_rev_id;
};
template <>
struct AsicInfo<0> {
  char market_name[64];
  std::uint32_t vendor_id;
  char vendor_name[64];
  std::uint32_t subvendor_id;
  std::uint64_t device_id;
  std::uint32_t rev_id;
  char asic_serial[32];
  std::uint16_t oam_id;
};

template <int Major>
struct BoardInfo {
  char model_number[256];
  char product_serial[kShortText<Major>];
  char fru_id[kShortText<Major>];
  char product_name[256];
  char manufacturer_name[kText<Major>];
};
template <>
struct BoardInfo<0> {
  char model_number[32];
  char product_serial[32];
  char fru_id[32];
  char product_name[128];
  char manufacturer_name[32];
};

template <int Major>
struct DriverInfo {
  char driver_version[kText<Major>];
  char driver_date[kText<Major>];
  char driver_name[kText<Major>];
};

template <int Major>
struct VbiosInfo {
  char name[kText<Major>];
  char build_date[kDate<Major>];
  char part_number[kText<Major>];
  char version[kShortText<Major>];
};

template <int Major>
struct EnumerationInfo {
  std::uint32_t drm_render;
  std::uint32_t drm_card;
  std::uint32_t hsa_id;
  std::uint32_t hip_id;
  char hip_uuid[kText<Major>];
};
template <>
struct EnumerationInfo<27> {
  std::uint32_t drm_render;
  std::uint32_t drm_card;
  std::uint32_t hsa_id;
  std::uint32_t hip_id;
  char hip_uuid[kText<27>];
  std::uint32_t oam_id;
  std::uint32_t physical_acc_id;
};

// Watts and millivolts.
template <int Major>
struct PowerInfo {
  std::uint64_t socket_power;
  std::uint32_t current_socket_power;
  std::uint32_t average_socket_power;
  std::uint64_t gfx_voltage;
  std::uint64_t soc_voltage;
  std::uint64_t mem_voltage;
  std::uint32_t power_limit;
  std::uint32_t ubb_power;  // a gap in the first minors
};
template <>
struct PowerInfo<24> {
  std::uint32_t current_socket_power;
  std::uint32_t average_socket_power;
  std::uint32_t gfx_voltage;
  std::uint32_t soc_voltage;
  std::uint32_t mem_voltage;
  std::uint32_t power_limit;
};
template <>
struct PowerInfo<0> : PowerInfo<24> {};

// The vendor of the memory as a number.
struct VramInfo24 {
  std::uint32_t vram_type;
  std::uint32_t vram_vendor;
  std::uint64_t vram_size;  // MB
};
// As a text.
struct VramInfo26 {
  std::uint32_t vram_type;
  char vram_vendor[256];
  std::uint64_t vram_size;  // MB
  std::uint32_t vram_bit_width;
  std::uint64_t vram_max_bandwidth;  // GB/s
};

struct EngineUsage {
  std::uint64_t gfx;  // nanoseconds
  std::uint64_t enc;
  std::uint32_t reserved[12];
};
struct MemoryUsage {
  std::uint64_t gtt_mem;  // bytes
  std::uint64_t cpu_mem;
  std::uint64_t vram_mem;
  std::uint32_t reserved[10];
};

template <int Major>
struct ProcInfo {
  char name[kShortText<Major>];
  std::uint32_t pid;
  std::uint64_t mem;  // bytes
  EngineUsage engine_usage;
  MemoryUsage memory_usage;
  char container_name[kShortText<Major>];
  std::uint32_t cu_occupancy;
  std::uint32_t evicted_time;
  std::uint64_t sdma_usage;
  std::uint32_t reserved[8];
};
template <>
struct ProcInfo<24> {
  char name[32];
  std::uint32_t pid;
  std::uint64_t mem;
  EngineUsage engine_usage;
  MemoryUsage memory_usage;
  char container_name[32];
  std::uint32_t reserved[4];
};
template <>
struct ProcInfo<0> : ProcInfo<24> {};

// From 26 on.
struct ProcGpuEntry {
  std::uint32_t gpu_index;
  std::uint64_t mem;
  EngineUsage engine_usage;
  MemoryUsage memory_usage;
  std::uint32_t cu_occupancy;
  std::uint32_t evicted_time;
  std::uint64_t sdma_usage;
  std::uint32_t reserved[8];
};
inline constexpr std::size_t kDevicesInList = 32;
struct ProcInfoByPid {
  std::uint32_t pid;
  char name[256];
  char container_name[256];
  std::uint32_t num_gpus;
  ProcGpuEntry gpus[kDevicesInList];
};

// 26.1 and later have a longer list.
struct TopologyNearest {
  std::uint32_t count;
  amdsmi_processor_handle processor_list[kDevicesInList];
};

struct Version24 {
  std::uint32_t year;
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t release;
  const char* build;
};
struct Version26 {
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t release;
  const char* build;
};

}  // namespace tf::amdsmi
