// SPDX-License-Identifier: Apache-2.0
// Synchronous calls whose work the driver has not done when they return, on a driver that only remembers.
#include "tests/unit/cuda/fixture.h"

namespace tf::fake_cuda {
namespace {

class CudaLateWork : public CudaRuntime {
 protected:
  CudaLateWork() { driver_->failures["EventQuery"] = cuda::driver::Result::NOT_READY; }
  ~CudaLateWork() override {
    driver_->failures.clear();
    static_cast<void>(hipStreamQuery(stream_));  // finds it done
  }
  // How many waits for events a call on the stream adds.
  int waits_of(hipStream_t stream) {
    const int before = calls("StreamWaitEvent");
    EXPECT_EQ(hipMemsetAsync(at(0x4000), 1, 16, stream), hipSuccess);
    return calls("StreamWaitEvent") - before;
  }
};

TEST_F(CudaLateWork, IsWaitedForByOtherStreams) {
  EXPECT_EQ(waits_of(stream_), 0);
  EXPECT_EQ(hipMemset(at(0x4000), 1, 16), hipSuccess);
  EXPECT_EQ(calls("EventRecord"), 1);
  EXPECT_EQ(waits_of(stream_), 1);
  EXPECT_EQ(waits_of(nullptr), 0) << "it is this stream's";
  EXPECT_EQ(hipSetDevice(1), hipSuccess);
  EXPECT_EQ(waits_of(nullptr), 1) << "it is another device's";
  EXPECT_EQ(hipSetDevice(0), hipSuccess);
  driver_->failures.clear();
  EXPECT_EQ(waits_of(stream_), 0) << "it is done";
  const int queries = calls("EventQuery");
  EXPECT_EQ(waits_of(stream_), 0);
  EXPECT_EQ(calls("EventQuery"), queries) << "and nobody asks again";
}

TEST_F(CudaLateWork, OfEveryForm) {
  const std::vector<hipError_t (*)()> forms = {
      [] { return hipMemset(at(0x4000), 1, 16); },
      [] { return hipMemsetD16(at(0x4000), 1, 8); },
      [] { return hipMemsetD32(at(0x4000), 1, 4); },
      [] { return hipMemset2D(at(0x4000), 16, 1, 8, 2); },
      [] { return hipMemcpy(at(0x4000), at(0x4400), 16, hipMemcpyDeviceToDevice); },
      [] { return hipMemcpy2D(at(0x4000), 16, at(0x4400), 16, 8, 2, hipMemcpyDeviceToDevice); },
      [] { return hipMemcpyPeer(at(0x4000), 0, at(0x4400), 1, 16); },
  };
  for (const auto form : forms) {
    const int before = calls("EventRecord");
    EXPECT_EQ(form(), hipSuccess) << &form - forms.data();
    EXPECT_EQ(calls("EventRecord"), before + 1) << &form - forms.data();
  }
}

TEST_F(CudaLateWork, GoesWithTheContext) {
  EXPECT_EQ(hipMemset(at(0x4000), 1, 16), hipSuccess);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  hipStream_t fresh = nullptr;
  ASSERT_EQ(hipStreamCreate(&fresh), hipSuccess);
  EXPECT_EQ(waits_of(fresh), 0);
  const int made = calls("EventCreate");
  EXPECT_EQ(hipMemset(at(0x4000), 1, 16), hipSuccess);
  EXPECT_EQ(calls("EventCreate"), made + 1);
  EXPECT_EQ(waits_of(fresh), 1);
  EXPECT_EQ(hipStreamDestroy(fresh), hipSuccess);
}

// The driver (580) crashes if it has to destroy a pool that has memory, and a pool is made afterwards.
TEST_F(CudaRuntime, APoolIsDestroyedWhenItsMemoryIsFreed) {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hipMemPoolCreate(&pool, &properties), hipSuccess);
  driver_->pool_bytes = 16;
  EXPECT_EQ(hipMemPoolDestroy(pool), hipSuccess);
  EXPECT_EQ(calls("MemPoolDestroy"), 0);
  EXPECT_EQ(hipMemPoolDestroy(pool), hipErrorInvalidValue) << "it is gone for the program";
  driver_->pool_bytes = 0;
  ASSERT_EQ(hipMemPoolCreate(&pool, &properties), hipSuccess);
  EXPECT_EQ(calls("MemPoolDestroy"), 1) << "before another is made";
  EXPECT_EQ(hipMemPoolDestroy(pool), hipSuccess);
  EXPECT_EQ(calls("MemPoolDestroy"), 2);
  ASSERT_EQ(hipDeviceGetDefaultMemPool(&pool, 0), hipSuccess);
  EXPECT_EQ(hipMemPoolDestroy(pool), hipErrorInvalidValue);
}

TEST_F(CudaRuntime, APoolThatIsNotThereIsRefused) {
  void* pointer = nullptr;
  EXPECT_EQ(hipMallocFromPoolAsync(&pointer, 16, static_cast<hipMemPool_t>(at(1)), stream_),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolDestroy(static_cast<hipMemPool_t>(at(1))), hipErrorInvalidValue);
  EXPECT_EQ(driver_->calls, (std::map<std::string, int>{}));
}

}  // namespace
}  // namespace tf::fake_cuda
