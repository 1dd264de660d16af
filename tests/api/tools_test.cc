// SPDX-License-Identifier: Apache-2.0
// What tools and other APIs ask of HIP: names by number, tracers, OpenGL. What no remote device can do is
// refused.
#include <cmath>
#include <string>

#include "tests/api/hip_test.h"
// After the types that it uses.
#include <hip/amd_detail/hip_prof_str.h>

extern "C" {
const char* hipGetCmdName(unsigned op);
const char* amd_dbgapi_get_build_name();
const char* amd_dbgapi_get_git_hash();
void __hipGetPCH(const char** header, unsigned* bytes);
float __gnu_h2f_ieee(unsigned short half);
unsigned short __gnu_f2h_ieee(float value);
bool hipEnableActivityCallback(unsigned op, bool enable);
hipError_t hipRegisterActivityCallback(uint32_t id, void* function, void* argument);
hipError_t hipRemoveActivityCallback(uint32_t id);
hipError_t hipRegisterApiCallback(uint32_t id, void* function, void* argument);
hipError_t hipRemoveApiCallback(uint32_t id);
}

namespace tf::api_test {
namespace {

TEST(Tools, NamesByNumber) {
  EXPECT_EQ(std::string(hipApiName(HIP_API_ID_hipMalloc)), "hipMalloc");
  EXPECT_EQ(std::string(hipApiName(HIP_API_ID___hipPopCallConfiguration)), "__hipPopCallConfiguration");
  EXPECT_EQ(std::string(hipApiName(123456)), "unknown");
  EXPECT_EQ(std::string(hipGetCmdName(0)), "InternalMarker");
  EXPECT_EQ(std::string(hipGetCmdName(0x11f0)), "KernelExecution");  // CL_COMMAND_NDRANGE_KERNEL
  EXPECT_EQ(std::string(hipGetCmdName(0x11fe)), "Marker");           // CL_COMMAND_MARKER
  EXPECT_EQ(std::string(hipGetCmdName(0x1203)), "CopyDeviceToDevice2D");
  EXPECT_EQ(std::string(hipGetCmdName(0x120d)), "SvmUnmap");
  EXPECT_EQ(std::string(hipGetCmdName(0x4502)), "StreamWrite");
  for (const unsigned none : {1u, 0x11efu, 0x120eu, 0x4500u, ~0u})
    EXPECT_EQ(std::string(hipGetCmdName(none)), "Unknown command kind") << none;
}

TEST(Tools, NoPrecompiledHeader) {
  const char* header = "";
  unsigned bytes = 1;
  __hipGetPCH(&header, &bytes);
  EXPECT_EQ(header, nullptr);
  EXPECT_EQ(bytes, 0u);
  __hipGetPCH(nullptr, nullptr);
  EXPECT_NE(amd_dbgapi_get_build_name(), nullptr);
  EXPECT_NE(amd_dbgapi_get_git_hash(), nullptr);
}

TEST(Tools, TracersAreRefused) {
  EXPECT_EQ(hipRegisterApiCallback(1, nullptr, nullptr), hipErrorNotSupported);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorNotSupported);
  EXPECT_EQ(hipRemoveApiCallback(1), hipErrorNotSupported);
  EXPECT_EQ(hipRegisterActivityCallback(1, nullptr, nullptr), hipErrorNotSupported);
  EXPECT_EQ(hipRemoveActivityCallback(1), hipErrorNotSupported);
}

TEST(Tools, OpenGlIsRefused) {
  unsigned count = 7;
  int device = 7;
  hipGraphicsResource* resource = nullptr;
  EXPECT_EQ(hipGLGetDevices(&count, &device, 1, hipGLDeviceListAll), hipErrorNotSupported);
  EXPECT_EQ(hipGraphicsGLRegisterBuffer(&resource, 1, 0), hipErrorNotSupported);
  EXPECT_EQ(hipGraphicsGLRegisterImage(&resource, 1, 1, 0), hipErrorNotSupported);
  EXPECT_EQ(hipGraphicsMapResources(1, &resource, nullptr), hipErrorNotSupported);
  EXPECT_EQ(hipGraphicsUnmapResources(1, &resource, nullptr), hipErrorNotSupported);
  EXPECT_EQ(hipGraphicsUnregisterResource(resource), hipErrorNotSupported);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorNotSupported);
  EXPECT_EQ(count, 7u);
  EXPECT_EQ(device, 7);
}

TEST(Tools, EveryHalfSurvivesTheWayThroughFloat) {
  for (unsigned half = 0; half < 0x10000; ++half) {
    float wide = __gnu_h2f_ieee(static_cast<unsigned short>(half));
    unsigned back = __gnu_f2h_ieee(wide);
    if (std::isnan(wide))
      EXPECT_EQ(back & 0x7c00, 0x7c00u);
    else
      ASSERT_EQ(back, half);
  }
  EXPECT_EQ(__gnu_f2h_ieee(65519.0f), 0x7bff);
  EXPECT_EQ(__gnu_f2h_ieee(65520.0f), 0x7c00);
  EXPECT_EQ(__gnu_f2h_ieee(1.0f + 0x1p-11f), 0x3c00) << "ties to even";
  EXPECT_EQ(__gnu_f2h_ieee(1.0f + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(__gnu_f2h_ieee(0x1p-25f), 0);
  EXPECT_EQ(__gnu_f2h_ieee(0x1.8p-25f), 1);
}

}  // namespace
}  // namespace tf::api_test
