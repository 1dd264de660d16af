// SPDX-License-Identifier: Apache-2.0
// Samples in base units, as Prometheus' conventions have it.
#include "worker/supervisor/smi_families.h"

#include <string>
#include <utility>

#include "hipcore/smi/values.h"
#include "worker/supervisor/families.h"

namespace tf::worker {
namespace {

using Type = MetricFamily::Type;
using tf::smi::is_known;
using Sample = tf::smi::Sample;

// A family with one sample for each device, or for each `word` of the label `label` and each device.
class Series {
 public:
  Series(Type type, const char* name, const char* help, const char* label = nullptr)
      : family_{std::string("hip_remote_smi_") + name, help, type, {}}, label_(label) {}

  // `unit`: how much one of `value` is. Temperatures may be negative.
  void add(const ShownReading& device, std::uint64_t value, double unit, const char* word = nullptr,
           bool is_signed = false) {
    if (!is_known(value)) return;
    MetricLabels labels = {{"device", std::to_string(device.number)}, {"pci", device.pci}};
    if (label_ != nullptr && word != nullptr) labels.emplace_back(label_, word);
    const double known = is_signed ? static_cast<double>(tf::smi::as_signed(value)) : number(value);
    add_sample(family_, std::move(labels), known * unit);
  }
  void move_to(MetricFamilies& families) {
    if (!family_.samples.empty()) families.push_back(std::move(family_));
  }

 private:
  MetricFamily family_;
  const char* label_;
};

// In the order in which they are shown.
struct AllSeries {
  Series up{Type::kGauge, "up", "1: the device's SMI values are known and fresh; 0: they are not."};
  Series busy{Type::kGauge, "busy_ratio", "Part of the time that a part of the device was busy.", "part"};
  Series memory{Type::kGauge, "memory_bytes", "Memory, of the device and of the host behind it.", "memory"};
  Series used{Type::kGauge, "memory_used_bytes", "Memory that is used, by whatever program.", "memory"};
  Series power{Type::kGauge, "power_watts", "Power that the device takes."};
  Series cap{Type::kGauge, "power_cap_watts", "Power that the device may take."};
  Series energy{Type::kCounter, "energy_joules_total", "Energy that the device has taken."};
  Series temperature{Type::kGauge, "temperature_celsius", "Temperature, by sensor.", "sensor"};
  Series critical{Type::kGauge, "temperature_critical_celsius",
                  "Temperature at which the device slows down."};
  Series clock{Type::kGauge, "clock_hertz", "Frequency of a clock.", "clock"};
  Series rpm{Type::kGauge, "fan_rpm", "Revolutions of the fan in a minute."};
  Series fan{Type::kGauge, "fan_ratio", "Speed of the fan, as part of the most."};
  Series errors{Type::kCounter, "memory_errors_total", "Errors of the device's memory (ECC).", "kind"};
  Series replays{Type::kCounter, "pcie_replays_total", "Packets that PCI Express has sent again."};
};

void add_levels(AllSeries& all, const ShownReading& device, const Sample& sample) {
  all.busy.add(device, sample.core_busy_percent, 0.01, "compute");
  all.busy.add(device, sample.memory_busy_percent, 0.01, "memory");
  all.busy.add(device, sample.media_busy_percent, 0.01, "media");
  if (device.memory_bytes != 0) all.memory.add(device, device.memory_bytes, 1, "device");
  all.memory.add(device, sample.host_memory_total_bytes, 1, "host");
  all.used.add(device, sample.memory_used_bytes, 1, "device");
  all.used.add(device, sample.host_memory_used_bytes, 1, "host");
  all.clock.add(device, sample.core_clock_hz, 1, "core");
  all.clock.add(device, sample.memory_clock_hz, 1, "memory");
}

void add_heat(AllSeries& all, const ShownReading& device, const Sample& sample) {
  constexpr double kMicro = 1e-6;
  constexpr double kMilli = 1e-3;
  all.power.add(device, sample.power_uw, kMicro);
  all.cap.add(device, sample.power_cap_uw, kMicro);
  all.energy.add(device, sample.energy_uj, kMicro);
  all.temperature.add(device, sample.edge_temperature_mc, kMilli, "edge", true);
  all.temperature.add(device, sample.hotspot_temperature_mc, kMilli, "hotspot", true);
  all.temperature.add(device, sample.memory_temperature_mc, kMilli, "memory", true);
  all.critical.add(device, sample.critical_temperature_mc, kMilli, nullptr, true);
  all.rpm.add(device, sample.fan_rpm, 1);
}

}  // namespace

MetricFamilies smi_families(const std::vector<ShownReading>& devices) {
  AllSeries all;
  for (const ShownReading& device : devices) {
    all.up.add(device, device.reading ? 1 : 0, 1);
    if (!device.reading) continue;
    const Sample& sample = device.reading->sample;
    add_levels(all, device, sample);
    add_heat(all, device, sample);
    const std::uint64_t most = device.reading->fan_most;
    if (is_known(most) && most != 0) all.fan.add(device, sample.fan_level, 1 / number(most));
    all.errors.add(device, sample.errors_corrected, 1, "corrected");
    all.errors.add(device, sample.errors_uncorrected, 1, "uncorrected");
    all.replays.add(device, sample.pcie_replays, 1);
  }
  MetricFamilies families;
  for (Series* series :
       {&all.up, &all.busy, &all.memory, &all.used, &all.power, &all.cap, &all.energy, &all.temperature,
        &all.critical, &all.clock, &all.rpm, &all.fan, &all.errors, &all.replays})
    series->move_to(families);
  return families;
}

}  // namespace tf::worker
