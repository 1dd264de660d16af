// SPDX-License-Identifier: Apache-2.0
// Asks the library, device by device.
#include "worker/smi/readings.h"

#include <chrono>

namespace tf::worker::smi {

ReadingsWriter::ReadingsWriter(tf::smi::Runtime& runtime, DeviceReadings& readings)
    : runtime_(runtime), readings_(readings) {
  for (const WatchedDevice& device : readings.devices()) {
    Device& watched = devices_.emplace_back(Device{{device.pci, device.architecture}});
    tf::smi::Facts facts = tf::smi::unknown_facts();
    if (runtime.describe(watched.target, facts)) watched.fan_most = facts.fan_most;
  }
}

// The time is that before the driver was asked: a reading is not younger than its oldest number.
Status ReadingsWriter::write() {
  Status last = Status::ok();
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    const auto asked = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
    DeviceReading reading;
    if (Status sampled = runtime_.sample(devices_[device].target, reading.sample); !sampled.is_ok()) {
      last = std::move(sampled);
      continue;
    }
    reading.sample.time_ns = static_cast<std::uint64_t>(asked.count());
    reading.fan_most = devices_[device].fan_most;
    readings_.write(device, reading);
  }
  readings_.note_round(std::chrono::steady_clock::now());
  return last;
}

}  // namespace tf::worker::smi
