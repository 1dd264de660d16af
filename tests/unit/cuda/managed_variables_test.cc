// SPDX-License-Identifier: Apache-2.0
// Managed variables on a driver that only remembers.
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "tests/unit/cuda/fixture.h"

extern "C" {
void** __hipRegisterFatBinary(const void* data);
void __hipUnregisterFatBinary(void** handle);
void __hipRegisterManagedVar(void* handle, void** pointer, void* initial, const char* name, std::size_t bytes,
                             unsigned alignment);
}

namespace tf::fake_cuda {
namespace {

class CudaManagedVariables : public CudaRuntime {
 protected:
  CudaManagedVariables() {
    program_ = __hipRegisterFatBinary(&wrapper_);
    __hipRegisterManagedVar(program_, &pointer_, &initial_, "counter", sizeof initial_, alignof(int));
  }
  ~CudaManagedVariables() override {
    if (program_ != nullptr) __hipUnregisterFatBinary(program_);
  }

  struct {
    std::uint32_t magic = 0x48495046, version = 1;
    const void* image = ".version 8.0 // managed";
    const void* unused = nullptr;
  } wrapper_;
  void** program_ = nullptr;
  int initial_ = 42;
  void* pointer_ = nullptr;
};

TEST_F(CudaManagedVariables, AreManagedMemoryWithTheFirstValue) {
  EXPECT_EQ(calls("MemAllocManaged"), 1);
  ASSERT_EQ(pointer_, driver_->managed_memory);
  EXPECT_EQ(*static_cast<int*>(pointer_), 42);
}

TEST_F(CudaManagedVariables, AreNotTheProgramsToFree) {
  EXPECT_EQ(hipFree(pointer_), hipErrorInvalidValue);
  EXPECT_EQ(hipHostFree(pointer_), hipErrorInvalidValue);
  EXPECT_EQ(calls("MemFree"), 0);
  EXPECT_EQ(calls("MemFreeHost"), 0);
}

TEST_F(CudaManagedVariables, LeaveTheirLastValueWhenTheirProgramGoes) {
  *static_cast<int*>(pointer_) = 43;
  __hipUnregisterFatBinary(program_);
  program_ = nullptr;
  EXPECT_EQ(pointer_, &initial_);
  EXPECT_EQ(initial_, 43);
  EXPECT_EQ(calls("MemFree"), 1);
}

}  // namespace
}  // namespace tf::fake_cuda
