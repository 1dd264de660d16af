// SPDX-License-Identifier: Apache-2.0
// What AMD's two libraries measure alike: memory, voltage, energy, lists of clocks, and the table of all.
// Their functions differ in names and in codes (smi/vendor/answers.h). These may throw.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "smi/vendor/answers.h"

namespace tf::smi {

// Both libraries' numbers of kinds of memory.
enum : std::uint32_t { kMemoryOfDevice = 0, kMemoryVisible = 1, kMemoryOfHost = 2 };

template <typename Vendor>
typename Vendor::Code memory_total(typename Vendor::Handle device, std::uint32_t kind, std::uint64_t* total) {
  using A = Answers<Vendor>;
  if (kind > kMemoryOfHost) return Vendor::kInvalidArguments;
  Facts facts;
  Sample sample;
  const auto code = A::read_both(device, facts, sample);
  if (code != Vendor::kSuccess) return code;
  if (kind == kMemoryVisible) return Vendor::kNotSupported;
  return A::answer(kind == kMemoryOfDevice ? facts.memory_total_bytes : sample.host_memory_total_bytes,
                   total);
}

template <typename Vendor>
typename Vendor::Code memory_usage(typename Vendor::Handle device, std::uint32_t kind, std::uint64_t* used) {
  using A = Answers<Vendor>;
  if (kind > kMemoryOfHost) return Vendor::kInvalidArguments;
  Sample sample;
  const auto code = A::read_sample(device, sample);
  if (code != Vendor::kSuccess) return code;
  if (kind == kMemoryVisible) return Vendor::kNotSupported;
  return A::answer(kind == kMemoryOfDevice ? sample.memory_used_bytes : sample.host_memory_used_bytes, used);
}

// Thousandths of a degree of the numbered sensor; both libraries' numbers.
inline std::uint64_t temperature_of(const Sample& sample, std::uint32_t sensor, std::uint32_t metric) {
  constexpr std::uint32_t kNow = 0;
  constexpr std::uint32_t kCritical = 5;
  constexpr std::uint32_t kHotspot = 1;
  const std::array now{sample.edge_temperature_mc, sample.hotspot_temperature_mc,
                       sample.memory_temperature_mc};
  if (metric == kNow && sensor < now.size()) return now.at(sensor);
  return metric == kCritical && sensor <= kHotspot ? sample.critical_temperature_mc : kUnknown;
}

// Only the first one, now, is known: the core's.
template <typename Vendor>
typename Vendor::Code voltage(typename Vendor::Handle device, std::uint32_t sensor, std::uint32_t metric,
                              std::int64_t* millivolts) {
  using A = Answers<Vendor>;
  Sample sample;
  const auto code = A::read_sample(device, sample);
  if (code != Vendor::kSuccess) return code;
  return A::answer(sensor == 0 && metric == 0 ? sample.core_voltage_mv : kUnknown, millivolts);
}

template <typename Vendor>
typename Vendor::Code energy(typename Vendor::Handle device, std::uint64_t* count, float* unit_uj,
                             std::uint64_t* time_ns) {
  using A = Answers<Vendor>;
  Sample sample;
  if (const auto code = A::read_sample(device, sample); code != Vendor::kSuccess) return code;
  if (is_known(sample.energy_uj) && time_ns == nullptr) return Vendor::kInvalidArguments;
  const auto code = A::answer(sample.energy_uj, count);
  if (code != Vendor::kSuccess) return code;
  if (unit_uj != nullptr) *unit_uj = 1;
  *time_ns = sample.time_ns;
  return Vendor::kSuccess;
}

// Clocks of one kind, in Hz.
struct Clocks {
  std::uint64_t least = kUnknown;
  std::uint64_t now = kUnknown;
  std::uint64_t most = kUnknown;
};

// Both libraries' numbers of clocks.
inline Clocks clocks_of(const Facts& facts, const Sample& sample, std::uint32_t kind) {
  constexpr std::uint32_t kSystem = 0;
  constexpr std::uint32_t kMemory = 4;
  if (kind == kSystem) return {facts.core_clock_least_hz, sample.core_clock_hz, facts.core_clock_most_hz};
  if (kind == kMemory)
    return {facts.memory_clock_least_hz, sample.memory_clock_hz, facts.memory_clock_most_hz};
  return {};
}

// The least, the current and the most, without those that are the same or unknown.
struct ClockList {
  std::array<std::uint64_t, 3> hz{};
  std::size_t count = 0;
  std::uint32_t current = 0;

  explicit ClockList(const Clocks& clocks) {
    if (is_known(clocks.least) && clocks.least < clocks.now) hz[count++] = clocks.least;
    current = static_cast<std::uint32_t>(count);
    hz[count++] = clocks.now;
    if (is_known(clocks.most) && clocks.most > clocks.now) hz[count++] = clocks.most;
  }
  std::span<const std::uint64_t> all() const { return std::span(hz).first(count); }
};

// For the table: 16 bits, all ones if not known.
inline std::uint16_t in_table(std::uint64_t number, std::uint64_t unit = 1) {
  constexpr std::uint64_t kNotInTable = 0xffff;
  return static_cast<std::uint16_t>(is_known(number) ? std::min(number / unit, kNotInTable) : kNotInTable);
}

inline std::uint16_t degrees_in_table(std::uint64_t number) {
  return in_table(as_signed(number) < 0 ? kUnknown : number, 1000);
}

// Of all ones. Both libraries' tables have these fields.
template <typename Table>
void fill_table(const Sample& sample, Table& table) {
  std::fill_n(reinterpret_cast<std::uint8_t*>(&table), sizeof table, std::uint8_t{0xff});
  table.common_header = {sizeof table, 1, 3};
  table.temperature_edge = degrees_in_table(sample.edge_temperature_mc);
  table.temperature_hotspot = degrees_in_table(sample.hotspot_temperature_mc);
  table.temperature_mem = degrees_in_table(sample.memory_temperature_mc);
  table.average_gfx_activity = in_table(sample.core_busy_percent);
  table.average_umc_activity = in_table(sample.memory_busy_percent);
  table.average_mm_activity = in_table(sample.media_busy_percent);
  table.average_socket_power = in_table(sample.power_uw, 1'000'000);
  table.energy_accumulator = sample.energy_uj;
  table.system_clock_counter = sample.time_ns;
  table.current_gfxclk = table.average_gfxclk_frequency = in_table(sample.core_clock_hz, 1'000'000);
  table.current_uclk = table.average_uclk_frequency = in_table(sample.memory_clock_hz, 1'000'000);
  table.current_fan_speed = in_table(sample.fan_rpm);
  table.pcie_link_width = in_table(sample.pcie_width);
  table.pcie_link_speed = in_table(sample.pcie_speed_mtps, 100);
}

}  // namespace tf::smi
