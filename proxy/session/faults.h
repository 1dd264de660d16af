// SPDX-License-Identifier: Apache-2.0
// Faults: failures of posted calls, kept until a call that synchronizes with the stream or device asks for
// them.
//
// The first fault of each (device, stream) stays until it is taken; later ones there are only logged. Any
// thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/base/mutex.h"

namespace tf::proxy {

// Limit on streams with an untaken fault. Beyond it a fault counts as its device's: the null stream and the
// device report it.
inline constexpr std::size_t kFaultsMax = 4096;

class Faults {
 public:
  void note(int device, std::uint64_t stream, hipError_t error);

  // Removes and returns the first fault of the stream; hipSuccess if there is none. The null stream (0) also
  // answers for faults that belong to no stream.
  hipError_t take_stream(int device, std::uint64_t stream);
  // Returns the first fault of the device, on any stream, and removes all faults of the device.
  hipError_t take_device(int device);

 private:
  struct Entry {
    int device;
    std::uint64_t stream;
    hipError_t error;
  };

  bool none() const { return count_.load(std::memory_order_acquire) == 0; }  // pairs with count()
  bool knows(int device, std::uint64_t stream) const TF_REQUIRES(mutex_);
  void count() TF_REQUIRES(mutex_) { count_.store(entries_.size(), std::memory_order_release); }

  Mutex mutex_;
  std::vector<Entry> entries_ TF_GUARDED_BY(mutex_);  // in order of arrival
  std::atomic<std::size_t> count_{0};
};

}  // namespace tf::proxy
