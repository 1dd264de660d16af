// SPDX-License-Identifier: Apache-2.0
// Shared by the API tests: only the public HIP API, so that the same binary runs natively and remotely.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "transport/base/mutex.h"

#define HIP_OK(call) ASSERT_EQ(call, hipSuccess) << "last error: " << hipGetErrorName(hipPeekAtLastError())

namespace tf::api_test {

// Device memory that is freed at the end of a test.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes) { EXPECT_EQ(hipMalloc(&pointer_, bytes), hipSuccess); }
  ~DeviceBuffer() { EXPECT_EQ(hipFree(pointer_), hipSuccess); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void* get() const { return pointer_; }
  template <typename Value>
  Value* get() const {
    return static_cast<Value*>(pointer_);
  }
  std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(pointer_) + offset; }

 private:
  void* pointer_ = nullptr;
};

class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::size_t bytes) {
    EXPECT_EQ(hipHostMalloc(&pointer_, bytes, hipHostMallocDefault), hipSuccess);
  }
  ~PinnedBuffer() { EXPECT_EQ(hipHostFree(pointer_), hipSuccess); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  template <typename Value>
  Value* as() const {
    return static_cast<Value*>(pointer_);
  }

 private:
  void* pointer_ = nullptr;
};

class TestStream {
 public:
  explicit TestStream(unsigned flags = hipStreamDefault) {
    EXPECT_EQ(hipStreamCreateWithFlags(&stream_, flags), hipSuccess);
  }
  ~TestStream() { EXPECT_EQ(hipStreamDestroy(stream_), hipSuccess); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;

  operator hipStream_t() const { return stream_; }  // NOLINT: used where a hipStream_t is

 private:
  hipStream_t stream_ = nullptr;
};

class TestEvent {
 public:
  explicit TestEvent(unsigned flags = hipEventDefault) {
    EXPECT_EQ(hipEventCreateWithFlags(&event_, flags), hipSuccess);
  }
  ~TestEvent() { EXPECT_EQ(hipEventDestroy(event_), hipSuccess); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;

  operator hipEvent_t() const { return event_; }  // NOLINT: used where a hipEvent_t is

 private:
  hipEvent_t event_ = nullptr;
};

// Holds a stream at a point until opened; a forgotten one opens by itself, so a broken test fails and does
// not hang.
class Gate {
 public:
  Gate() = default;
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void close(hipStream_t stream) {
    ASSERT_EQ(hipStreamAddCallback(stream, &Gate::hold, this, 0), hipSuccess);
  }
  void open() {
    const MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  static void hold(hipStream_t, hipError_t, void* self) {
    auto* const gate = static_cast<Gate*>(self);
    const MutexLock lock(gate->mutex_);
    EXPECT_TRUE(gate->changed_.wait_until(gate->mutex_,
                                          std::chrono::steady_clock::now() + std::chrono::seconds(10),
                                          [gate]() TF_REQUIRES(gate->mutex_) { return gate->open_; }))
        << "nobody opened the gate: does what should open it wait for it?";
  }

  Mutex mutex_;
  CondVar changed_;
  bool open_ TF_GUARDED_BY(mutex_) = false;
};

// Opens it a little later, from a thread of its own.
class SoonOpen {
 public:
  explicit SoonOpen(Gate& gate)
      : thread_([&gate] {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          gate.open();
        }) {}
  ~SoonOpen() { thread_.join(); }
  SoonOpen(const SoonOpen&) = delete;
  SoonOpen& operator=(const SoonOpen&) = delete;

 private:
  std::thread thread_;
};

inline std::vector<std::uint32_t> counting(std::size_t count, std::uint32_t first) {
  std::vector<std::uint32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<std::uint32_t>(i);
  return values;
}

// The library in the place of AMD's is hip-remote's client (library.cc of the proxy has the name).
inline bool is_remote() { return dlsym(RTLD_DEFAULT, "hip_remote_proxy_version") != nullptr; }

inline bool has_architecture(std::string_view beginning) {
  hipDeviceProp_t properties = {};
  return hipGetDeviceProperties(&properties, 0) == hipSuccess &&
         std::string_view(properties.gcnArchName).starts_with(beginning);
}

// The devices are NVIDIA's, here or at the worker: some of what their driver does HIP cannot mend.
inline bool is_nvidia() { return has_architecture("sm_"); }
// They are AMD's.
inline bool is_amd() { return has_architecture("gfx"); }

// The program has loaded the runtime for NVIDIA's devices itself. No client checks its calls before the
// driver.
inline bool is_bare_nvidia() { return !is_remote() && is_nvidia(); }

// NVIDIA's driver calls host functions one at a time: one that waits for another stream's waits for ever.
inline bool runs_host_functions_at_once() { return !is_nvidia(); }

// Whether a copy to the host ends in a host function of the worker's runtime (docs/limits.md).
inline bool copies_end_in_host_functions() {
  const char* const transport = std::getenv("TF_TRANSPORT");
  return is_remote() && transport != nullptr && std::string_view(transport) != "shm";
}

// Whether the device reaches memory that no HIP function allocated or registered.
inline bool reaches_pageable_memory() {
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributePageableMemoryAccess, 0), hipSuccess);
  return value != 0;
}

inline int device_count() {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}

}  // namespace tf::api_test
