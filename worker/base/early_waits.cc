// SPDX-License-Identifier: Apache-2.0
// Waits for streams and devices that ask instead of waiting.
#include "worker/base/early_waits.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "transport/base/mutex.h"
#include "worker/base/runtime_version.h"

namespace tf::worker {
namespace {

using std::chrono::microseconds;

// Short waits are polled before they come here (session/short_waits.h): these are long.
constexpr microseconds kFirstPause{20};
constexpr microseconds kPauseMax{200};

protocol::HipTable runtime;  // its own functions

bool waits_early() {
  static const bool early = is_older_than(kRocm56, runtime);
  return early;
}

// Asks until the answer is another than "not ready", with pauses that get longer.
template <typename Ask>
hipError_t ask_until_done(Ask ask) {
  microseconds pause = kFirstPause;
  for (;;) {
    const hipError_t now = ask();
    if (now != hipErrorNotReady) return now;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kPauseMax);
  }
}

// The streams of all devices. A stream is not destroyed while it is asked.
class Known {
 public:
  void add(hipStream_t stream) {
    int device = 0;
    if (runtime.hipGetDevice(&device) != hipSuccess) return;
    const MutexLock lock(mutex_);
    streams_.push_back({stream, device});
  }

  hipError_t destroy(hipStream_t stream) {
    const MutexLock lock(mutex_);
    std::erase_if(streams_, [&](const Entry& entry) { return entry.stream == stream; });
    return runtime.hipStreamDestroy(stream);
  }

  // Of the current device. The null stream comes last: asking for it puts markers behind the others.
  hipError_t ask_all() {
    int device = 0;
    if (const hipError_t error = runtime.hipGetDevice(&device)) return error;
    const MutexLock lock(mutex_);
    for (const Entry& entry : streams_) {
      if (entry.device != device) continue;
      if (const hipError_t now = runtime.hipStreamQuery(entry.stream)) return now;
    }
    return runtime.hipStreamQuery(nullptr);
  }

 private:
  struct Entry {
    hipStream_t stream;
    int device;
  };

  Mutex mutex_;
  std::vector<Entry> streams_ TF_GUARDED_BY(mutex_);
};

// Never destroyed: a waiter thread may ask when the process ends.
Known& known() {
  static Known* const streams = new Known;
  return *streams;
}

hipError_t keep(hipStream_t* stream, hipError_t error) {
  if (error == hipSuccess) known().add(*stream);
  return error;
}

hipError_t create(hipStream_t* stream) { return keep(stream, runtime.hipStreamCreate(stream)); }

hipError_t create_with_flags(hipStream_t* stream, unsigned flags) {
  return keep(stream, runtime.hipStreamCreateWithFlags(stream, flags));
}

hipError_t create_with_priority(hipStream_t* stream, unsigned flags, int priority) {
  return keep(stream, runtime.hipStreamCreateWithPriority(stream, flags, priority));
}

hipError_t create_masked(hipStream_t* stream, std::uint32_t words, const std::uint32_t* mask) {
  return keep(stream, runtime.hipExtStreamCreateWithCUMask(stream, words, mask));
}

hipError_t destroy(hipStream_t stream) { return known().destroy(stream); }

hipError_t wait_for_stream(hipStream_t stream) {
  if (!waits_early()) return runtime.hipStreamSynchronize(stream);
  return ask_until_done([stream] { return runtime.hipStreamQuery(stream); });
}

hipError_t wait_for_device() {
  if (!waits_early()) return runtime.hipDeviceSynchronize();
  return ask_until_done([] { return known().ask_all(); });
}

}  // namespace

void mend_early_waits(protocol::HipTable& hip) {
  runtime = hip;
  hip.hipStreamCreate = create;
  hip.hipStreamCreateWithFlags = create_with_flags;
  hip.hipStreamCreateWithPriority = create_with_priority;
  hip.hipExtStreamCreateWithCUMask = create_masked;
  hip.hipStreamDestroy = destroy;
  hip.hipStreamSynchronize = wait_for_stream;
  hip.hipDeviceSynchronize = wait_for_device;
}

}  // namespace tf::worker
