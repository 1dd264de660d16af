// SPDX-License-Identifier: Apache-2.0
// LateFills: fills without a stream, which nobody waits for, are done before whatever comes after them.
//
// Programs may take it that hipMemset() returns when the memory is filled, and use it on any stream. The fill
// is work of the null stream, and the call has returned. The null stream's own order covers most streams. The
// others (non-blocking ones, those of other devices) wait for the fill when they are next used: on the
// device, by an event. The executor waits only before it changes who may use memory, which no stream orders.
// Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <vector>

#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/current_device.h"
#include "worker/base/life.h"
#include "worker/base/own_calls.h"

namespace tf::worker {

class LateFills {
 public:
  // All outlive it.
  LateFills(const protocol::HipTable& hip, OwnCalls& own_calls, CurrentDevice& device, Life& life)
      : hip_(hip),
        own_calls_(own_calls),
        device_(device),
        life_(life),
        null_streams_(static_cast<std::size_t>(device.count())) {}
  LateFills(const LateFills&) = delete;
  LateFills& operator=(const LateFills&) = delete;
  ~LateFills();

  // Waits until all are done: before others get memory, or access to it changes. False: the session ends
  // instead.
  bool wait();
  // Call it before such a fill goes to the null stream of the current device. REQUIRES for these: there is a
  // current device.
  void begin();
  // Call it before anything else uses `stream` of `device`; for the null stream that is the current device.
  // `seen` is kept with the stream, and starts with 0.
  void precede(hipStream_t stream, int device, std::uint64_t& seen) {
    if (open_device_ < 0 && seen == runs_) return;
    order(stream, device, seen);
  }
  void precede_null() {
    const int device = device_.get();
    precede(nullptr, device, null_streams_[static_cast<std::size_t>(device)].seen);
  }

 private:
  // The null stream of a device.
  struct NullStream {
    hipEvent_t event = nullptr;  // behind its last run of fills
    std::uint64_t run = 0;       // that run's number; 0: it is done
    std::uint64_t seen = 0;
  };

  void order(hipStream_t stream, int device, std::uint64_t& seen);
  void close();
  bool done(std::size_t device);
  void check(hipError_t error, hipStream_t stream, int device);

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  CurrentDevice& device_;
  Life& life_;
  int open_device_ = -1;    // its null stream's last work is such a fill, and has no event behind it yet
  std::uint64_t runs_ = 0;  // of fills with an event behind them
  std::vector<NullStream> null_streams_;  // by device
};

}  // namespace tf::worker
