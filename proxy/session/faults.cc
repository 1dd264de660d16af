// SPDX-License-Identifier: Apache-2.0
// Keeps failures of posted calls until they are asked for.
#include "proxy/session/faults.h"

#include <algorithm>

#include "transport/base/mutex.h"

namespace tf::proxy {

bool Faults::knows(int device, std::uint64_t stream) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.device == device && entry.stream == stream; });
}

void Faults::note(int device, std::uint64_t stream, hipError_t error) {
  const MutexLock lock(mutex_);
  if (knows(device, stream)) return;
  if (entries_.size() >= kFaultsMax) {
    stream = 0;
    if (knows(device, stream)) return;
  }
  entries_.push_back({device, stream, error});
  count();
}

hipError_t Faults::take_stream(int device, std::uint64_t stream) {
  if (none()) return hipSuccess;
  const MutexLock lock(mutex_);
  auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    // A created stream belongs to one device, so its handle alone decides.
    return entry.stream == stream && (stream > 2 || entry.device == device);
  });
  if (found == entries_.end()) return hipSuccess;
  hipError_t error = found->error;
  entries_.erase(found);
  count();
  return error;
}

hipError_t Faults::take_device(int device) {
  if (none()) return hipSuccess;
  const MutexLock lock(mutex_);
  hipError_t first = hipSuccess;
  std::erase_if(entries_, [&](const Entry& entry) {
    if (entry.device != device) return false;
    if (first == hipSuccess) first = entry.error;
    return true;
  });
  count();
  return first;
}

}  // namespace tf::proxy
