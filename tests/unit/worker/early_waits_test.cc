// SPDX-License-Identifier: Apache-2.0
// Waits for a runtime that forgets what another thread has put into a stream when a wait ends.
#include "worker/base/early_waits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <thread>

#include "transport/base/mutex.h"

namespace tf::worker {
namespace {

// Streams are numbers from 1; the null stream is 0. A query counts one piece of work down.
class Runtime {
 public:
  hipError_t create(hipStream_t* stream) {
    const MutexLock lock(mutex_);
    *stream = reinterpret_cast<hipStream_t>(++last_);
    work_[last_] = 0;
    return hipSuccess;
  }
  hipError_t destroy(hipStream_t stream) {
    const MutexLock lock(mutex_);
    return work_.erase(number(stream)) == 1 ? hipSuccess : hipErrorInvalidHandle;
  }
  hipError_t query(hipStream_t stream) {
    const MutexLock lock(mutex_);
    const auto found = work_.find(number(stream));
    if (found == work_.end()) return hipErrorInvalidHandle;
    if (found->second == 0) return error_;
    --found->second;
    return hipErrorNotReady;
  }
  void put(hipStream_t stream, int pieces) {
    const MutexLock lock(mutex_);
    work_[number(stream)] += pieces;
  }
  int left(hipStream_t stream) {
    const MutexLock lock(mutex_);
    return work_[number(stream)];
  }
  void fail(hipError_t error) {
    const MutexLock lock(mutex_);
    error_ = error;
  }

 private:
  static std::uintptr_t number(hipStream_t stream) { return reinterpret_cast<std::uintptr_t>(stream); }

  Mutex mutex_;
  std::uintptr_t last_ TF_GUARDED_BY(mutex_) = 0;
  std::map<std::uintptr_t, int> work_ TF_GUARDED_BY(mutex_) = {{0, 0}};
  hipError_t error_ TF_GUARDED_BY(mutex_) = hipSuccess;
};

Runtime runtime;
thread_local int current = 0;
std::atomic<int> own_waits{0};

// The mended table. Its version is asked for once in a process: that of 5.2.3.
const protocol::HipTable& mended() {
  static const protocol::HipTable table = [] {
    protocol::HipTable hip;
    hip.hipRuntimeGetVersion = [](int* version) {
      *version = 50'221'153;
      return hipSuccess;
    };
    hip.hipGetDevice = [](int* device) {
      *device = current;
      return hipSuccess;
    };
    hip.hipStreamCreateWithFlags = [](hipStream_t* stream, unsigned) { return runtime.create(stream); };
    hip.hipStreamDestroy = [](hipStream_t stream) { return runtime.destroy(stream); };
    hip.hipStreamQuery = [](hipStream_t stream) { return runtime.query(stream); };
    hip.hipStreamSynchronize = [](hipStream_t) {
      ++own_waits;
      return hipSuccess;
    };
    hip.hipDeviceSynchronize = [] {
      ++own_waits;
      return hipSuccess;
    };
    mend_early_waits(hip);
    return hip;
  }();
  return table;
}

hipStream_t new_stream() {
  hipStream_t stream = nullptr;
  EXPECT_EQ(mended().hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
  return stream;
}

TEST(EarlyWaits, AStreamIsAskedUntilItIsDone) {
  const hipStream_t stream = new_stream();
  runtime.put(stream, 7);
  EXPECT_EQ(mended().hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(runtime.left(stream), 0);
  EXPECT_EQ(mended().hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(own_waits, 0);
}

TEST(EarlyWaits, ADeviceIsDoneWhenAllOfItsStreamsAre) {
  const hipStream_t first = new_stream();
  current = 1;
  const hipStream_t elsewhere = new_stream();
  current = 0;
  const hipStream_t second = new_stream();
  runtime.put(first, 3);
  runtime.put(second, 2);
  runtime.put(nullptr, 4);
  runtime.put(elsewhere, 5);
  EXPECT_EQ(mended().hipDeviceSynchronize(), hipSuccess);
  for (const hipStream_t stream : {first, second, hipStream_t{}}) EXPECT_EQ(runtime.left(stream), 0);
  EXPECT_EQ(runtime.left(elsewhere), 5) << "another device's";
  for (const hipStream_t stream : {first, second, elsewhere})
    EXPECT_EQ(mended().hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(mended().hipDeviceSynchronize(), hipSuccess) << "a stream that is gone is not asked";
  EXPECT_EQ(own_waits, 0);
}

TEST(EarlyWaits, AnErrorEndsThem) {
  const hipStream_t stream = new_stream();
  runtime.put(stream, 2);
  runtime.fail(hipErrorLaunchFailure);
  EXPECT_EQ(mended().hipStreamSynchronize(stream), hipErrorLaunchFailure);
  EXPECT_EQ(mended().hipDeviceSynchronize(), hipErrorLaunchFailure);
  runtime.fail(hipSuccess);
  EXPECT_EQ(mended().hipStreamDestroy(stream), hipSuccess);
}

TEST(EarlyWaits, StreamsComeAndGoMeanwhile) {
  std::atomic<bool> over{false};
  std::thread waiter([&] {
    while (!over) EXPECT_EQ(mended().hipDeviceSynchronize(), hipSuccess);
  });
  for (int round = 0; round < 200; ++round) {
    const hipStream_t stream = new_stream();
    runtime.put(stream, 1);
    EXPECT_EQ(mended().hipStreamSynchronize(stream), hipSuccess);
    EXPECT_EQ(mended().hipStreamDestroy(stream), hipSuccess);
  }
  over = true;
  waiter.join();
}

}  // namespace
}  // namespace tf::worker
