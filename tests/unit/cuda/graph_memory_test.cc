// SPDX-License-Identifier: Apache-2.0
// What graphs hold: their memory, which the driver allocates with the node, and user objects, which outlive
// launches. On a driver that only remembers.
#include <algorithm>
#include <thread>

#include "hipcore/newer/hip_types.h"
#include "tests/api/newer_graphs.h"
#include "tests/unit/cuda/fixture.h"

namespace tf::fake_cuda {
namespace {

TEST_F(CudaRuntime, AGraphsMemoryIsOfTheDeviceThatItsNodeNames) {
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipMemAllocNodeParams wish{};
  wish.poolProps.allocType = hipMemAllocationTypePinned;
  wish.poolProps.location = {hipMemLocationTypeDevice, 1};
  wish.bytesize = 64;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &wish), hipSuccess);
  EXPECT_EQ(wish.dptr, at(State::kAllocation));
  EXPECT_NE(driver_->allocated_in, nullptr);
  EXPECT_NE(driver_->allocated_in, driver_->current);  // the thread's own is current again
  ASSERT_EQ(hipGraphAddMemFreeNode(&node, graph, &node, 1, wish.dptr), hipSuccess);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(driver_->nodes.size(), 2u);
  EXPECT_EQ(driver_->nodes[0].name, "GraphAddEmptyNode");
  EXPECT_EQ(driver_->nodes[1].name, "GraphAddEmptyNode");
  EXPECT_EQ(driver_->nodes[1].before, std::vector<int>{1});
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(calls("MemFree"), 0);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(calls("MemFree"), 1);
}

class UserObjects : public CudaRuntime {
 protected:
  // Launched once on a stream.
  hipGraphExec_t launched(hipStream_t stream) {
    hipUserObject_t object = nullptr;
    const auto end = [](void* count) { ++*static_cast<int*>(count); };
    EXPECT_EQ(hipUserObjectCreate(&object, &ended_, end, 1, hipUserObjectNoDestructorSync), hipSuccess);
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
    EXPECT_EQ(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove), hipSuccess);
    hipGraphExec_t exec = nullptr;
    EXPECT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
    EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
    EXPECT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
    return exec;
  }

  // As the driver makes them.
  static hipCtx_t context_of(int device) {
    return static_cast<hipCtx_t>(at(0x1000U + static_cast<unsigned>(device)));
  }
  bool waited_for(int device) {
    const auto& all = driver_->synchronized;
    return std::find(all.begin(), all.end(), context_of(device)) != all.end();
  }

  int ended_ = 0;
};

TEST_F(UserObjects, EndBehindTheLastLaunch) {
  const hipGraphExec_t exec = launched(stream_);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  ASSERT_EQ(driver_->host_calls.size(), 1u);
  EXPECT_EQ(ended_, 0);
  driver_->host_calls[0].function(driver_->host_calls[0].data);
  EXPECT_EQ(ended_, 1);
}

TEST_F(UserObjects, EndWhenTheDeviceIsIdleIfTheStreamIsGone) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  const hipGraphExec_t exec = launched(stream);
  ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(calls("LaunchHostFunc"), 0);
  EXPECT_TRUE(waited_for(0));
  EXPECT_EQ(ended_, 1);
}

// The null stream is another one on each device.
TEST_F(UserObjects, EndBehindALaunchOnTheNullStreamOfItsDevice) {
  const hipGraphExec_t exec = launched(nullptr);
  ASSERT_EQ(hipSetDevice(1), hipSuccess);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  ASSERT_EQ(driver_->host_calls.size(), 1u);
  EXPECT_EQ(driver_->host_calls[0].stream, nullptr);
  EXPECT_EQ(driver_->host_calls[0].context, context_of(0));
  EXPECT_EQ(driver_->current, context_of(1));
  EXPECT_EQ(ended_, 0);
  driver_->host_calls[0].function(driver_->host_calls[0].data);
  EXPECT_EQ(ended_, 1);
}

TEST_F(UserObjects, EndWhenAllDevicesAreIdleIfTheStreamIsGoneAndWasAnothersDevice) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipSetDevice(1), hipSuccess);
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  const hipGraphExec_t exec = launched(stream);
  ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_TRUE(waited_for(1));
  EXPECT_EQ(driver_->current, context_of(0));
  EXPECT_EQ(ended_, 1);
}

// Its name means another stream in another thread.
TEST_F(UserObjects, EndWhenTheDeviceIsIdleIfTheStreamWasAThreadsOwn) {
  hipGraphExec_t exec = nullptr;
  std::thread([&] { exec = launched(hipStreamPerThread); }).join();
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(calls("LaunchHostFunc"), 0);
  EXPECT_TRUE(waited_for(0));
  EXPECT_EQ(ended_, 1);
}

TEST_F(UserObjects, EndBehindTheLaunchThatWasDone) {
  const hipGraphExec_t exec = launched(stream_);
  driver_->failures["GraphLaunch"] = cuda::driver::Result::INVALID_VALUE;
  EXPECT_NE(hipGraphLaunch(exec, nullptr), hipSuccess);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  ASSERT_EQ(driver_->host_calls.size(), 1u);
  EXPECT_EQ(driver_->host_calls[0].stream, stream_);
  driver_->host_calls[0].function(driver_->host_calls[0].data);
}

}  // namespace
}  // namespace tf::fake_cuda
