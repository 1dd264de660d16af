// SPDX-License-Identifier: Apache-2.0
// The handle of fine-grained memory: there is one, even where no other process can open it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/api/hip_test.h"
#include "tests/api/module_fixture.h"
#include "tests/api/partner.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kFineBytes = 1 << 20;
constexpr std::uint32_t kOwners = 0x11111111;
constexpr std::uint32_t kPartners = 0x22222222;

// Where the exporter's memory is host memory (limits.md), a partner is told that it cannot be opened.
bool is_asked_to_be_the_devices() {
  const char* const told = std::getenv("TF_FINE_GRAINED");
  return told != nullptr && std::strcmp(told, "device") == 0;
}

TEST(IpcFineGrainedPartner, DISABLED_Run) {
  const char* const handle = std::getenv("HIP_TEST_HANDLE");
  if (handle == nullptr) GTEST_SKIP() << "only as somebody's partner";
  void* shared = nullptr;
  const hipError_t opened = hipIpcOpenMemHandle(&shared, from_hex(handle), hipIpcMemLazyEnablePeerAccess);
  if (opened == hipErrorNotSupported && is_remote() && !is_asked_to_be_the_devices()) return;
  HIP_OK(opened);
  std::uint32_t seen = 0;
  HIP_OK(hipMemcpy(&seen, shared, sizeof seen, hipMemcpyDeviceToHost));
  EXPECT_EQ(seen, kOwners);
  HIP_OK(hipMemcpy(shared, &kPartners, sizeof kPartners, hipMemcpyHostToDevice));
  HIP_OK(hipDeviceSynchronize());
  void* again = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&again, from_hex(handle), hipIpcMemLazyEnablePeerAccess)) << "twice is fine";
  HIP_OK(hipIpcCloseMemHandle(shared));
  HIP_OK(hipMemcpy(&seen, again, sizeof seen, hipMemcpyDeviceToHost));
  EXPECT_EQ(seen, kPartners);
  HIP_OK(hipIpcCloseMemHandle(again));
  EXPECT_EQ(hipMemset(again, 0, 1), hipErrorInvalidValue) << "closed";
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
  if (is_asked_to_be_the_devices())
    EXPECT_EQ(seen, kPartners);
  else
    EXPECT_TRUE(seen == kPartners || (is_remote() && seen == kOwners)) << seen;
  HIP_OK(hipFree(memory));
  EXPECT_EQ(hipIpcGetMemHandle(&handle, memory), hipErrorInvalidDevicePointer) << "it is gone";
}

// Kernels, copies and fills use it as any memory of a device; many at once are apart from each other.
TEST(IpcFineGrained, MemoryIsTheDevices) {
  constexpr int kBlocks = 20;
  constexpr std::size_t kInts = 1000;
  LoadedModule module;
  std::vector<int*> blocks;
  for (int block = 0; block < kBlocks; ++block) {
    void* memory = nullptr;
    HIP_OK(hipExtMallocWithFlags(&memory, kInts * sizeof(int), hipDeviceMallocFinegrained));
    hipPointerAttribute_t attributes{};
    HIP_OK(hipPointerGetAttributes(&attributes, memory));
    EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
    EXPECT_EQ(attributes.device, 0);
    HIP_OK(hipMemsetAsync(memory, block, kInts * sizeof(int), nullptr));
    blocks.push_back(static_cast<int*>(memory));
  }
  for (int* data : blocks) {
    int n = kInts;
    void* arguments[] = {&data, &n};
    HIP_OK(hipModuleLaunchKernel(module.function("increment"), (kInts + 127) / 128, 1, 1, 128, 1, 1, 0,
                                 nullptr, arguments, nullptr));
  }
  for (int block = 0; block < kBlocks; ++block) {
    std::vector<int> seen(kInts);
    HIP_OK(hipMemcpy(seen.data(), blocks[static_cast<std::size_t>(block)], kInts * sizeof(int),
                     hipMemcpyDefault));
    EXPECT_EQ(seen, std::vector<int>(kInts, block * 0x01010101 + 1));
    HIP_OK(hipFree(blocks[static_cast<std::size_t>(block)]));
    EXPECT_EQ(hipMemset(blocks[static_cast<std::size_t>(block)], 0, 1), hipErrorInvalidValue) << "it is gone";
  }
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
