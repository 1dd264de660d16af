// SPDX-License-Identifier: Apache-2.0
// Copies while somebody is busy for longer than hosts may be silent.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/faults/scenarios.h"

namespace faults {
namespace {

constexpr long long kTicksPerMs = 100'000;  // wall_clock64() counts at 100 MHz

// On a thread of the library's: nothing of the stream goes on, and nobody drives the connection.
void sleep_in_callback(hipStream_t, hipError_t, void* argument) {
  std::this_thread::sleep_for(std::chrono::milliseconds(*static_cast<const long*>(argument)));
}

// Posts a kernel on the null stream that runs for at least `busy_ms` of the device's clock, whatever else
// runs on the machine.
hipError_t keep_device_busy(long busy_ms) {
  long long ticks = busy_ms * kTicksPerMs;
  void* arguments[] = {&ticks};
  return launch("run_for", arguments);
}

class Busy {
 public:
  Busy(std::size_t bytes, long busy_ms) : bytes_(bytes), busy_ms_(busy_ms), back_(bytes) {}

  // All HIP calls in turn; the first that fails ends it.
  hipError_t run(const std::string& scenario) {
    hipError_t error = hipMalloc(&device_, bytes_);
    if (error == hipSuccess) error = hipHostMalloc(&pinned_, bytes_, hipHostMallocDefault);
    if (error == hipSuccess) error = hipStreamCreate(&stream_);
    if (error == hipSuccess) error = hipStreamCreate(&other_);
    if (error != hipSuccess) return error;
    for (std::size_t at = 0; at < bytes_; ++at) source()[at] = static_cast<char>(at * 31 + (at >> 12));
    start_ = Clock::now();
    if (scenario == "busy-out") return out();
    return in(scenario);
  }
  long took() const { return milliseconds_since(start_); }
  long wrong() {
    const char* const expected = source();
    long count = 0;
    for (std::size_t at = 0; at < bytes_; ++at) count += back_[at] != expected[at] ? 1 : 0;
    return count;
  }

 private:
  char* source() { return static_cast<char*>(pinned_); }

  hipError_t in(const std::string& scenario) {
    // Before the work is posted: it may run, and end, before this thread goes on.
    start_ = Clock::now();
    hipError_t error = scenario == "busy-kernel"
                           ? keep_device_busy(busy_ms_)
                           : hipStreamAddCallback(stream_, sleep_in_callback, &busy_ms_, 0);
    if (error != hipSuccess) return error;
    if (scenario == "busy-async") {
      error = hipMemcpyAsync(device_, pinned_, bytes_, hipMemcpyHostToDevice, stream_);
    } else {
      // Pageable memory: the call returns when the bytes are on their way.
      std::vector<char> host(source(), source() + bytes_);
      error = hipMemcpyAsync(device_, host.data(), bytes_, hipMemcpyHostToDevice, stream_);
      if (error == hipSuccess) error = hipStreamSynchronize(stream_);
    }
    if (error == hipSuccess) error = hipDeviceSynchronize();
    if (error == hipSuccess) error = hipMemcpy(back_.data(), device_, bytes_, hipMemcpyDeviceToHost);
    return error;
  }

  // The bytes come while the thread that would take them is in the program's callback.
  hipError_t out() {
    hipError_t error = hipMemcpy(device_, pinned_, bytes_, hipMemcpyHostToDevice);
    void* target = nullptr;
    if (error == hipSuccess) error = hipHostMalloc(&target, bytes_, hipHostMallocDefault);
    if (error == hipSuccess) error = hipStreamAddCallback(other_, sleep_in_callback, &busy_ms_, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it runs
    if (error == hipSuccess) error = hipMemcpyAsync(target, device_, bytes_, hipMemcpyDeviceToHost, stream_);
    std::this_thread::sleep_for(std::chrono::milliseconds(busy_ms_));
    if (error == hipSuccess) error = hipDeviceSynchronize();
    if (error == hipSuccess) std::memcpy(back_.data(), target, bytes_);
    return error;
  }

  const std::size_t bytes_;
  long busy_ms_;
  std::vector<char> back_;
  void* device_ = nullptr;
  void* pinned_ = nullptr;
  hipStream_t stream_ = nullptr;
  hipStream_t other_ = nullptr;
  Clock::time_point start_;
};

}  // namespace

int busy(const char* scenario, std::size_t bytes, long busy_ms) {
  Busy work(bytes, busy_ms);
  const hipError_t error = work.run(scenario);
  if (error != hipSuccess) return report_loss(error);
  say("busy", work.took(), work.wrong());
  return 0;
}

}  // namespace faults
