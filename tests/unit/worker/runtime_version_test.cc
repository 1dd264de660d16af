// SPDX-License-Identifier: Apache-2.0
#include "worker/base/runtime_version.h"

#include <gtest/gtest.h>

namespace tf::worker {
namespace {

template <int kVersion>
protocol::HipTable runtime_of() {
  protocol::HipTable hip;
  hip.hipRuntimeGetVersion = [](int* version) {
    *version = kVersion;
    return kVersion != 0 ? hipSuccess : hipErrorNotSupported;
  };
  return hip;
}

TEST(RuntimeVersion, TellsWhatHipIpcOpenMemHandleTakes) {
  EXPECT_EQ(ipc_open_flags(runtime_of<50'221'153>()), 0U);  // Debian 12
  EXPECT_EQ(ipc_open_flags(runtime_of<50'731'921>()), 0U);  // 5.7.1
  EXPECT_EQ(ipc_open_flags(runtime_of<60'000'000>()), 1U);
  EXPECT_EQ(ipc_open_flags(runtime_of<60'443'484>()), 1U);  // sid
  EXPECT_EQ(ipc_open_flags(runtime_of<0>()), 0U) << "it does not say";
}

constexpr int kDescriptor = 42;

hipError_t import_what_is_pointed_to(hipMemGenericAllocationHandle_t*, void* handle,
                                     hipMemAllocationHandleType) {
  return *static_cast<int*>(handle) == kDescriptor ? hipSuccess : hipErrorInvalidValue;
}
hipError_t import_number(hipMemGenericAllocationHandle_t*, void* handle, hipMemAllocationHandleType) {
  return handle == reinterpret_cast<void*>(std::intptr_t{kDescriptor}) ? hipSuccess : hipErrorInvalidValue;
}

TEST(RuntimeVersion, TellsHowADescriptorIsImported) {
  hipMemGenericAllocationHandle_t memory{};
  protocol::HipTable hip = runtime_of<60'443'484>();
  hip.hipMemImportFromShareableHandle = import_what_is_pointed_to;
  EXPECT_EQ(import_physical(hip, kDescriptor, memory), hipSuccess);
  EXPECT_EQ(import_physical(hip, kDescriptor + 1, memory), hipErrorInvalidValue);
  hip = runtime_of<70'253'211>();
  hip.hipMemImportFromShareableHandle = import_number;
  EXPECT_EQ(import_physical(hip, kDescriptor, memory), hipSuccess);
  EXPECT_EQ(import_physical(hip, kDescriptor + 1, memory), hipErrorInvalidValue);
  hip.hipMemImportFromShareableHandle = import_what_is_pointed_to;
  EXPECT_EQ(import_physical(hip, kDescriptor, memory), hipSuccess);
}

}  // namespace
}  // namespace tf::worker
