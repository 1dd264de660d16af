// SPDX-License-Identifier: Apache-2.0
// Writes what a management library says of devices into the page that the supervisor reads.
#pragma once

#include "smi/runtime/runtime.h"
#include "worker/base/device_readings.h"

namespace tf::worker::smi {

class ReadingsWriter {
 public:
  // Both outlive it.
  ReadingsWriter(tf::smi::Runtime& runtime, DeviceReadings& readings);

  // One reading of every device that the library knows. May take as long as the library's driver does.
  // Not ok: of some device nothing is known; the last of the reasons.
  Status write();

 private:
  struct Device {
    tf::smi::Target target;
    std::uint64_t fan_most = tf::smi::kUnknown;
  };
  tf::smi::Runtime& runtime_;
  DeviceReadings& readings_;
  std::vector<Device> devices_;
};

}  // namespace tf::worker::smi
