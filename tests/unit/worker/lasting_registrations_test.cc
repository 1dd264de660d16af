// SPDX-License-Identifier: Apache-2.0
// Registrations with a runtime that unregisters as AMD's 5.2.3 does.
#include "worker/base/lasting_registrations.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

namespace tf::worker {
namespace {

constexpr std::ptrdiff_t kFar =
    1 << 20;  // from the host's address of memory to the device's, where they differ

// What it has registered by host address. It aborts where AMD's does.
struct Runtime {
  std::map<void*, std::ptrdiff_t> device_offsets;
  std::ptrdiff_t next_offset = 0;
  int aborted = 0;
  int registered = 0;
  int events_destroyed = 0;
};
Runtime runtime;

// As AMD's names them, in /dev/shm.
const std::string& event_file() {
  static const std::string name = "/hip_event_test_" + std::to_string(::getpid());
  return name;
}

bool has_event_file() { return ::access(("/dev/shm" + event_file()).c_str(), F_OK) == 0; }

hipError_t unregister(void* pointer) {
  const auto found = runtime.device_offsets.find(pointer);
  if (found == runtime.device_offsets.end()) return hipErrorHostMemoryNotRegistered;
  if (found->second == 0) ++runtime.aborted;
  runtime.device_offsets.erase(found);
  return hipSuccess;
}

// The mended table. Its version is asked for once in a process: that of 5.2.3.
const protocol::HipTable& mended() {
  static const protocol::HipTable table = [] {
    protocol::HipTable hip;
    hip.hipRuntimeGetVersion = [](int* version) {
      *version = 50'221'153;
      return hipSuccess;
    };
    hip.hipHostRegister = [](void* pointer, std::size_t, unsigned) {
      ++runtime.registered;
      runtime.device_offsets[pointer] = runtime.next_offset;
      return hipSuccess;
    };
    hip.hipHostUnregister = unregister;
    hip.hipHostGetDevicePointer = [](void** device, void* pointer, unsigned) {
      const auto found = runtime.device_offsets.find(pointer);
      if (found == runtime.device_offsets.end()) return hipErrorInvalidValue;
      *device = static_cast<std::byte*>(pointer) + found->second;
      return hipSuccess;
    };
    hip.hipEventCreateWithFlags = [](hipEvent_t* event, unsigned flags) {
      *event = reinterpret_cast<hipEvent_t>(std::uintptr_t{0x1000} + flags);
      return hipSuccess;
    };
    hip.hipEventDestroy = [](hipEvent_t) {
      ++runtime.events_destroyed;
      return hipSuccess;
    };
    hip.hipIpcGetEventHandle = [](hipIpcEventHandle_t* handle, hipEvent_t) {
      std::snprintf(handle->reserved, sizeof handle->reserved, "%s", event_file().c_str());
      return hipSuccess;
    };
    hip.hipIpcOpenEventHandle = [](hipEvent_t* event, hipIpcEventHandle_t) {
      *event = reinterpret_cast<hipEvent_t>(0x2000);
      return hipSuccess;
    };
    mend_lasting_registrations(hip);
    return hip;
  }();
  return table;
}

class LastingRegistrations : public ::testing::Test {
 protected:
  void SetUp() override { runtime = {}; }
  // Each test has addresses of its own: what lasts, lasts for the process.
  static void* address(std::uintptr_t page) { return reinterpret_cast<void*>(page << 12); }
};

TEST_F(LastingRegistrations, OfTheSameAddressOnTheDevice) {
  ASSERT_EQ(mended().hipHostRegister(address(0x100), 4 << 12, 0), hipSuccess);
  EXPECT_EQ(mended().hipHostUnregister(address(0x100)), hipSuccess);
  EXPECT_EQ(runtime.aborted, 0);
  EXPECT_EQ(runtime.device_offsets.size(), 1U) << "it is still registered";
  EXPECT_EQ(mended().hipHostUnregister(address(0x100)), hipErrorHostMemoryNotRegistered)
      << "for all others not";
}

TEST_F(LastingRegistrations, AreMadeAgainAsTheyWereAndNotOtherwise) {
  ASSERT_EQ(mended().hipHostRegister(address(0x200), 4 << 12, 0), hipSuccess);
  ASSERT_EQ(mended().hipHostUnregister(address(0x200)), hipSuccess);
  EXPECT_EQ(mended().hipHostRegister(address(0x200), 8 << 12, 0), hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(mended().hipHostRegister(address(0x1ff), 2 << 12, 0), hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(mended().hipHostRegister(address(0x203), 1 << 12, 0), hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(runtime.registered, 1) << "the runtime did not hear of them";
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(mended().hipHostRegister(address(0x200), 4 << 12, 0), hipSuccess);
    EXPECT_EQ(mended().hipHostUnregister(address(0x200)), hipSuccess);
  }
  EXPECT_EQ(mended().hipHostRegister(address(0x204), 1 << 12, 0), hipSuccess) << "behind it";
  EXPECT_EQ(runtime.aborted, 0);
}

TEST_F(LastingRegistrations, OthersAreTakenBack) {
  runtime.next_offset = kFar;
  ASSERT_EQ(mended().hipHostRegister(address(0x300), 4 << 12, 0), hipSuccess);
  EXPECT_EQ(mended().hipHostUnregister(address(0x300)), hipSuccess);
  EXPECT_TRUE(runtime.device_offsets.empty());
  EXPECT_EQ(mended().hipHostRegister(address(0x300), 8 << 12, 0), hipSuccess);
}

TEST_F(LastingRegistrations, EventsThatAreSharedStay) {
  hipEvent_t plain = nullptr, shared = nullptr, opened = nullptr;
  ASSERT_EQ(mended().hipEventCreateWithFlags(&plain, hipEventDisableTiming), hipSuccess);
  ASSERT_EQ(mended().hipEventCreateWithFlags(&shared, hipEventDisableTiming | hipEventInterprocess),
            hipSuccess);
  ASSERT_EQ(mended().hipIpcOpenEventHandle(&opened, {}), hipSuccess);
  const int file = ::shm_open(event_file().c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ::close(file);
  EXPECT_EQ(mended().hipEventDestroy(opened), hipSuccess);
  EXPECT_TRUE(has_event_file()) << "its owner's";
  EXPECT_EQ(mended().hipEventDestroy(shared), hipSuccess);
  EXPECT_FALSE(has_event_file()) << "nobody finds it any more";
  EXPECT_EQ(runtime.events_destroyed, 0);
  EXPECT_EQ(runtime.aborted, 0) << "by what was tried";
  EXPECT_EQ(mended().hipEventDestroy(plain), hipSuccess);
  EXPECT_EQ(runtime.events_destroyed, 1);
}

}  // namespace
}  // namespace tf::worker
