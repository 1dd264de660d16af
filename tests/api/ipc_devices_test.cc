// SPDX-License-Identifier: Apache-2.0
// Which device shared memory belongs to, in the process that opens it.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/api/hip_test.h"
#include "tests/api/module_fixture.h"
#include "tests/api/partner.h"

namespace tf::api_test {
namespace {

// Gets the handle, and the UUID of the device of its memory.
TEST(IpcDevicesPartner, DISABLED_Run) {
  const char* const handles = std::getenv("HIP_TEST_HANDLE");
  if (handles == nullptr) GTEST_SKIP() << "only as somebody's partner";
  const std::string text = handles;
  void* shared = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&shared, from_hex(text), hipIpcMemLazyEnablePeerAccess));
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, shared));
  hipUUID uuid = {};
  HIP_OK(hipDeviceGetUuid(&uuid, attributes.device));
  const hipIpcMemHandle_t wanted = from_hex(text.substr(2 * sizeof wanted.reserved));
  EXPECT_EQ(std::memcmp(uuid.bytes, wanted.reserved, sizeof uuid.bytes), 0);
  HIP_OK(hipIpcCloseMemHandle(shared));
}

// The partner sees the devices in another order, where that is the program's to say.
TEST(IpcDevices, MemoryBelongsToTheSameDeviceInEveryProcess) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  if (is_nvidia() && !is_remote())
    GTEST_SKIP() << "NVIDIA's driver takes memory for that of the device that opens it";
  DeviceBuffer shared(1000);
  hipIpcMemHandle_t handle = {};
  HIP_OK(hipIpcGetMemHandle(&handle, shared.get()));
  hipUUID uuid = {};
  HIP_OK(hipDeviceGetUuid(&uuid, 0));
  hipIpcMemHandle_t wanted = {};
  std::memcpy(wanted.reserved, uuid.bytes, sizeof uuid.bytes);
  ASSERT_EQ(::setenv("HIP_VISIBLE_DEVICES", "1,0", 1), 0);
  const pid_t partner =
      start_partner("device", hex(handle) + hex(wanted), -1, "IpcDevicesPartner.DISABLED_Run");
  ::unsetenv("HIP_VISIBLE_DEVICES");
  EXPECT_EQ(exit_code(partner), 0);
}

constexpr int kSharedInts = 1000;

void increment_on(int device, int* data) {
  HIP_OK(hipSetDevice(device));
  LoadedModule module;
  int n = kSharedInts;
  void* arguments[] = {&data, &n};
  HIP_OK(hipModuleLaunchKernel(module.function("increment"), (kSharedInts + 127) / 128, 1, 1, 128, 1, 1, 0,
                               nullptr, arguments, nullptr));
  HIP_OK(hipDeviceSynchronize());
}

// Opens the first device's memory while the second one is current, as ranks of a job do.
TEST(IpcDevicesUser, DISABLED_Run) {
  const char* const handle = std::getenv("HIP_TEST_HANDLE");
  if (handle == nullptr) GTEST_SKIP() << "only as somebody's partner";
  HIP_OK(hipSetDevice(1));
  void* shared = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&shared, from_hex(handle), hipIpcMemLazyEnablePeerAccess));
  increment_on(1, static_cast<int*>(shared));
  HIP_OK(hipIpcCloseMemHandle(shared));
}

// Fine-grained memory is the device's, and not host memory (TF_FINE_GRAINED).
bool is_fine_grained_the_devices() {
  hipDeviceProp_t properties = {};
  EXPECT_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
  const char* const told = std::getenv("TF_FINE_GRAINED");
  return properties.isLargeBar != 0 || is_nvidia() || (told != nullptr && std::string(told) == "device");
}

// Of both kinds: fine-grained memory has a way of its own.
TEST(IpcDevices, KernelsOfAnotherDeviceUseTheMemory) {
  int reached = 0;
  if (device_count() < 2 || hipDeviceCanAccessPeer(&reached, 1, 0) != hipSuccess || reached == 0)
    GTEST_SKIP() << "no device that reaches another one's memory";
  for (const unsigned flags : {unsigned{hipDeviceMallocDefault}, unsigned{hipDeviceMallocFinegrained}}) {
    if (flags != hipDeviceMallocDefault && !is_fine_grained_the_devices()) continue;
    SCOPED_TRACE(flags);
    void* memory = nullptr;
    HIP_OK(hipExtMallocWithFlags(&memory, kSharedInts * sizeof(int), flags));
    HIP_OK(hipMemset(memory, 0, kSharedInts * sizeof(int)));
    hipIpcMemHandle_t handle = {};
    HIP_OK(hipIpcGetMemHandle(&handle, memory));
    EXPECT_EQ(exit_code(start_partner("user", hex(handle), -1, "IpcDevicesUser.DISABLED_Run")), 0);
    EXPECT_EQ(read_ints(memory, kSharedInts), std::vector<int>(kSharedInts, 1));
    HIP_OK(hipFree(memory));
  }
}

}  // namespace
}  // namespace tf::api_test
