// SPDX-License-Identifier: Apache-2.0
// The streams that exist.
#include "worker/runtime/cuda/streams.h"

#include <unordered_map>
#include <utility>

#include "transport/base/mutex.h"
#include "worker/runtime/cuda/runtime.h"

namespace tf::cuda {

namespace internal {
constinit thread_local RecentStream recent_streams[kRecentStreams] = {};
constinit std::atomic<std::uint32_t> stream_ends{1};
}  // namespace internal

namespace {

struct Facts {
  int device = 0;
  runtime::ComputeUnits units;
};

struct Streams {
  SharedMutex mutex;
  std::unordered_map<hipStream_t, Facts> known TF_GUARDED_BY(mutex);
};

Streams& streams() {
  static Streams* const all = new Streams;  // for ever, as the Runtime
  return *all;
}

void count_end() { internal::stream_ends.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

bool internal::find_stream(hipStream_t stream) {
  // Read before the table: what ends after that makes the entry stale.
  const std::uint32_t ends = stream_ends.load(std::memory_order_relaxed);
  if (stream != kLegacyStream && stream != hipStreamPerThread) {
    const SharedLock lock(streams().mutex);
    if (!streams().known.contains(stream)) return false;
  }
  recent_of(stream) = {stream, ends};
  return true;
}

void add_stream(hipStream_t stream, int device, runtime::ComputeUnits units) {
  const MutexLock lock(streams().mutex);
  streams().known.insert_or_assign(stream, Facts{device, std::move(units)});
}

runtime::ComputeUnits compute_units_of(hipStream_t stream) {
  const SharedLock lock(streams().mutex);
  const auto found = streams().known.find(stream);
  return found == streams().known.end() ? runtime::ComputeUnits() : found->second.units;
}

int device_of(hipStream_t stream) {
  const SharedLock lock(streams().mutex);
  const auto found = streams().known.find(stream);
  return found == streams().known.end() ? -1 : found->second.device;
}

bool remove_stream(hipStream_t stream) {
  const MutexLock lock(streams().mutex);
  if (streams().known.erase(stream) == 0) return false;
  count_end();
  return true;
}

// The driver looks at what a stream has freed when somebody waits for it, and not when somebody asks.
void see_idle_streams() {
  const SharedLock lock(streams().mutex);
  for (const auto& entry : streams().known)
    if (cu().StreamQuery(entry.first) == driver::Result::SUCCESS)
      static_cast<void>(cu().StreamSynchronize(entry.first));
}

void remove_streams(int device) {
  const MutexLock lock(streams().mutex);
  std::erase_if(streams().known, [&](const auto& entry) { return entry.second.device == device; });
  count_end();
}

}  // namespace tf::cuda
