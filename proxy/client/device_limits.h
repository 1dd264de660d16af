// SPDX-License-Identifier: Apache-2.0
// DeviceLimits: the devices' limits, from the snapshot and as hipDeviceSetLimit has changed them. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class DeviceLimits {
 public:
  explicit DeviceLimits(const protocol::WorkerSnapshot& snapshot) {
    for (const auto& device : snapshot.devices) devices_.push_back(device.limits);
  }
  DeviceLimits(const DeviceLimits&) = delete;
  DeviceLimits& operator=(const DeviceLimits&) = delete;

  // The worker's answer to hipDeviceGetLimit. REQUIRES for both: `device` is one of the snapshot's
  hipError_t get(int device, hipLimit_t limit, std::size_t& value) const {
    const MutexLock lock(mutex_);
    for (const protocol::LimitValue& known : devices_[static_cast<std::size_t>(device)]) {
      if (known.limit != static_cast<std::int32_t>(limit)) continue;
      if (known.error == hipSuccess) value = known.value;
      return static_cast<hipError_t>(known.error);
    }
    return hipErrorUnsupportedLimit;
  }
  void set(int device, hipLimit_t limit, std::uint64_t value) {
    const MutexLock lock(mutex_);
    for (protocol::LimitValue& known : devices_[static_cast<std::size_t>(device)])
      if (known.limit == static_cast<std::int32_t>(limit)) known = {known.limit, hipSuccess, value};
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::vector<protocol::LimitValue>> devices_ TF_GUARDED_BY(mutex_);  // by ordinal
};

}  // namespace tf::proxy
