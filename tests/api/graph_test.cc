// SPDX-License-Identifier: Apache-2.0
// Graphs made by capture: what is captured runs when the graph is launched, and not before.
#include <array>
#include <atomic>
#include <thread>

#include "tests/api/graph_fixture.h"

namespace tf::api_test {
namespace {

constexpr int kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(int);
constexpr std::size_t kLargeCount = 300'000;  // more than travels inside a message

TEST(Graph, CapturedLaunchesRunWhenLaunched) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(kBytes);
  HIP_OK(hipMemset(device.get(), 0, kBytes));
  begin_capture(stream);
  EXPECT_EQ(capture_status(stream), hipStreamCaptureStatusActive);
  for (int i = 0; i < 5; ++i) launch_increment(module, device.get(), kCount, stream);
  TestGraph graph(stream);
  EXPECT_EQ(capture_status(stream), hipStreamCaptureStatusNone);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(device.get(), kCount), std::vector<int>(kCount, 0));
  EXPECT_EQ(graph.nodes().size(), 5u);

  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(device.get(), kCount), std::vector<int>(kCount, 5));
}

TEST(Graph, KernelsOfTheProgram) {
  TestStream stream(hipStreamNonBlocking);
  DeviceBuffer device(kBytes);
  begin_capture(stream);
  launch_fill(device.get<int>(), 3, kCount, stream);
  TestGraph graph(stream);
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(device.get(), kCount), counting_ints(kCount, 3));
  ASSERT_EQ(graph.nodes().size(), 1u);
  hipKernelNodeParams parameters{};
  HIP_OK(hipGraphKernelNodeGetParams(graph.nodes()[0], &parameters));
  EXPECT_EQ(parameters.func, fill_kernel());
  EXPECT_EQ(parameters.blockDim.x, 128u);
  ASSERT_NE(parameters.kernelParams, nullptr);
  EXPECT_EQ(*static_cast<int*>(parameters.kernelParams[1]), 3);
}

TEST(Graph, ManyLaunchesInARow) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(kBytes);
  HIP_OK(hipMemset(device.get(), 0, kBytes));
  begin_capture(stream);
  launch_increment(module, device.get(), kCount, stream);
  launch_increment(module, device.get(), kCount, stream);
  TestGraph graph(stream);
  TestExec exec(graph);
  for (int i = 0; i < 500; ++i) HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(device.get(), kCount), std::vector<int>(kCount, 1000));
}

TEST(Graph, LaunchedAgainWhileItRunsAndOnOtherStreams) {
  LoadedModule module;
  TestStream first(hipStreamNonBlocking);
  TestStream second(hipStreamNonBlocking);
  DeviceBuffer device(kBytes);
  HIP_OK(hipMemset(device.get(), 0, kBytes));
  HIP_OK(hipDeviceSynchronize());
  begin_capture(first);
  launch_increment(module, device.get(), kCount, first);
  TestGraph graph(first);
  TestExec exec(graph);
  Gate gate;
  gate.close(first);
  HIP_OK(hipGraphLaunch(exec, first));
  HIP_OK(hipGraphLaunch(exec, first));
  EXPECT_EQ(hipStreamQuery(first), hipErrorNotReady);
  gate.open();
  HIP_OK(hipGraphLaunch(exec, second));  // one executable graph never runs twice at the same time
  HIP_OK(hipStreamSynchronize(second));
  HIP_OK(hipStreamSynchronize(first));
  EXPECT_EQ(read_ints(device.get(), kCount), std::vector<int>(kCount, 3));
}

TEST(Graph, ForkAndJoin) {
  LoadedModule module;
  TestStream origin;
  TestStream other;
  TestEvent fork(hipEventDisableTiming);
  TestEvent join(hipEventDisableTiming);
  DeviceBuffer left(kBytes);
  DeviceBuffer right(kBytes);
  begin_capture(origin);
  HIP_OK(hipMemsetAsync(left.get(), 0, kBytes, origin));
  HIP_OK(hipEventRecord(fork, origin));
  HIP_OK(hipStreamWaitEvent(other, fork, 0));
  EXPECT_EQ(capture_status(other), hipStreamCaptureStatusActive);
  HIP_OK(hipMemsetAsync(right.get(), 0, kBytes, other));
  launch_increment(module, right.get(), kCount, other);
  launch_increment(module, left.get(), kCount, origin);
  HIP_OK(hipEventRecord(join, other));
  HIP_OK(hipStreamWaitEvent(origin, join, 0));
  HIP_OK(hipMemcpyAsync(left.get(), right.get(), kBytes / 2, hipMemcpyDeviceToDevice, origin));
  launch_increment(module, left.get(), kCount, origin);
  TestGraph graph(origin);
  EXPECT_EQ(capture_status(other), hipStreamCaptureStatusNone);
  EXPECT_EQ(graph.nodes().size(), 6u);
  std::size_t roots = 0;
  HIP_OK(hipGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(roots, 1u);
  std::size_t edges = 0;
  HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 6u);
  TestExec exec(graph);
  for (int i = 0; i < 3; ++i) {
    HIP_OK(hipGraphLaunch(exec, origin));
    HIP_OK(hipStreamSynchronize(origin));
    EXPECT_EQ(read_ints(left.get(), kCount), std::vector<int>(kCount, 2));
  }
}

TEST(Graph, FillsOfEveryKind) {
  TestStream stream;
  DeviceBuffer device(4096);
  HIP_OK(hipMemset(device.get(), 0, 4096));
  begin_capture(stream);
  HIP_OK(hipMemsetAsync(device.get(), 1, 256, stream));
  HIP_OK(hipMemsetD8Async(device.at(256), 2, 256, stream));
  HIP_OK(hipMemsetD16Async(device.at(512), 0x0304, 128, stream));
  HIP_OK(hipMemsetD32Async(device.at(768), 0x05060708, 64, stream));
  HIP_OK(hipMemset2DAsync(device.at(1024), 64, 9, 32, 4, stream));
  hipPitchedPtr box{};
  box.ptr = device.at(2048);
  box.pitch = 64;
  box.xsize = 64;
  box.ysize = 4;
  HIP_OK(hipMemset3DAsync(box, 10, hipExtent{16, 2, 2}, stream));
  TestGraph graph(stream);
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  std::vector<unsigned char> back(4096);
  HIP_OK(hipMemcpy(back.data(), device.get(), 4096, hipMemcpyDeviceToHost));
  EXPECT_EQ(back[255], 1);
  EXPECT_EQ(back[511], 2);
  EXPECT_EQ(back[766], 4);
  EXPECT_EQ(back[767], 3);
  EXPECT_EQ(back[1023], 5);
  EXPECT_EQ(back[1024 + 64 + 31], 9);
  EXPECT_EQ(back[1024 + 64 + 32], 0);
  EXPECT_EQ(back[2048 + 4 * 64 + 64 + 15], 10);
  EXPECT_EQ(back[2048 + 2 * 64], 0);
  EXPECT_EQ(back[2048 + 4 * 64 + 64 + 16], 0);
}

TEST(Graph, FillsOfNothingAreNoNodes) {
  TestStream stream;
  DeviceBuffer device(4096);
  hipPitchedPtr box{};
  box.ptr = device.get();
  box.pitch = 64;
  box.xsize = 64;
  box.ysize = 4;
  begin_capture(stream);
  HIP_OK(hipMemsetAsync(device.get(), 1, 0, stream));
  HIP_OK(hipMemset2DAsync(device.get(), 64, 1, 0, 4, stream));
  HIP_OK(hipMemset2DAsync(device.get(), 64, 1, 32, 0, stream));
  for (const hipExtent extent : {hipExtent{0, 4, 2}, hipExtent{16, 0, 2}, hipExtent{16, 4, 0}})
    HIP_OK(hipMemset3DAsync(box, 1, extent, stream));
  TestGraph graph(stream);
  EXPECT_TRUE(graph.nodes().empty());
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
}

// A node keeps what the program said, of which a fill of bytes uses the lowest byte.
TEST(Graph, FillsOfBytesKeepTheirValue) {
  TestStream stream;
  DeviceBuffer device(64);
  begin_capture(stream);
  HIP_OK(hipMemsetAsync(device.get(), -127, 64, stream));
  TestGraph graph(stream);
  ASSERT_EQ(graph.nodes().size(), 1u);
  hipMemsetParams read{};
  HIP_OK(hipGraphMemsetNodeGetParams(graph.nodes()[0], &read));
  EXPECT_EQ(read.value, 0xffffff81u);
  EXPECT_EQ(read.elementSize, 1u);
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  std::array<std::uint8_t, 64> back{};
  HIP_OK(hipMemcpy(back.data(), device.get(), back.size(), hipMemcpyDeviceToHost));
  for (const std::uint8_t byte : back) EXPECT_EQ(byte, 0x81);
}

// Host memory is read and written at each launch, pinned or not.
template <typename Host>
void copies_in_and_out(std::size_t count, Host* input, Host* output) {
  LoadedModule module;
  TestStream stream;
  const std::size_t bytes = count * sizeof(int);
  DeviceBuffer device(bytes);
  begin_capture(stream);
  HIP_OK(hipMemcpyAsync(device.get(), input, bytes, hipMemcpyHostToDevice, stream));
  launch_increment(module, device.get(), static_cast<int>(count), stream);
  HIP_OK(hipMemcpyAsync(output, device.get(), bytes, hipMemcpyDeviceToHost, stream));
  TestGraph graph(stream);
  EXPECT_EQ(graph.nodes().size(), 3u);
  TestExec exec(graph);
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < count; ++i) input[i] = round * 1000 + static_cast<int>(i);
    HIP_OK(hipGraphLaunch(exec, stream));
    HIP_OK(hipStreamSynchronize(stream));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(output[i], input[i] + 1) << i << ", round " << round;
  }
}

TEST(Graph, CopiesOfPageableMemory) {
  for (std::size_t count : {std::size_t{100}, kLargeCount}) {
    std::vector<int> input(count);
    std::vector<int> output(count);
    copies_in_and_out(count, input.data(), output.data());
  }
}

TEST(Graph, CopiesOfPinnedMemory) {
  for (std::size_t count : {std::size_t{100}, kLargeCount}) {
    PinnedBuffer input(count * sizeof(int));
    PinnedBuffer output(count * sizeof(int));
    copies_in_and_out(count, input.as<int>(), output.as<int>());
  }
}

TEST(Graph, CopiesOfRows) {
  TestStream stream;
  DeviceBuffer device(1024);
  std::vector<unsigned char> input(256);
  std::vector<unsigned char> output(256, 0);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<unsigned char>(i);
  HIP_OK(hipMemset(device.get(), 0, 1024));
  begin_capture(stream);
  HIP_OK(hipMemcpy2DAsync(device.get(), 64, input.data(), 32, 16, 8, hipMemcpyHostToDevice, stream));
  HIP_OK(hipMemcpy2DAsync(device.at(512), 32, device.get(), 64, 16, 8, hipMemcpyDeviceToDevice, stream));
  HIP_OK(hipMemcpy2DAsync(output.data(), 32, device.at(512), 32, 16, 8, hipMemcpyDeviceToHost, stream));
  TestGraph graph(stream);
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  for (std::size_t row = 0; row < 8; ++row) {
    EXPECT_EQ(output[row * 32 + 15], input[row * 32 + 15]);
    EXPECT_EQ(output[row * 32 + 16], 0);
  }
}

struct HostStep {
  int* values = nullptr;
  std::atomic<int> calls{0};
};

// Host functions run at each launch, between what comes before and after them, copies included.
TEST(Graph, HostFunctionBetweenCopies) {
  TestStream stream;
  DeviceBuffer device(sizeof(int) * 4);
  DeviceBuffer second(sizeof(int) * 4);
  PinnedBuffer host(sizeof(int) * 4);
  HostStep step;
  step.values = host.as<int>();
  const auto twice = [](void* data) {
    auto* const self = static_cast<HostStep*>(data);
    for (int i = 0; i < 4; ++i) self->values[i] *= 2;
    ++self->calls;
  };
  begin_capture(stream);
  HIP_OK(hipMemcpyAsync(host.as<void>(), device.get(), sizeof(int) * 4, hipMemcpyDeviceToHost, stream));
  HIP_OK(hipLaunchHostFunc(stream, twice, &step));
  HIP_OK(hipMemcpyAsync(second.get(), host.as<void>(), sizeof(int) * 4, hipMemcpyHostToDevice, stream));
  HIP_OK(hipMemcpyAsync(device.get(), second.get(), sizeof(int) * 4, hipMemcpyDeviceToDevice, stream));
  TestGraph graph(stream);
  EXPECT_EQ(step.calls, 0);
  TestExec exec(graph);
  const int start[4] = {1, 2, 3, 4};
  HIP_OK(hipMemcpy(device.get(), start, sizeof start, hipMemcpyHostToDevice));
  for (int i = 0; i < 3; ++i) HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(step.calls, 3);
  EXPECT_EQ(read_ints(device.get(), 4), (std::vector<int>{8, 16, 24, 32}));
}

TEST(Graph, OutlivesItsGraphAndIsUpdated) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer first(kBytes);
  DeviceBuffer second(kBytes);
  const auto captured = [&](void* data, int rounds) {
    begin_capture(stream);
    EXPECT_EQ(hipMemsetAsync(data, 0, kBytes, stream), hipSuccess);
    for (int i = 0; i < rounds; ++i) launch_increment(module, data, kCount, stream);
    hipGraph_t graph = nullptr;
    EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
    return graph;
  };
  hipGraph_t graph = captured(first.get(), 2);
  TestExec exec(graph);
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(first.get(), kCount), std::vector<int>(kCount, 2));

  HIP_OK(hipMemset(first.get(), 0, kBytes));
  graph = captured(second.get(), 2);
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  HIP_OK(hipGraphExecUpdate(exec, graph, &node, &result));
  EXPECT_EQ(result, hipGraphExecUpdateSuccess);
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(first.get(), kCount), std::vector<int>(kCount, 0));
  EXPECT_EQ(read_ints(second.get(), kCount), std::vector<int>(kCount, 2));

  graph = captured(second.get(), 3);
  EXPECT_EQ(hipGraphExecUpdate(exec, graph, &node, &result), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(result, hipGraphExecUpdateErrorTopologyChanged);
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipGraphLaunch(exec, stream));  // as it was
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(second.get(), kCount), std::vector<int>(kCount, 2));
}

TEST(Graph, LaunchedInsideACapture) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(kBytes);
  HIP_OK(hipMemset(device.get(), 0, kBytes));
  begin_capture(stream);
  launch_increment(module, device.get(), kCount, stream);
  TestGraph inner(stream);
  TestExec inner_exec(inner);
  begin_capture(stream);
  HIP_OK(hipGraphLaunch(inner_exec, stream));
  launch_increment(module, device.get(), kCount, stream);
  HIP_OK(hipGraphLaunch(inner_exec, stream));
  TestGraph outer(stream);
  ASSERT_EQ(outer.nodes().size(), 3u);
  hipGraphNodeType type = hipGraphNodeTypeCount;
  HIP_OK(hipGraphNodeGetType(outer.nodes()[0], &type));
  EXPECT_EQ(type, hipGraphNodeTypeGraph);
  TestExec outer_exec(outer);
  HIP_OK(hipGraphLaunch(outer_exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(device.get(), kCount), std::vector<int>(kCount, 3));
}

TEST(Graph, LaunchedOnTheConstantStreams) {
  LoadedModule module;
  DeviceBuffer device(kBytes);
  HIP_OK(hipMemset(device.get(), 0, kBytes));
  begin_capture(hipStreamPerThread);
  launch_increment(module, device.get(), kCount, hipStreamPerThread);
  TestGraph graph(hipStreamPerThread);
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, nullptr));
  HIP_OK(hipGraphLaunch(exec, hipStreamPerThread));
  HIP_OK(hipGraphLaunch(exec, nullptr));
  HIP_OK(hipStreamSynchronize(nullptr));
  EXPECT_EQ(read_ints(device.get(), kCount), std::vector<int>(kCount, 3));
}

TEST(Graph, KeepsTheDeviceOfItsCapture) {
  if (device_count() < 2) GTEST_SKIP() << "needs two devices";
  HIP_OK(hipSetDevice(1));
  {
    TestStream stream;
    DeviceBuffer device(kBytes);
    begin_capture(stream);
    launch_fill(device.get<int>(), 9, kCount, stream);
    HIP_OK(hipMemsetAsync(device.get(), 0, sizeof(int), stream));
    TestGraph graph(stream);
    HIP_OK(hipSetDevice(0));
    TestExec exec(graph);
    HIP_OK(hipGraphLaunch(exec, stream));
    HIP_OK(hipStreamSynchronize(stream));
    std::vector<int> expected = counting_ints(kCount, 9);
    expected[0] = 0;
    EXPECT_EQ(read_ints(device.get(), kCount), expected);
  }
  HIP_OK(hipSetDevice(0));
}

TEST(Graph, EmptyCapture) {
  TestStream stream;
  begin_capture(stream);
  TestGraph graph(stream);
  EXPECT_TRUE(graph.nodes().empty());
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
}

TEST(Graph, WideGraphs) {
  TestStream stream;
  DeviceBuffer device(4096);
  TestGraph graph;
  std::vector<hipGraphNode_t> leaves;
  hipMemsetParams fill{};
  fill.elementSize = 1;
  fill.width = 1;
  fill.height = 1;
  for (std::size_t i = 0; i < 3000; ++i) {
    fill.dst = device.at(i);
    fill.value = static_cast<unsigned>(i % 251);
    hipGraphNode_t node = nullptr;
    HIP_OK(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill));
    leaves.push_back(node);
  }
  hipGraphNode_t last = nullptr;
  std::vector<unsigned char> back(3000);
  HIP_OK(hipGraphAddMemcpyNode1D(&last, graph, leaves.data(), leaves.size(), back.data(), device.get(),
                                 back.size(), hipMemcpyDeviceToHost));
  HIP_OK(hipGraphAddMemcpyNode1D(&last, graph, leaves.data(), leaves.size(), device.at(3000), device.get(), 1,
                                 hipMemcpyDeviceToDevice));
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, stream));
  HIP_OK(hipStreamSynchronize(stream));
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], i % 251);
}

}  // namespace
}  // namespace tf::api_test
