// SPDX-License-Identifier: Apache-2.0
// What devices measure: load, memory, temperatures, power, clocks, and all of it as one table.
#include <algorithm>

#include "smi/amd/layout.h"
#include "smi/amd/support.h"
#include "smi/gen/amd/custom.h"
#include "smi/vendor/readings.h"

namespace tf::amdsmi::custom {
namespace {

using smi::is_known;
using smi::kUnknown;

constexpr std::uint64_t kMega = 1'000'000;

// Numbers of 32 bits in this library's types: all ones if not known.
std::uint32_t word(std::uint64_t number, std::uint64_t unit = 1) {
  return is_known(number) ? static_cast<std::uint32_t>(std::min<std::uint64_t>(number / unit, 0xffffffff))
                          : 0xffffffff;
}

// Of the table's 16 bits, as the vendor's library says it.
std::uint32_t percent(std::uint64_t number) { return smi::in_table(number); }

template <typename Info, typename Write>
amdsmi_status_t measure(amdsmi_processor_handle device, Info* info, Write write) {
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_sample(device, sample); code != kSuccess) return code;
  if (info == nullptr) return kInvalidArguments;
  return write(*info, sample);
}

std::uint64_t known_or_zero(std::uint64_t number) { return is_known(number) ? number : 0; }

amdsmi_status_t count_errors(const smi::Sample& sample, amdsmi_error_count_t& to) {
  if (!is_known(sample.errors_corrected) || !is_known(sample.errors_uncorrected)) return kNotSupported;
  to = {sample.errors_corrected, sample.errors_uncorrected, 0};
  return kSuccess;
}

}  // namespace

amdsmi_status_t get_gpu_activity(amdsmi_processor_handle device, amdsmi_engine_usage_t* info) {
  return measure(device, info, [](amdsmi_engine_usage_t& to, const smi::Sample& sample) -> amdsmi_status_t {
    to = {percent(sample.core_busy_percent), percent(sample.memory_busy_percent),
          percent(sample.media_busy_percent)};
    return kSuccess;
  });
}

amdsmi_status_t get_gpu_memory_total(amdsmi_processor_handle device, std::uint32_t mem_type,
                                     std::uint64_t* total) {
  return smi::memory_total<Vendor>(device, mem_type, total);
}

amdsmi_status_t get_gpu_memory_usage(amdsmi_processor_handle device, std::uint32_t mem_type,
                                     std::uint64_t* used) {
  return smi::memory_usage<Vendor>(device, mem_type, used);
}

amdsmi_status_t get_gpu_vram_usage(amdsmi_processor_handle device, amdsmi_vram_usage_t* info) {
  constexpr std::uint64_t kMebibyte = 1024 * 1024;
  smi::Facts facts;
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_both(device, facts, sample); code != kSuccess) return code;
  if (info == nullptr) return kInvalidArguments;
  *info = {word(facts.memory_total_bytes, kMebibyte), word(sample.memory_used_bytes, kMebibyte)};
  return kSuccess;
}

amdsmi_status_t get_gpu_metrics_info(amdsmi_processor_handle device, amdsmi_gpu_metrics_t* pgpu_metrics) {
  return measure(device, pgpu_metrics,
                 [](amdsmi_gpu_metrics_t& to, const smi::Sample& sample) -> amdsmi_status_t {
                   write_metrics(to, sample);
                   return kSuccess;
                 });
}

amdsmi_status_t get_gpu_metrics_header_info(amdsmi_processor_handle device,
                                            amd_metrics_table_header_t* header_value) {
  return measure(device, header_value,
                 [](amd_metrics_table_header_t& to, const smi::Sample& sample) -> amdsmi_status_t {
                   to = metrics_header(sample);
                   return kSuccess;
                 });
}

// Degrees: only the comments of its header say thousandths.
amdsmi_status_t get_temp_metric(amdsmi_processor_handle device, std::uint32_t sensor_type,
                                std::uint32_t metric, std::int64_t* temperature) {
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_sample(device, sample); code != kSuccess) return code;
  const std::uint64_t known = smi::temperature_of(sample, sensor_type, metric);
  if (!is_known(known)) return kNotSupported;
  return Answers::answer(static_cast<std::uint64_t>(smi::as_signed(known) / 1000), temperature);
}

amdsmi_status_t get_gpu_volt_metric(amdsmi_processor_handle device, std::uint32_t sensor_type,
                                    std::uint32_t metric, std::int64_t* voltage) {
  return smi::voltage<Vendor>(device, sensor_type, metric, voltage);
}

amdsmi_status_t get_power_info(amdsmi_processor_handle device, amdsmi_power_info_t* info) {
  return measure(device, info, [](amdsmi_power_info_t& to, const smi::Sample& sample) -> amdsmi_status_t {
    write_power(to, sample);
    return kSuccess;
  });
}

amdsmi_status_t get_power_info_v2(amdsmi_processor_handle device, std::uint32_t sensor_ind,
                                  amdsmi_power_info_t* info) {
  const amdsmi_status_t code = get_power_info(device, info);
  return code == kSuccess && sensor_ind != 0 ? amdsmi_status_t{kNotSupported} : code;
}

// What is not known is zero: no program of the vendor's knows another number for that. That of ROCm 6.1 ends
// where this fails, and its library answers when it can read anything at all.
amdsmi_status_t get_power_cap_info(amdsmi_processor_handle device, std::uint32_t sensor_ind,
                                   amdsmi_power_cap_info_t* info) {
  smi::Facts facts;
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_both(device, facts, sample); code != kSuccess) return code;
  if (sensor_ind != 0 || (!is_known(sample.power_cap_uw) && !is_of_rocm_61())) return kNotSupported;
  if (info == nullptr) return kInvalidArguments;
  *info = {known_or_zero(sample.power_cap_uw), known_or_zero(facts.power_cap_default_uw), 0,
           known_or_zero(facts.power_cap_least_uw), known_or_zero(facts.power_cap_most_uw)};
  return kSuccess;
}

// One at most: of the whole device.
amdsmi_status_t get_supported_power_cap(amdsmi_processor_handle device, std::uint32_t* sensor_count,
                                        std::uint32_t* sensor_inds, std::uint32_t* sensor_types) {
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_sample(device, sample); code != kSuccess) return code;
  if (!is_known(sample.power_cap_uw)) return kNotSupported;
  if (sensor_count == nullptr || sensor_inds == nullptr || sensor_types == nullptr) return kInvalidArguments;
  *sensor_count = 1;
  *sensor_inds = *sensor_types = 0;
  return kSuccess;
}

amdsmi_status_t get_energy_count(amdsmi_processor_handle device, std::uint64_t* energy_accumulator,
                                 float* counter_resolution, std::uint64_t* timestamp) {
  return smi::energy<Vendor>(device, energy_accumulator, counter_resolution, timestamp);
}

amdsmi_status_t get_clk_freq(amdsmi_processor_handle device, std::uint32_t clk_type,
                             amdsmi_frequencies_t* f) {
  smi::Facts facts;
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_both(device, facts, sample); code != kSuccess) return code;
  const smi::Clocks clocks = smi::clocks_of(facts, sample, clk_type);
  if (!is_known(clocks.now)) return kNotSupported;
  if (f == nullptr) return kInvalidArguments;
  const smi::ClockList list(clocks);
  *f = {};
  f->num_supported = static_cast<std::uint32_t>(list.count);
  f->current = list.current;
  std::ranges::copy(list.all(), f->frequency);
  return kSuccess;
}

// The library of ROCm 6.1 fails where it cannot read the range, and its amd-smi would print whatever stands
// there.
amdsmi_status_t get_clock_info(amdsmi_processor_handle device, std::uint32_t clk_type,
                               amdsmi_clk_info_t* info) {
  smi::Facts facts;
  smi::Sample sample;
  if (const amdsmi_status_t code = Answers::read_both(device, facts, sample); code != kSuccess) return code;
  const smi::Clocks clocks = smi::clocks_of(facts, sample, clk_type);
  if (!is_known(clocks.now)) return kNotSupported;
  if (is_of_rocm_61() && (!is_known(clocks.least) || !is_known(clocks.most))) return kNotSupported;
  if (info == nullptr) return kInvalidArguments;
  *info = {word(clocks.now, kMega), word(clocks.least, kMega), word(clocks.most, kMega), 0, 0};
  write_sleep(*info);
  return kSuccess;
}

amdsmi_status_t get_gpu_ecc_count(amdsmi_processor_handle device, std::uint64_t block,
                                  amdsmi_error_count_t* ec) {
  const amdsmi_status_t code = get_gpu_total_ecc_count(device, ec);
  return code == kSuccess && block != kMemoryBlock ? amdsmi_status_t{kNotSupported} : code;
}

amdsmi_status_t get_gpu_total_ecc_count(amdsmi_processor_handle device, amdsmi_error_count_t* ec) {
  return measure(device, ec, [](amdsmi_error_count_t& to, const smi::Sample& sample) {
    return count_errors(sample, to);
  });
}

}  // namespace tf::amdsmi::custom
