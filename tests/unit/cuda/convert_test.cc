// SPDX-License-Identifier: Apache-2.0
// HIP's parameters in the driver's words.
#include "worker/runtime/cuda/convert.h"

#include <gtest/gtest.h>

#include <cstring>

#include "hipcore/errors/error_text.h"
#include "worker/runtime/cuda/result.h"

namespace tf::cuda {
namespace {

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

TEST(CudaResult, EveryNumberHasAnErrorThatHipKnows) {
  struct Row {
    driver::Result result;
    hipError_t hip;
  };
  constexpr Row kRows[] = {
#define TF_CUDA_RESULT(name, number, hip) {driver::Result::name, hip},
#include "worker/runtime/cuda/results.inc"
#undef TF_CUDA_RESULT
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(hip_error(row.result), row.hip);
    EXPECT_EQ(hipdata::error_text(row.hip).code, row.hip) << static_cast<int>(row.result);
    EXPECT_EQ(row.hip == hipSuccess, row.result == driver::Result::SUCCESS);
  }
  EXPECT_EQ(hip_error(static_cast<driver::Result>(12345)), hipErrorUnknown);
  EXPECT_EQ(hip_error(driver::Result::ILLEGAL_ADDRESS), hipErrorIllegalAddress);
  EXPECT_EQ(hip_error(driver::Result::LAUNCH_FAILED), hipErrorLaunchFailure);
}

TEST(CudaConvert, RowsKeepPitchesAndAreUnified) {
  graph::CopyWork work;
  work.target = {graph::address_of(at(0x1000)), 64, 192};
  work.source = {graph::address_of(at(0x2000)), 32, 96};
  work.width = 16;
  work.height = 3;
  const driver::Copy2D copy = convert_rows(work);
  EXPECT_EQ(copy.target_type, driver::kMemoryUnified);
  EXPECT_EQ(copy.source_type, driver::kMemoryUnified);
  EXPECT_EQ(copy.target_device, at(0x1000));
  EXPECT_EQ(copy.source_device, at(0x2000));
  EXPECT_EQ(copy.target_pitch, 64u);
  EXPECT_EQ(copy.source_pitch, 32u);
  EXPECT_EQ(copy.width_bytes, 16u);
  EXPECT_EQ(copy.height, 3u);
}

TEST(CudaConvert, SlicesOfBoxesAreWholeRowsApart) {
  graph::CopyWork work;
  work.target = {graph::address_of(at(0x9000)), 256, 5120};
  work.source = {graph::address_of(at(0x1000)), 128, 1280};
  work.width = 32;
  work.height = 4;
  work.depth = 2;
  driver::Copy3D copy;
  ASSERT_EQ(convert_copy(copy, work), hipSuccess);
  EXPECT_EQ(copy.source_device, work.source.memory());
  EXPECT_EQ(copy.source_height, 10u);
  EXPECT_EQ(copy.target_height, 20u);
  EXPECT_EQ(copy.width_bytes, 32u);
  EXPECT_EQ(copy.depth, 2u);
  work.target.slice += 1;
  EXPECT_EQ(convert_copy(copy, work), hipErrorInvalidValue);
}

TEST(CudaConvert, LaunchExtraHasTheDriversEnd) {
  int block[2] = {1, 2};
  std::size_t bytes = sizeof block;
  void* hip[] = {HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_BUFFER_POINTER, block,
                 HIP_LAUNCH_PARAM_END};
  LaunchExtra extra;
  ASSERT_EQ(extra.read(hip), hipSuccess);
  void** list = extra.get();
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list[0], at(driver::kLaunchBufferPointer));
  EXPECT_EQ(list[1], block);
  EXPECT_EQ(list[2], at(driver::kLaunchBufferSize));
  EXPECT_EQ(list[3], &bytes);
  EXPECT_EQ(list[4], nullptr);
  bytes = 0;
  ASSERT_EQ(extra.read(hip), hipSuccess);
  EXPECT_EQ(extra.get(), nullptr);
  void* wrong[] = {at(9), block, HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(extra.read(wrong), hipErrorInvalidValue);
  EXPECT_EQ(extra.read(nullptr), hipSuccess);
  EXPECT_EQ(extra.get(), nullptr);
}

TEST(CudaConvert, OnlyAndTakesAMask) {
  std::uint64_t value = 0xff;
  EXPECT_EQ(mask_wait_value(value, hipStreamWaitValueGte, 0xffffffff, 0xffffffff), hipSuccess);
  EXPECT_EQ(value, 0xffu);
  EXPECT_EQ(mask_wait_value(value, hipStreamWaitValueEq, 0xf, 0xffffffff), hipErrorNotSupported);
  EXPECT_EQ(mask_wait_value(value, hipStreamWaitValueAnd, 0xf, 0xffffffff), hipSuccess);
  EXPECT_EQ(value, 0xfu);
  EXPECT_EQ(mask_wait_value(value, 7, ~0ull, ~0ull), hipErrorInvalidValue);
}

TEST(CudaConvert, PropertiesOfPhysicalMemoryThereAndBack) {
  hipMemAllocationProp p{};
  p.type = hipMemAllocationTypePinned;
  p.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  p.location = {hipMemLocationTypeDevice, 3};
  const driver::AllocationProperties to = convert(p);
  EXPECT_EQ(to.location.id, 3);
  EXPECT_EQ(to.handle_types, hipMemHandleTypePosixFileDescriptor);
  const hipMemAllocationProp back = convert_back(to);
  EXPECT_EQ(back.type, p.type);
  EXPECT_EQ(back.location.id, 3);
}

TEST(CudaConvert, APoolHasALimitSinceHip6) {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  const std::uint64_t limit = 1 << 20;
  std::memcpy(reinterpret_cast<std::byte*>(&properties) + 24, &limit, sizeof limit);
  EXPECT_EQ(convert(properties, 5).size_max, 0u);
  EXPECT_EQ(convert(properties, 6).size_max, limit);
  EXPECT_EQ(convert(properties, 7).size_max, limit);
}

TEST(CudaConvert, FillsOfNodesCountElements) {
  graph::FillWork work;
  work.target = static_cast<std::byte*>(at(0x100));
  work.element_bytes = 4;
  work.width = 64;
  work.height = 3;
  work.pitch = 128;
  const driver::FillNode node = convert_fill(work);
  EXPECT_EQ(node.target, at(0x100));
  EXPECT_EQ(node.width, 16u);
  EXPECT_EQ(node.height, 3u);
  EXPECT_EQ(node.pitch, 128u);
}

}  // namespace
}  // namespace tf::cuda
