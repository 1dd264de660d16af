// SPDX-License-Identifier: Apache-2.0
// What devices measure: memory, temperatures, power, clocks, and all of it as one table.
#include "smi/gen/rocm/custom.h"
#include "smi/rocm/layout.h"
#include "smi/rocm/support.h"
#include "smi/vendor/readings.h"

namespace tf::rsmi::custom {
namespace {

using smi::in_table;
using smi::is_known;

}  // namespace

rsmi_status_t dev_memory_total_get(std::uint32_t dv_ind, rsmi_memory_type_t mem_type, std::uint64_t* total) {
  return smi::memory_total<Vendor>(dv_ind, mem_type, total);
}

rsmi_status_t dev_memory_usage_get(std::uint32_t dv_ind, rsmi_memory_type_t mem_type, std::uint64_t* used) {
  return smi::memory_usage<Vendor>(dv_ind, mem_type, used);
}

rsmi_status_t dev_activity_metric_get(std::uint32_t dv_ind, rsmi_activity_metric_t activity_metric_type,
                                      rsmi_activity_metric_counter_t* activity_metric_counter) {
  smi::Sample sample;
  if (const rsmi_status_t code = Answers::read_sample(dv_ind, sample); code != kSuccess) return code;
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
  if (const rsmi_status_t code = Answers::read_sample(dv_ind, sample); code != kSuccess) return code;
  if (pgpu_metrics == nullptr) return kInvalidArguments;
  smi::fill_table(sample, *pgpu_metrics);
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
  if (const rsmi_status_t code = Answers::read_sample(dv_ind, sample); code != kSuccess) return code;
  return Answers::answer(smi::temperature_of(sample, sensor_type, metric), temperature);
}

rsmi_status_t dev_volt_metric_get(std::uint32_t dv_ind, rsmi_voltage_type_t sensor_type,
                                  rsmi_voltage_metric_t metric, std::int64_t* voltage) {
  return smi::voltage<Vendor>(dv_ind, sensor_type, metric, voltage);
}

rsmi_status_t dev_power_get(std::uint32_t dv_ind, std::uint64_t* power, RSMI_POWER_TYPE* type) {
  smi::Sample sample;
  if (const rsmi_status_t code = Answers::read_sample(dv_ind, sample); code != kSuccess) return code;
  if (type == nullptr) return kInvalidArguments;
  const rsmi_status_t code = Answers::answer(sample.power_uw, power);
  if (code == kSuccess) *type = kAveragePower;
  return code;
}

rsmi_status_t dev_power_cap_range_get(std::uint32_t dv_ind, std::uint32_t sensor_ind, std::uint64_t* max,
                                      std::uint64_t* min) {
  smi::Facts facts;
  if (const rsmi_status_t code = Answers::read_facts(dv_ind, facts); code != kSuccess) return code;
  if (sensor_ind != 0 || !is_known(facts.power_cap_least_uw)) return kNotSupported;
  if (min == nullptr) return kInvalidArguments;
  const rsmi_status_t code = Answers::answer(facts.power_cap_most_uw, max);
  if (code == kSuccess) *min = facts.power_cap_least_uw;
  return code;
}

rsmi_status_t dev_energy_count_get(std::uint32_t dv_ind, std::uint64_t* power, float* counter_resolution,
                                   std::uint64_t* timestamp) {
  return smi::energy<Vendor>(dv_ind, power, counter_resolution, timestamp);
}

rsmi_status_t dev_gpu_clk_freq_get(std::uint32_t dv_ind, rsmi_clk_type_t clk_type, rsmi_frequencies_t* f) {
  smi::Facts facts;
  smi::Sample sample;
  if (const rsmi_status_t code = Answers::read_both(dv_ind, facts, sample); code != kSuccess) return code;
  const smi::Clocks clocks = smi::clocks_of(facts, sample, clk_type);
  if (!is_known(clocks.now)) return kNotSupported;
  if (f == nullptr) return kInvalidArguments;
  const smi::ClockList list(clocks);
  write_frequencies(*f, list.all(), list.current);
  return kSuccess;
}

rsmi_status_t dev_ecc_count_get(std::uint32_t dv_ind, rsmi_gpu_block_t block, rsmi_error_count_t* ec) {
  smi::Sample sample;
  if (const rsmi_status_t code = Answers::read_sample(dv_ind, sample); code != kSuccess) return code;
  if (block != kMemoryBlock || !is_known(sample.errors_corrected) || !is_known(sample.errors_uncorrected))
    return kNotSupported;
  if (ec == nullptr) return kInvalidArguments;
  *ec = {sample.errors_corrected, sample.errors_uncorrected};
  return kSuccess;
}

}  // namespace tf::rsmi::custom
