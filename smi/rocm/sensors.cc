// SPDX-License-Identifier: Apache-2.0
// What devices measure: memory, temperatures, power, clocks, and all of it as one table.
#include <algorithm>
#include <array>

#include "smi/gen/rocm/custom.h"
#include "smi/rocm/layout.h"
#include "smi/rocm/support.h"

namespace tf::rsmi::custom {
namespace {

using smi::is_known;
using smi::kUnknown;

constexpr std::uint64_t kNotInTable = 0xffff;

// The least, the current and the most, without those that are the same or unknown.
rsmi_status_t answer_clocks(std::uint64_t least, std::uint64_t now, std::uint64_t most,
                            rsmi_frequencies_t* f) {
  if (!is_known(now)) return kNotSupported;
  if (f == nullptr) return kInvalidArguments;
  std::array<std::uint64_t, 3> list{};
  std::size_t count = 0;
  std::uint32_t current = 0;
  if (is_known(least) && least < now) list[count++] = least;
  current = static_cast<std::uint32_t>(count);
  list[count++] = now;
  if (is_known(most) && most > now) list[count++] = most;
  write_frequencies(*f, std::span(list).first(count), current);
  return kSuccess;
}

// For the table: 16 bits, all ones if not known.
std::uint16_t in_table(std::uint64_t number, std::uint64_t unit = 1) {
  if (!is_known(number)) return kNotInTable;
  return static_cast<std::uint16_t>(std::min(number / unit, kNotInTable));
}

std::uint16_t degrees(std::uint64_t number) {
  return smi::as_signed(number) < 0 ? static_cast<std::uint16_t>(kNotInTable) : in_table(number, 1000);
}

void fill_table(const smi::Sample& sample, rsmi_gpu_metrics_t& table) {
  table.common_header = {sizeof table, 1, 3};
  table.temperature_edge = degrees(sample.edge_temperature_mc);
  table.temperature_hotspot = degrees(sample.hotspot_temperature_mc);
  table.temperature_mem = degrees(sample.memory_temperature_mc);
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

}  // namespace

rsmi_status_t dev_memory_total_get(std::uint32_t dv_ind, rsmi_memory_type_t mem_type, std::uint64_t* total) {
  if (mem_type > kGtt) return kInvalidArguments;
  smi::Facts facts;
  smi::Sample sample;
  rsmi_status_t code = read_facts(dv_ind, facts);
  if (code == kSuccess && mem_type == kGtt) code = read_sample(dv_ind, sample);
  if (code != kSuccess) return code;
  if (mem_type == kVisibleVram) return kNotSupported;
  return answer(mem_type == kVram ? facts.memory_total_bytes : sample.host_memory_total_bytes, total);
}

rsmi_status_t dev_memory_usage_get(std::uint32_t dv_ind, rsmi_memory_type_t mem_type, std::uint64_t* used) {
  if (mem_type > kGtt) return kInvalidArguments;
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  if (mem_type == kVisibleVram) return kNotSupported;
  return answer(mem_type == kVram ? sample.memory_used_bytes : sample.host_memory_used_bytes, used);
}

rsmi_status_t dev_activity_metric_get(std::uint32_t dv_ind, rsmi_activity_metric_t activity_metric_type,
                                      rsmi_activity_metric_counter_t* activity_metric_counter) {
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  const rsmi_activity_metric_t all = kCoreActivity | kMemoryActivity | kMediaActivity;
  if (activity_metric_counter == nullptr || (activity_metric_type & all) == 0) return kInvalidArguments;
  rsmi_activity_metric_counter_t counted{};
  if ((activity_metric_type & kCoreActivity) != 0)
    counted.average_gfx_activity = in_table(sample.core_busy_percent);
  if ((activity_metric_type & kMemoryActivity) != 0)
    counted.average_umc_activity = in_table(sample.memory_busy_percent);
  if ((activity_metric_type & kMediaActivity) != 0)
    counted.average_mm_activity = in_table(sample.media_busy_percent);
  *activity_metric_counter = counted;
  return kSuccess;
}

// The first part of the table, which all majors have alike; the rest of the caller's stays as it is.
rsmi_status_t dev_gpu_metrics_info_get(std::uint32_t dv_ind, rsmi_gpu_metrics_t* pgpu_metrics) {
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  if (pgpu_metrics == nullptr) return kInvalidArguments;
  std::fill_n(reinterpret_cast<std::uint8_t*>(pgpu_metrics), sizeof *pgpu_metrics, std::uint8_t{0xff});
  fill_table(sample, *pgpu_metrics);
  return kSuccess;
}

rsmi_status_t dev_metrics_header_info_get(std::uint32_t dv_ind, rsmi_metrics_header_t* header_value) {
  rsmi_gpu_metrics_t table;
  const rsmi_status_t code = dev_gpu_metrics_info_get(dv_ind, &table);
  if (code != kSuccess) return code;
  if (header_value == nullptr) return kInvalidArguments;
  *header_value = table.common_header;
  return kSuccess;
}

rsmi_status_t dev_temp_metric_get(std::uint32_t dv_ind, std::uint32_t sensor_type,
                                  rsmi_temperature_metric_t metric, std::int64_t* temperature) {
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  std::uint64_t value = kUnknown;
  if (metric == kTemperatureCritical && sensor_type <= kJunction) value = sample.critical_temperature_mc;
  if (metric == kTemperatureNow && sensor_type == kEdge) value = sample.edge_temperature_mc;
  if (metric == kTemperatureNow && sensor_type == kJunction) value = sample.hotspot_temperature_mc;
  if (metric == kTemperatureNow && sensor_type == kMemorySensor) value = sample.memory_temperature_mc;
  return answer(value, temperature);
}

rsmi_status_t dev_volt_metric_get(std::uint32_t dv_ind, rsmi_voltage_type_t sensor_type,
                                  rsmi_voltage_metric_t metric, std::int64_t* voltage) {
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  return answer(sensor_type == 0 && metric == 0 ? sample.core_voltage_mv : kUnknown, voltage);
}

rsmi_status_t dev_power_get(std::uint32_t dv_ind, std::uint64_t* power, RSMI_POWER_TYPE* type) {
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  if (type == nullptr) return kInvalidArguments;
  const rsmi_status_t code = answer(sample.power_uw, power);
  if (code == kSuccess) *type = kAveragePower;
  return code;
}

rsmi_status_t dev_power_cap_range_get(std::uint32_t dv_ind, std::uint32_t sensor_ind, std::uint64_t* max,
                                      std::uint64_t* min) {
  smi::Facts facts;
  if (const rsmi_status_t code = read_facts(dv_ind, facts); code != kSuccess) return code;
  if (sensor_ind != 0 || !is_known(facts.power_cap_least_uw)) return kNotSupported;
  if (min == nullptr) return kInvalidArguments;
  const rsmi_status_t code = answer(facts.power_cap_most_uw, max);
  if (code == kSuccess) *min = facts.power_cap_least_uw;
  return code;
}

rsmi_status_t dev_energy_count_get(std::uint32_t dv_ind, std::uint64_t* power, float* counter_resolution,
                                   std::uint64_t* timestamp) {
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  if (is_known(sample.energy_uj) && timestamp == nullptr) return kInvalidArguments;
  const rsmi_status_t code = answer(sample.energy_uj, power);
  if (code != kSuccess) return code;
  if (counter_resolution != nullptr) *counter_resolution = 1;  // microjoules
  *timestamp = sample.time_ns;
  return kSuccess;
}

rsmi_status_t dev_gpu_clk_freq_get(std::uint32_t dv_ind, rsmi_clk_type_t clk_type, rsmi_frequencies_t* f) {
  smi::Facts facts;
  smi::Sample sample;
  rsmi_status_t code = read_facts(dv_ind, facts);
  if (code == kSuccess) code = read_sample(dv_ind, sample);
  if (code != kSuccess) return code;
  if (clk_type == kSystemClock)
    return answer_clocks(facts.core_clock_least_hz, sample.core_clock_hz, facts.core_clock_most_hz, f);
  if (clk_type == kMemoryClock)
    return answer_clocks(facts.memory_clock_least_hz, sample.memory_clock_hz, facts.memory_clock_most_hz, f);
  return kNotSupported;
}

rsmi_status_t dev_ecc_count_get(std::uint32_t dv_ind, rsmi_gpu_block_t block, rsmi_error_count_t* ec) {
  smi::Sample sample;
  if (const rsmi_status_t code = read_sample(dv_ind, sample); code != kSuccess) return code;
  if (block != kMemoryBlock || !is_known(sample.errors_corrected) || !is_known(sample.errors_uncorrected))
    return kNotSupported;
  if (ec == nullptr) return kInvalidArguments;
  *ec = {sample.errors_corrected, sample.errors_uncorrected};
  return kSuccess;
}

}  // namespace tf::rsmi::custom
