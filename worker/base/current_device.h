// SPDX-License-Identifier: Apache-2.0
// CurrentDevice: the device that is current in the runtime on the executor thread, so that the runtime is
// asked only for changes. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/own_calls.h"

namespace tf::worker {

class CurrentDevice {
 public:
  // All outlive it.
  CurrentDevice(const protocol::HipTable& hip, OwnCalls& own_calls, const protocol::WorkerSnapshot& snapshot)
      : hip_(hip), own_calls_(own_calls), snapshot_(snapshot) {}
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

  int get() const { return device_; }  // negative: not known
  int count() const { return static_cast<int>(snapshot_.devices.size()); }

  // From now on `shown` holds the current device's number plus 1, for readers outside the process. It
  // outlives this object.
  void show(std::atomic<std::int32_t>& shown) { shown_ = &shown; }

  // Makes `device` current.
  hipError_t use(int device) {
    if (device == device_) return hipSuccess;
    if (device < 0 || device >= count()) return hipErrorInvalidDevice;
    if (shown_ != nullptr) shown_->store(device + 1, std::memory_order_relaxed);  // read after our end
    const hipError_t error = hip_.hipSetDevice(device);
    device_ = error == hipSuccess ? device : -1;
    return error;
  }
  // Makes `device` current again after the worker's own calls. Negative: none was current before.
  void return_to(int device) {
    if (device >= 0) own_calls_.pass_on(use(device));
  }

 private:
  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  const protocol::WorkerSnapshot& snapshot_;
  std::atomic<std::int32_t>* shown_ = nullptr;
  int device_ = -1;
};

}  // namespace tf::worker
