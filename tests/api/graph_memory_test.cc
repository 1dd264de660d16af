// SPDX-License-Identifier: Apache-2.0
// Memory that graphs allocate and free, by nodes and by captured calls, and its accounts.
#include "tests/api/fills.h"
#include "tests/api/graph_fixture.h"
#include "tests/api/newer_graphs.h"

namespace tf::api_test {
namespace {

constexpr int kNodeCount = 1024;
constexpr std::size_t kNodeBytes = kNodeCount * sizeof(int);

hipMemAllocNodeParams wish(std::size_t bytes = kNodeBytes) {
  hipMemAllocNodeParams parameters{};
  parameters.poolProps.allocType = hipMemAllocationTypePinned;
  parameters.poolProps.location = {hipMemLocationTypeDevice, 0};
  parameters.bytesize = bytes;
  return parameters;
}

std::uint64_t told(hipGraphMemAttributeType attribute) {
  std::uint64_t value = ~0ULL;
  EXPECT_EQ(hipDeviceGetGraphMemAttribute(0, attribute, &value), hipSuccess);
  return value;
}

class GraphMemory : public testing::Test {
 protected:
  void SetUp() override {
    std::uint64_t zero = 0;
    EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &zero), hipSuccess);
    EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrReservedMemHigh, &zero), hipSuccess);
  }
  // Nothing may be left behind.
  void TearDown() override { EXPECT_EQ(told(hipGraphMemAttrUsedMemCurrent), 0u); }

  // allocate -> fill with 7 -> copy to numbers_; and -> free, if that is wanted
  void build(hipGraph_t graph, bool frees) {
    hipMemAllocNodeParams parameters = wish();
    ASSERT_EQ(hipGraphAddMemAllocNode(&allocate_, graph, nullptr, 0, &parameters), hipSuccess);
    ASSERT_NE(parameters.dptr, nullptr);
    memory_ = parameters.dptr;
    const hipMemsetParams sevens = filling(memory_, 7, kNodeCount);
    hipGraphNode_t fill = nullptr;
    hipGraphNode_t copy = nullptr;
    ASSERT_EQ(hipGraphAddMemsetNode(&fill, graph, &allocate_, 1, &sevens), hipSuccess);
    ASSERT_EQ(hipGraphAddMemcpyNode1D(&copy, graph, &fill, 1, numbers_.data(), memory_, kNodeBytes,
                                      hipMemcpyDeviceToHost),
              hipSuccess);
    if (frees) {
      ASSERT_EQ(hipGraphAddMemFreeNode(&free_, graph, &copy, 1, memory_), hipSuccess);
    }
  }
  void run(hipGraphExec_t exec) {
    numbers_.assign(kNodeCount, 0);
    ASSERT_EQ(hipGraphLaunch(exec, stream_), hipSuccess);
    ASSERT_EQ(hipStreamSynchronize(stream_), hipSuccess);
    EXPECT_EQ(numbers_, std::vector<int>(kNodeCount, 7));
  }

  TestStream stream_;
  std::vector<int> numbers_ = std::vector<int>(kNodeCount);
  hipGraphNode_t allocate_ = nullptr;
  hipGraphNode_t free_ = nullptr;
  void* memory_ = nullptr;
};

TEST_F(GraphMemory, FreedInTheGraphItCanRunAgain) {
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  build(graph, true);
  TestExec exec(graph);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(told(hipGraphMemAttrUsedMemHigh), 0u);
  run(exec);
  run(exec);
  EXPECT_EQ(told(hipGraphMemAttrUsedMemCurrent), 0u);
  EXPECT_EQ(told(hipGraphMemAttrReservedMemCurrent), 0u);
  EXPECT_EQ(told(hipGraphMemAttrUsedMemHigh), kNodeBytes);
  EXPECT_EQ(told(hipGraphMemAttrReservedMemHigh), kNodeBytes);
}

TEST_F(GraphMemory, LeftAllocatedItOutlivesItsGraphAndExec) {
  {
    TestGraph graph;
    build(graph, false);
    TestExec exec(graph);
    run(exec);
    EXPECT_EQ(hipGraphLaunch(exec, stream_), hipErrorInvalidValue);  // it is allocated already
  }
  EXPECT_EQ(told(hipGraphMemAttrUsedMemCurrent), kNodeBytes);
  EXPECT_EQ(read_ints(memory_, kNodeCount), std::vector<int>(kNodeCount, 7));
  ASSERT_EQ(hipMemset(memory_, 0, kNodeBytes), hipSuccess);
  ASSERT_EQ(hipFree(memory_), hipSuccess);
  EXPECT_EQ(hipFree(memory_), hipErrorInvalidValue);
}

TEST_F(GraphMemory, FreedOnAStreamItCanRunAgain) {
  TestGraph graph;
  build(graph, false);
  TestExec exec(graph);
  EXPECT_EQ(hipFreeAsync(memory_, stream_), hipErrorInvalidValue);  // nothing has allocated it
  run(exec);
  ASSERT_EQ(hipFreeAsync(memory_, stream_), hipSuccess);
  run(exec);
  ASSERT_EQ(hipFree(memory_), hipSuccess);
}

TEST_F(GraphMemory, FreedByTheNextLaunchIfThatIsWanted) {
  TestGraph graph;
  build(graph, false);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagAutoFreeOnLaunch), hipSuccess);
  run(exec);
  run(exec);
  EXPECT_EQ(told(hipGraphMemAttrUsedMemHigh), kNodeBytes);
  ASSERT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  ASSERT_EQ(hipFree(memory_), hipSuccess);
}

TEST_F(GraphMemory, FreedByAnotherGraph) {
  TestGraph graph;
  build(graph, false);
  TestExec exec(graph);
  TestGraph other;
  ASSERT_EQ(hipGraphAddMemFreeNode(&free_, other, nullptr, 0, memory_), hipSuccess);
  TestExec freeing(other);
  run(exec);
  ASSERT_EQ(hipGraphLaunch(freeing, stream_), hipSuccess);
  EXPECT_EQ(told(hipGraphMemAttrUsedMemCurrent), 0u);
  run(exec);
  ASSERT_EQ(hipGraphLaunch(freeing, stream_), hipSuccess);
}

TEST_F(GraphMemory, HasOneExecutableGraphAtATime) {
  TestGraph graph;
  build(graph, true);
  hipGraphExec_t second = nullptr;
  {
    TestExec exec(graph);
    EXPECT_EQ(hipGraphInstantiate(&second, graph, nullptr, nullptr, 0), hipErrorNotSupported);
  }
  ASSERT_EQ(hipGraphInstantiate(&second, graph, nullptr, nullptr, 0), hipSuccess);
  run(second);
  ASSERT_EQ(hipGraphExecDestroy(second), hipSuccess);
}

TEST_F(GraphMemory, NodesTellTheirParameters) {
  TestGraph graph;
  hipMemAccessDesc everyone{};
  everyone.location = {hipMemLocationTypeDevice, 0};
  everyone.flags = hipMemAccessFlagsProtReadWrite;
  hipMemAllocNodeParams parameters = wish(3 * kNodeBytes);
  parameters.accessDescs = &everyone;
  parameters.accessDescCount = 1;
  ASSERT_EQ(hipGraphAddMemAllocNode(&allocate_, graph, nullptr, 0, &parameters), hipSuccess);
  ASSERT_EQ(hipGraphAddMemFreeNode(&free_, graph, &allocate_, 1, parameters.dptr), hipSuccess);
  hipMemAllocNodeParams answer{};
  ASSERT_EQ(hipGraphMemAllocNodeGetParams(allocate_, &answer), hipSuccess);
  EXPECT_EQ(answer.dptr, parameters.dptr);
  EXPECT_EQ(answer.bytesize, 3 * kNodeBytes);
  EXPECT_EQ(answer.poolProps.allocType, hipMemAllocationTypePinned);
  ASSERT_EQ(answer.accessDescCount, 1u);
  EXPECT_EQ(answer.accessDescs->flags, hipMemAccessFlagsProtReadWrite);
  void* freed = nullptr;
  ASSERT_EQ(hipGraphMemFreeNodeGetParams(free_, &freed), hipSuccess);
  EXPECT_EQ(freed, parameters.dptr);
  EXPECT_EQ(hipGraphMemAllocNodeGetParams(free_, &answer), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphMemFreeNodeGetParams(allocate_, &freed), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphMemAllocNodeGetParams(allocate_, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphMemFreeNodeGetParams(free_, nullptr), hipErrorInvalidValue);
}

TEST_F(GraphMemory, WrongAllocationsAreRefused) {
  TestGraph graph;
  hipMemAllocNodeParams parameters = wish();
  const auto add = [&] { return hipGraphAddMemAllocNode(&allocate_, graph, nullptr, 0, &parameters); };
  EXPECT_EQ(hipGraphAddMemAllocNode(nullptr, graph, nullptr, 0, &parameters), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddMemAllocNode(&allocate_, nullptr, nullptr, 0, &parameters), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddMemAllocNode(&allocate_, graph, nullptr, 3, &parameters), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddMemAllocNode(&allocate_, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(parameters.dptr, nullptr);
  parameters.bytesize = 0;
  EXPECT_EQ(add(), hipErrorInvalidValue);
  parameters.bytesize = ~std::size_t{0};
  EXPECT_EQ(add(), hipErrorOutOfMemory);
  parameters = wish();
  parameters.poolProps.allocType = hipMemAllocationTypeInvalid;
  EXPECT_EQ(add(), hipErrorInvalidValue);
  parameters = wish();
  parameters.poolProps.location.id = device_count();
  EXPECT_EQ(add(), hipErrorInvalidValue);
  parameters = wish();
  parameters.accessDescCount = 1;
  EXPECT_EQ(add(), hipErrorInvalidValue);
}

TEST_F(GraphMemory, WrongReleasesAreRefused) {
  TestGraph graph;
  DeviceBuffer ordinary(kNodeBytes);
  build(graph, true);
  hipGraphNode_t node = nullptr;
  EXPECT_EQ(hipGraphAddMemFreeNode(&node, graph, nullptr, 0, memory_),
            hipErrorInvalidValue);  // once is enough
  EXPECT_EQ(hipGraphAddMemFreeNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddMemFreeNode(&node, graph, nullptr, 0, ordinary.get()), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddMemFreeNode(nullptr, graph, nullptr, 0, memory_), hipErrorInvalidValue);
  ASSERT_EQ(hipGraphDestroyNode(free_), hipSuccess);
  EXPECT_EQ(hipGraphAddMemFreeNode(&node, nullptr, nullptr, 0, memory_), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddMemFreeNode(&node, graph, nullptr, 0, memory_), hipSuccess);
  EXPECT_EQ(hipFree(memory_), hipErrorInvalidValue);  // no launch has allocated it
}

TEST_F(GraphMemory, AttributesCheckTheirArguments) {
  std::uint64_t value = 0;
  EXPECT_EQ(hipDeviceGetGraphMemAttribute(device_count(), hipGraphMemAttrUsedMemHigh, &value),
            hipErrorInvalidDevice);
  hipGraphMemAttributeType unknown{};
  const int number = 7;
  std::memcpy(&unknown, &number, sizeof unknown);
  EXPECT_EQ(hipDeviceGetGraphMemAttribute(0, unknown, &value), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceSetGraphMemAttribute(-1, hipGraphMemAttrUsedMemHigh, &value), hipErrorInvalidDevice);
  EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &value), hipErrorInvalidValue);
  // What cannot be set is not read.
  EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, reinterpret_cast<void*>(-1)),
            hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, nullptr), hipErrorInvalidValue);
  value = 5;
  EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &value), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceGraphMemTrim(0), hipSuccess);
  EXPECT_EQ(hipDeviceGraphMemTrim(device_count()), hipErrorInvalidDevice);
}

TEST_F(GraphMemory, CapturedAllocationsBecomeNodes) {
  begin_capture(stream_);
  void* memory = nullptr;
  ASSERT_EQ(hipMallocAsync(&memory, kNodeBytes, stream_), hipSuccess);
  ASSERT_NE(memory, nullptr);
  ASSERT_EQ(hipMemsetD32Async(memory, 7, kNodeCount, stream_), hipSuccess);
  ASSERT_EQ(hipMemcpyAsync(numbers_.data(), memory, kNodeBytes, hipMemcpyDeviceToHost, stream_), hipSuccess);
  ASSERT_EQ(hipFreeAsync(memory, stream_), hipSuccess);
  TestGraph graph(stream_);
  const std::vector<hipGraphNode_t> nodes = graph.nodes();
  ASSERT_EQ(nodes.size(), 4u);
  hipMemAllocNodeParams parameters{};
  ASSERT_EQ(hipGraphMemAllocNodeGetParams(nodes[0], &parameters), hipSuccess);
  EXPECT_EQ(parameters.dptr, memory);
  EXPECT_EQ(parameters.bytesize, kNodeBytes);
  void* freed = nullptr;
  ASSERT_EQ(hipGraphMemFreeNodeGetParams(nodes[3], &freed), hipSuccess);
  EXPECT_EQ(freed, memory);
  TestExec exec(graph);
  run(exec);
  run(exec);
}

TEST_F(GraphMemory, ACaptureFreesNoMemoryOfOthers) {
  void* memory = nullptr;
  ASSERT_EQ(hipMallocAsync(&memory, kNodeBytes, stream_), hipSuccess);
  begin_capture(stream_);
  EXPECT_EQ(hipFreeAsync(memory, stream_), hipErrorStreamCaptureUnsupported);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(hipFreeAsync(memory, stream_), hipSuccess);
}

// Kernels and copies reach it as any memory; what it was cut from is given back in the end.
TEST_F(GraphMemory, IsGivenBackWhenNothingNeedsIt) {
  constexpr std::size_t kMany = std::size_t{64} << 20;
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  std::size_t before = 0;
  std::size_t held = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(hipMemGetInfo(&before, &total), hipSuccess);
  {
    TestGraph graph;
    hipMemAllocNodeParams parameters = wish(kMany);
    ASSERT_EQ(hipGraphAddMemAllocNode(&allocate_, graph, nullptr, 0, &parameters), hipSuccess);
    ASSERT_EQ(hipMemGetInfo(&held, &total), hipSuccess);
    EXPECT_LE(held + kMany, before);
  }
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  ASSERT_EQ(hipMemGetInfo(&after, &total), hipSuccess);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace tf::api_test
