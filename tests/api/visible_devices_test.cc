// SPDX-License-Identifier: Apache-2.0
// Which devices the variables of AMD's runtimes leave a program, natively and remotely.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "hipcore/devices/visible_devices.h"
#include "tests/api/hip_test.h"
#include "tests/api/partner.h"

namespace tf::api_test {
namespace {

// Counts the devices; 'n' stands for none.
TEST(VisibleDevicesPartner, DISABLED_Run) {
  const char* const wanted = std::getenv("HIP_TEST_HANDLE");
  if (wanted == nullptr) GTEST_SKIP() << "only as somebody's partner";
  int count = -1;
  const hipError_t error = hipGetDeviceCount(&count);
  if (std::string(wanted) == "n") {
    EXPECT_EQ(error, hipErrorNoDevice);
    EXPECT_EQ(hipSetDevice(0), hipErrorNoDevice);
  } else {
    EXPECT_EQ(error, hipSuccess);
    EXPECT_EQ(std::to_string(count), wanted);
  }
}

class VisibleDevices : public ::testing::TestWithParam<const char*> {};

int partners_exit(const char* variable, const std::string& list, const std::string& wanted) {
  EXPECT_EQ(::setenv(variable, list.c_str(), 1), 0);
  const pid_t partner = start_partner("devices", wanted, -1, "VisibleDevicesPartner.DISABLED_Run");
  ::unsetenv(variable);
  return exit_code(partner);
}

TEST_P(VisibleDevices, AreThoseOfTheList) {
  if (is_nvidia() && !is_remote()) GTEST_SKIP() << "NVIDIA's driver reads its own variable only";
  hipUUID uuid = {};
  HIP_OK(hipDeviceGetUuid(&uuid, 0));
  std::array<std::uint8_t, sizeof uuid.bytes> bytes;
  std::memcpy(bytes.data(), uuid.bytes, bytes.size());
  EXPECT_EQ(partners_exit(GetParam(), "0", "1"), 0);
  EXPECT_EQ(partners_exit(GetParam(), "-1", "n"), 0);
  EXPECT_EQ(partners_exit(GetParam(), std::to_string(device_count()), "n"), 0);
  if (std::string(GetParam()) == "ROCR_VISIBLE_DEVICES") return;  // that one takes 20 characters of a UUID
  EXPECT_EQ(partners_exit(GetParam(), hipcore::uuid_text(bytes), "1"), 0);
}

INSTANTIATE_TEST_SUITE_P(Lists, VisibleDevices,
                         ::testing::Values("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                           "CUDA_VISIBLE_DEVICES"));

}  // namespace
}  // namespace tf::api_test
