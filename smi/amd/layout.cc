// SPDX-License-Identifier: Apache-2.0
// Compiled once for each major of libamd_smi: TF_AMDSMI_MAJOR.
#include "smi/amd/layout.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>

#include "smi/amd/metrics.h"
#include "smi/amd/structs.h"
#include "smi/vendor/readings.h"

namespace tf::amdsmi {
namespace {

constexpr int kMajor = TF_AMDSMI_MAJOR;
constexpr bool kOfRocm7 = kMajor >= 26;
constexpr std::uint32_t kYear = kMajor == 0 ? 24 : kMajor;
constexpr char kBuild[] = "hip-remote";
constexpr std::uint32_t kUnknownWord = 0xffffffff;
constexpr std::uint64_t kUnit = 1024 * 1024;

using Version = std::conditional_t<kOfRocm7, Version26, Version24>;
using VramInfo = std::conditional_t<kOfRocm7, VramInfo26, VramInfo24>;

// Cut where it is too long; the rest becomes zeros.
template <std::size_t Bytes>
void put(char (&to)[Bytes], const std::string& text) {
  std::memset(to, 0, Bytes);
  std::memcpy(to, text.data(), std::min(text.size(), Bytes - 1));
}

template <std::size_t Bytes, std::size_t Words>
void put(char (&to)[Bytes], const std::uint64_t (&words)[Words]) {
  put(to, smi::text_of(words));
}

// All ones where it is not known or does not fit.
template <typename Number>
void put(Number& to, std::uint64_t number, std::uint64_t unit = 1) {
  constexpr auto kNone = static_cast<Number>(~std::uint64_t{0});
  const std::uint64_t units = number / unit;
  to = smi::is_known(number) && units < kNone ? static_cast<Number>(units) : kNone;
}

// These two are zero where the vendor's own programs are to show that they are not known.
template <typename Number>
void put_id(Number& to, std::uint64_t number) {
  to = smi::is_known(number) ? static_cast<Number>(number) : 0;
}

// So are these up to 24.
template <typename Number>
void put_early_id(Number& to, std::uint64_t number) {
  if (kMajor <= 24)
    put_id(to, number);
  else
    put(to, number);
}

std::string hexadecimal(const char* format, std::uint64_t number) {
  if (!smi::is_known(number)) return {};
  char text[32];
  std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(number));
  return text;
}

// The digits of "gfx942:sramecc+", and so on.
std::uint64_t graphics_version(const smi::Facts& facts) {
  const std::string name = smi::text_of(facts.architecture);
  if (!name.starts_with("gfx")) return smi::kUnknown;
  const unsigned long long number = std::strtoull(name.c_str() + 3, nullptr, 16);
  return number != 0 ? number : smi::kUnknown;
}

// Up to 25 the library's version begins with a year. It is the major, but for Debian's number of ROCm 6.1.
template <typename Info>
void put_version(Info& to) {
  to = {};
  if constexpr (requires { to.year; })
    to.year = kYear;
  else
    to.major = kMajor;
  to.build = kBuild;
}

// Up to 25 the memory's vendor is a number of the library's, and not known. ROCm 6.1 had none that says so.
template <typename Info>
void put_vram(Info& to, const smi::Facts& facts) {
  if constexpr (requires { to.vram_bit_width; }) {
    put(to.vram_vendor, facts.memory_vendor);
    put(to.vram_bit_width, smi::kUnknown);
    put(to.vram_max_bandwidth, smi::kUnknown);
  } else {
    to.vram_vendor = kMajor == 0 ? 0 : kUnknownWord;
  }
}

// Those of ROCm 6.1 came from 16 bits, and its amd-smi knows only their largest value as unknown.
template <typename Info>
void put_unknown_of_rocm_61(Info& to) {
  for (std::uint32_t* const each : {&to.current_socket_power, &to.average_socket_power, &to.gfx_voltage,
                                    &to.soc_voltage, &to.mem_voltage, &to.power_limit})
    if (*each == kUnknownWord) *each = 0xffff;
}

template <typename Info>
void put_later_power(Info& to, const smi::Sample& sample) {
  if constexpr (requires { to.socket_power; }) {
    put(to.socket_power, sample.power_uw, 1'000'000);
    put(to.ubb_power, smi::kUnknown);
  }
}

template <typename Info>
void put_later_asic(Info& to, const smi::Facts& facts) {
  if constexpr (kMajor >= 24) {
    put(to.num_of_compute_units, facts.compute_units);
    put(to.target_graphics_version, graphics_version(facts));
  }
  if constexpr (kOfRocm7) put(to.subsystem_id, facts.subsystem_id);
  if constexpr (kMajor >= 27) {
    to.flags = 0;
    to.physical_acc_id = to.chip_rev_id = to.external_rev_id = kUnknownWord;
  }
}

template <typename Info>
void put_later_ids(Info& to) {
  if constexpr (requires { to.oam_id; }) to.oam_id = to.physical_acc_id = kUnknownWord;
}

template <typename Info>
void put_occupancy(Info& to) {
  if constexpr (requires { to.cu_occupancy; }) {
    put(to.cu_occupancy, smi::kUnknown);
    put(to.evicted_time, smi::kUnknown);
    put(to.sdma_usage, smi::kUnknown);
  }
}

template <typename Table>
void put_table(Table& to, const smi::Sample& sample) {
  smi::fill_table(sample, to);
  to.current_socket_power = to.average_socket_power;
  to.current_gfxclks[0] = to.current_gfxclk;
  to.voltage_gfx = smi::in_table(sample.core_voltage_mv);
  if constexpr (requires { to.apu_metrics; }) to.apu_metrics = nullptr;
}

template <typename Info>
void put_process_id(Info& info, std::uint32_t pid) {
  // Up to 25 a number that nobody uses (PASID) lies between; it stays zero.
  std::memset(static_cast<void*>(&info), 0, sizeof info);
  info.process_id = pid;
}

}  // namespace

bool is_of_rocm_61() { return kMajor == 0; }

void write_version(amdsmi_version_t& to) { put_version(reinterpret_cast<Version&>(to)); }

const char* version_text() { return kBuild; }

void write_asic(amdsmi_asic_info_t& to, const smi::Facts& facts) {
  auto& info = reinterpret_cast<AsicInfo<kMajor>&>(to);
  put(info.market_name, facts.name);
  put_id(info.vendor_id, facts.vendor_id);
  put(info.vendor_name, facts.vendor);
  put_early_id(info.subvendor_id, facts.subsystem_vendor_id);
  put_id(info.device_id, facts.device_id);
  put_early_id(info.rev_id, facts.revision_id);
  put(info.asic_serial, hexadecimal("0x%016llX", facts.unique_id));
  put(info.oam_id, smi::kUnknown);
  put_later_asic(info, facts);
}

void write_board(amdsmi_board_info_t& to, const smi::Facts& facts) {
  auto& info = reinterpret_cast<BoardInfo<kMajor>&>(to);
  put(info.model_number, std::string());
  put(info.product_serial, facts.serial);
  put(info.fru_id, std::string());
  put(info.product_name, facts.name);
  put(info.manufacturer_name, facts.vendor);
}

// The name is that of the worker's source: "amd" reads what AMD's driver says.
void write_driver(amdsmi_driver_info_t& to, const smi::Facts& facts) {
  auto& info = reinterpret_cast<DriverInfo<kMajor>&>(to);
  const std::string source = smi::text_of(facts.runtime);
  put(info.driver_version, facts.driver);
  put(info.driver_date, std::string());
  put(info.driver_name, source == "amd" ? "amdgpu" : source);
}

void write_vbios(amdsmi_vbios_info_t& to, const smi::Facts& facts) {
  auto& info = reinterpret_cast<VbiosInfo<kMajor>&>(to);
  put(info.name, std::string());
  put(info.build_date, std::string());
  put(info.part_number, std::string());
  put(info.version, facts.firmware);
}

void write_vram(amdsmi_vram_info_t& to, const smi::Facts& facts) {
  auto& info = reinterpret_cast<VramInfo&>(to);
  info.vram_type = 0;  // unknown
  put(info.vram_size, facts.memory_total_bytes, kUnit);
  put_vram(info, facts);
}

void write_enumeration(amdsmi_enumeration_info_t& to, const smi::Facts& facts, std::uint32_t index) {
  auto& info = reinterpret_cast<EnumerationInfo<kMajor>&>(to);
  put(info.drm_render, facts.drm_render_minor);
  put(info.drm_card, smi::kUnknown);
  put(info.hsa_id, smi::kUnknown);
  info.hip_id = index;
  put(info.hip_uuid, hexadecimal("GPU-%016llx", facts.unique_id));
  put_later_ids(info);
}

void write_power(amdsmi_power_info_t& to, const smi::Sample& sample) {
  auto& info = reinterpret_cast<PowerInfo<kMajor>&>(to);
  put(info.current_socket_power, sample.power_uw, 1'000'000);
  info.average_socket_power = info.current_socket_power;
  put(info.gfx_voltage, sample.core_voltage_mv);
  put(info.soc_voltage, smi::kUnknown);
  put(info.mem_voltage, smi::kUnknown);
  put(info.power_limit, sample.power_cap_uw, 1'000'000);
  put_later_power(info, sample);
  if constexpr (kMajor == 0) put_unknown_of_rocm_61(info);
}

// Of 0 a clock lies here, later two answers.
void write_sleep(amdsmi_clk_info_t& to) {
  constexpr std::size_t kPlace = offsetof(amdsmi_clk_info_t, clk_locked);
  std::memset(reinterpret_cast<char*>(&to) + kPlace, 0xff, kMajor == 0 ? sizeof(std::uint32_t) : 2);
}

void write_metrics(amdsmi_gpu_metrics_t& to, const smi::Sample& sample) {
  put_table(reinterpret_cast<GpuMetrics<kMajor>&>(to), sample);
}

amd_metrics_table_header_t metrics_header(const smi::Sample& sample) {
  GpuMetrics<kMajor> table;
  put_table(table, sample);
  return table.common_header;
}

amdsmi_process_info_t process_info(const smi::Process& process) {
  amdsmi_process_info_t info;
  put_process_id(info, process.pid);
  info.vram_usage = process.memory();
  return info;
}

void write_process(amdsmi_proc_info_t* list, std::size_t place, const smi::Process& process, int device) {
  ProcInfo<kMajor>& info = reinterpret_cast<ProcInfo<kMajor>*>(list)[place];
  std::memset(&info, 0, sizeof info);
  put(info.name, process.name);
  info.pid = process.pid;
  info.mem = device < 0 ? process.memory() : process.memory_bytes[static_cast<std::size_t>(device)];
  info.memory_usage.vram_mem = info.mem;
  put_occupancy(info);
}

void write_process_devices(amdsmi_proc_info_by_pid_t* list, std::size_t place, const smi::Process& process,
                           std::span<const std::uint32_t> devices) {
  ProcInfoByPid& info = reinterpret_cast<ProcInfoByPid*>(list)[place];
  std::memset(&info, 0, sizeof info);
  put(info.name, process.name);
  info.pid = process.pid;
  for (std::uint32_t index = 0; index < devices.size(); ++index) {
    const std::uint64_t bytes = process.memory_bytes[devices[index]];
    if (bytes == 0 || info.num_gpus == kDevicesInList) continue;
    ProcGpuEntry& entry = info.gpus[info.num_gpus++];
    entry.gpu_index = index;
    entry.mem = entry.memory_usage.vram_mem = bytes;
    put_occupancy(entry);
  }
}

void write_nearest(amdsmi_topology_nearest_t& to, std::span<const amdsmi_processor_handle> devices) {
  auto& nearest = reinterpret_cast<TopologyNearest&>(to);
  const std::size_t count = std::min(devices.size(), kDevicesInList);
  nearest.count = static_cast<std::uint32_t>(count);
  std::copy_n(devices.begin(), count, nearest.processor_list);
}

std::uint32_t asked_link_type(smi::LinkKind kind) {
  const std::uint32_t pcie = kOfRocm7 ? 1 : 2;
  switch (kind) {
    case smi::LinkKind::kSame: return 0;
    case smi::LinkKind::kPcie: return pcie;
    case smi::LinkKind::kXgmi: return 3 - pcie;
    default: return 4;  // unknown
  }
}

// The type of 24 and 25 has no other values, and its own numbers.
std::uint32_t answered_link_type(smi::LinkKind kind) {
  if constexpr (kOfRocm7) return asked_link_type(kind);
  switch (kind) {
    case smi::LinkKind::kPcie: return 1;
    case smi::LinkKind::kXgmi: return 2;
    default: return 0;  // undefined
  }
}

}  // namespace tf::amdsmi
