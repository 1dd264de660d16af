// SPDX-License-Identifier: Apache-2.0
// The tables of values.
#include "tools/smi-remote/readings.h"

#include <fmt/format.h>

#include <algorithm>

namespace tf::tools {
namespace {

using smi::Facts;
using smi::is_known;
using smi::Sample;

struct Number {
  const char* label;
  const char* key;
  double unit = 1;
  int decimals = 0;
  bool is_signed = false;
};
struct FactRow {
  Number shown;
  std::uint64_t Facts::*field;
};
struct SampleRow {
  Number shown;
  std::uint64_t Sample::*field;
};

constexpr double kMega = 1e6;
constexpr FactRow kFacts[] = {
    {{"NUMA node", "numa_node"}, &Facts::numa_node},
    {{"DRM render minor", "drm_render_minor"}, &Facts::drm_render_minor},
    {{"Compute units", "compute_units"}, &Facts::compute_units},
    {{"VRAM total memory (B)", "memory_total_bytes"}, &Facts::memory_total_bytes},
    {{"PCIe width, most (lanes)", "pcie_width_max"}, &Facts::pcie_width_max},
    {{"PCIe speed, most (GT/s)", "pcie_speed_max_gtps", 1000, 1}, &Facts::pcie_speed_max_mtps},
    {{"Default power cap (W)", "power_cap_default_w", kMega, 1}, &Facts::power_cap_default_uw},
    {{"Least power cap (W)", "power_cap_least_w", kMega, 1}, &Facts::power_cap_least_uw},
    {{"Most power cap (W)", "power_cap_most_w", kMega, 1}, &Facts::power_cap_most_uw},
    {{"Least SCLK (MHz)", "core_clock_least_mhz", kMega}, &Facts::core_clock_least_hz},
    {{"Most SCLK (MHz)", "core_clock_most_mhz", kMega}, &Facts::core_clock_most_hz},
    {{"Least MCLK (MHz)", "memory_clock_least_mhz", kMega}, &Facts::memory_clock_least_hz},
    {{"Most MCLK (MHz)", "memory_clock_most_mhz", kMega}, &Facts::memory_clock_most_hz},
};
constexpr SampleRow kMeasurements[] = {
    {{"GPU use (%)", "core_busy_percent"}, &Sample::core_busy_percent},
    {{"GPU memory use (%)", "memory_busy_percent"}, &Sample::memory_busy_percent},
    {{"Media use (%)", "media_busy_percent"}, &Sample::media_busy_percent},
    {{"VRAM used memory (B)", "memory_used_bytes"}, &Sample::memory_used_bytes},
    {{"Host used memory (B)", "host_memory_used_bytes"}, &Sample::host_memory_used_bytes},
    {{"Host total memory (B)", "host_memory_total_bytes"}, &Sample::host_memory_total_bytes},
    {{"Temperature (Sensor edge) (C)", "temperature_edge_c", 1000, 1, true}, &Sample::edge_temperature_mc},
    {{"Temperature (Sensor junction) (C)", "temperature_junction_c", 1000, 1, true},
     &Sample::hotspot_temperature_mc},
    {{"Temperature (Sensor memory) (C)", "temperature_memory_c", 1000, 1, true},
     &Sample::memory_temperature_mc},
    {{"Critical temperature (C)", "temperature_critical_c", 1000, 1, true}, &Sample::critical_temperature_mc},
    {{"Average Graphics Package Power (W)", "power_w", kMega, 1}, &Sample::power_uw},
    {{"Max Graphics Package Power (W)", "power_cap_w", kMega, 1}, &Sample::power_cap_uw},
    {{"Accumulated Energy (uJ)", "energy_uj"}, &Sample::energy_uj},
    {{"SCLK (MHz)", "core_clock_mhz", kMega}, &Sample::core_clock_hz},
    {{"MCLK (MHz)", "memory_clock_mhz", kMega}, &Sample::memory_clock_hz},
    {{"Fan RPM", "fan_rpm"}, &Sample::fan_rpm},
    {{"Fan level", "fan_level"}, &Sample::fan_level},
    {{"Voltage (mV)", "core_voltage_mv"}, &Sample::core_voltage_mv},
    {{"PCIe width (lanes)", "pcie_width"}, &Sample::pcie_width},
    {{"PCIe speed (GT/s)", "pcie_speed_gtps", 1000, 1}, &Sample::pcie_speed_mtps},
    {{"PCIe Replay Count", "pcie_replays"}, &Sample::pcie_replays},
    {{"PCIe sent (B/s)", "pcie_sent_bytes_per_s"}, &Sample::pcie_sent_bytes_per_s},
    {{"PCIe received (B/s)", "pcie_received_bytes_per_s"}, &Sample::pcie_received_bytes_per_s},
    {{"Corrected errors of memory", "errors_corrected"}, &Sample::errors_corrected},
    {{"Uncorrected errors of memory", "errors_uncorrected"}, &Sample::errors_uncorrected},
};

Reading number_of(const Number& shown, std::uint64_t number) {
  return {shown.label, shown.key, in_unit(number, shown.unit, shown.decimals, shown.is_signed), true};
}

Reading hex_of(const char* label, const char* key, std::uint64_t number, int digits) {
  return {label, key, is_known(number) ? fmt::format("0x{:0{}x}", number, digits) : std::string(), false};
}

Reading text_reading(const char* label, const char* key, std::string text) {
  return {label, key, std::move(text), false};
}

}  // namespace

std::string in_unit(std::uint64_t number, double unit, int decimals, bool is_signed) {
  if (!is_known(number)) return {};
  if (unit == 1 && decimals == 0)
    return is_signed ? fmt::format("{}", smi::as_signed(number)) : fmt::format("{}", number);
  const double value = is_signed ? static_cast<double>(smi::as_signed(number)) : static_cast<double>(number);
  return fmt::format("{:.{}f}", value / unit, decimals);
}

std::string pci_of(const Facts& facts) {
  if (!is_known(facts.pci_bus)) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", facts.pci_domain, facts.pci_bus, facts.pci_device,
                     facts.pci_function);
}

std::optional<double> memory_percent(const SeenDevice& device) {
  const std::uint64_t total = device.facts.memory_total_bytes;
  const std::uint64_t used = device.sample.memory_used_bytes;
  if (!is_known(total) || !is_known(used) || total == 0) return std::nullopt;
  return 100.0 * static_cast<double>(used) / static_cast<double>(total);
}

std::uint64_t temperature_of(const Sample& sample) {
  return is_known(sample.edge_temperature_mc) ? sample.edge_temperature_mc : sample.hotspot_temperature_mc;
}

std::string power_text(const Sample& sample) {
  const std::string now = in_unit(sample.power_uw, kMega, 0);
  const std::string most = in_unit(sample.power_cap_uw, kMega, 0);
  if (now.empty()) return {};
  return now + (most.empty() ? "" : "/" + most) + " W";
}

std::string name_of(const smi::Link& link) {
  switch (static_cast<smi::LinkKind>(link.kind)) {
    case smi::LinkKind::kSame: return "0";
    case smi::LinkKind::kPcie: return "PCIe";
    case smi::LinkKind::kXgmi: return "XGMI";
    case smi::LinkKind::kNvlink: return "NVLink";
    case smi::LinkKind::kMemory: return "memory";
    default: return "N/A";
  }
}

std::vector<Reading> facts_of(const SeenDevice& device) {
  const Facts& facts = device.facts;
  std::vector<Reading> readings{
      text_reading("Name", "name", smi::text_of(facts.name)),
      text_reading("Vendor", "vendor", smi::text_of(facts.vendor)),
      text_reading("Architecture", "architecture", smi::text_of(facts.architecture)),
      text_reading("PCI Bus", "pci_bus", pci_of(facts)),
      hex_of("Vendor ID", "vendor_id", facts.vendor_id, 4),
      hex_of("GPU ID", "device_id", facts.device_id, 4),
      hex_of("Subsystem vendor ID", "subsystem_vendor_id", facts.subsystem_vendor_id, 4),
      hex_of("Subsystem ID", "subsystem_id", facts.subsystem_id, 4),
      hex_of("Unique ID", "unique_id", facts.unique_id, 16),
      text_reading("Serial Number", "serial", smi::text_of(facts.serial)),
      text_reading("VBIOS version", "firmware", smi::text_of(facts.firmware)),
      text_reading("Driver version", "driver", smi::text_of(facts.driver)),
      text_reading("GPU memory vendor", "memory_vendor", smi::text_of(facts.memory_vendor)),
      text_reading("SMI runtime", "runtime", smi::text_of(facts.runtime)),
  };
  for (const FactRow& row : kFacts) readings.push_back(number_of(row.shown, facts.*row.field));
  return readings;
}

std::vector<Reading> measurements_of(const SeenDevice& device) {
  std::vector<Reading> readings;
  for (const SampleRow& row : kMeasurements)
    readings.push_back(number_of(row.shown, device.sample.*row.field));
  const std::optional<double> percent = memory_percent(device);
  readings.push_back({"GPU Memory Allocated (VRAM%)", "memory_used_percent",
                      percent ? fmt::format("{:.1f}", *percent) : std::string(), true});
  return readings;
}

Result<std::vector<SeenDevice>> read_devices(smi::Remote& remote, std::optional<int> only) {
  if (only && (*only < 0 || *only >= remote.device_count()))
    return Status(Code::kInvalidArgument,
                  fmt::format("there is no device {}; this worker shows {}", *only, remote.device_count()));
  std::vector<SeenDevice> devices;
  for (int index = only.value_or(0); index < (only ? *only + 1 : remote.device_count()); ++index) {
    SeenDevice device;
    device.index = index;
    TF_RETURN_IF_ERROR(remote.describe(index, device.facts));
    TF_RETURN_IF_ERROR(remote.sample(index, device.sample));
    devices.push_back(device);
  }
  return devices;
}

}  // namespace tf::tools
