// SPDX-License-Identifier: Apache-2.0
// The handle of fine-grained memory: there is one, even where no other process can open it.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/api/hip_test.h"
#include "tests/api/partner.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kFineBytes = 1 << 20;
constexpr std::uint32_t kOwners = 0x11111111;
constexpr std::uint32_t kPartners = 0x22222222;

// Where the exporter's memory is host memory (limits.md), a partner is told that it cannot be opened.
TEST(IpcFineGrainedPartner, DISABLED_Run) {
  const char* const handle = std::getenv("HIP_TEST_HANDLE");
  if (handle == nullptr) GTEST_SKIP() << "only as somebody's partner";
  void* shared = nullptr;
  const hipError_t opened = hipIpcOpenMemHandle(&shared, from_hex(handle), hipIpcMemLazyEnablePeerAccess);
  if (opened == hipErrorNotSupported && is_remote()) return;
  HIP_OK(opened);
  std::uint32_t seen = 0;
  HIP_OK(hipMemcpy(&seen, shared, sizeof seen, hipMemcpyDeviceToHost));
  EXPECT_EQ(seen, kOwners);
  HIP_OK(hipMemcpy(shared, &kPartners, sizeof kPartners, hipMemcpyHostToDevice));
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipIpcCloseMemHandle(shared));
}

TEST(IpcFineGrained, MemoryHasAHandle) {
  void* memory = nullptr;
  HIP_OK(hipExtMallocWithFlags(&memory, kFineBytes, hipDeviceMallocFinegrained));
  HIP_OK(hipMemcpy(memory, &kOwners, sizeof kOwners, hipMemcpyHostToDevice));
  hipIpcMemHandle_t handle = {};
  HIP_OK(hipIpcGetMemHandle(&handle, memory));
  hipIpcMemHandle_t again = {};
  HIP_OK(hipIpcGetMemHandle(&again, memory));
  void* own = nullptr;
  EXPECT_EQ(hipIpcOpenMemHandle(&own, handle, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidContext);
  EXPECT_EQ(exit_code(start_partner("fine", hex(handle), -1, "IpcFineGrainedPartner.DISABLED_Run")), 0);
  std::uint32_t seen = 0;
  HIP_OK(hipMemcpy(&seen, memory, sizeof seen, hipMemcpyDeviceToHost));
  EXPECT_TRUE(seen == kPartners || (is_remote() && seen == kOwners)) << seen;
  HIP_OK(hipFree(memory));
  EXPECT_EQ(hipIpcGetMemHandle(&handle, memory), hipErrorInvalidDevicePointer) << "it is gone";
}

TEST(IpcFineGrained, OtherHostMemoryHasNone) {
  PinnedBuffer pinned(4096);
  hipIpcMemHandle_t handle = {};
  EXPECT_EQ(hipIpcGetMemHandle(&handle, pinned.as<void>()), hipErrorInvalidDevicePointer);
  void* managed = nullptr;
  HIP_OK(hipMallocManaged(&managed, 4096, hipMemAttachGlobal));
  EXPECT_EQ(hipIpcGetMemHandle(&handle, managed), hipErrorInvalidDevicePointer);
  HIP_OK(hipFree(managed));
}

}  // namespace
}  // namespace tf::api_test
