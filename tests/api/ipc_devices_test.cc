// SPDX-License-Identifier: Apache-2.0
// Which device shared memory belongs to, in the process that opens it.
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/api/hip_test.h"
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

}  // namespace
}  // namespace tf::api_test
