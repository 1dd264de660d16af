// SPDX-License-Identifier: Apache-2.0
// The streams that exist.
#include "worker/runtime/cuda/streams.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "worker/runtime/cuda/runtime.h"

namespace tf::cuda {

namespace internal {
constinit thread_local RecentStream recent_streams[kRecentStreams] = {};
constinit std::atomic<std::uint32_t> stream_ends{1};
}  // namespace internal

namespace {

struct Streams {
  std::shared_mutex mutex;
  std::unordered_map<hipStream_t, int> devices;
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
    const std::shared_lock lock(streams().mutex);
    if (!streams().devices.contains(stream)) return false;
  }
  recent_of(stream) = {stream, ends};
  return true;
}

void add_stream(hipStream_t stream, int device) {
  const std::unique_lock lock(streams().mutex);
  streams().devices.insert_or_assign(stream, device);
}

bool remove_stream(hipStream_t stream) {
  const std::unique_lock lock(streams().mutex);
  if (streams().devices.erase(stream) == 0) return false;
  count_end();
  return true;
}

void remove_streams(int device) {
  const std::unique_lock lock(streams().mutex);
  std::erase_if(streams().devices, [&](const auto& entry) { return entry.second == device; });
  count_end();
}

}  // namespace tf::cuda
