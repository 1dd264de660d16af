// SPDX-License-Identifier: Apache-2.0
// Graphs made node by node, their structure, and the parameters of nodes.
#include <atomic>

#include "tests/api/graph_parameters.h"

namespace tf::api_test {
namespace {

struct Fill {
  explicit Fill(void* target, int first) : data(target), value(first) {
    parameters.func = const_cast<void*>(fill_kernel());
    parameters.gridDim = dim3(2, 1, 1);
    parameters.blockDim = dim3(128, 1, 1);
    parameters.kernelParams = arguments;
  }
  Fill(const Fill&) = delete;
  Fill& operator=(const Fill&) = delete;

  void* data = nullptr;
  int value = 0;
  int count = kGraphCount;
  void* arguments[3] = {&data, &value, &count};
  hipKernelNodeParams parameters{};
};

void launch(hipGraphExec_t exec, hipStream_t stream) {
  ASSERT_EQ(hipGraphLaunch(exec, stream), hipSuccess);
  ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
}

TEST(GraphNodes, AllKinds) {
  LoadedModule module;
  TestStream stream;
  TestEvent event(hipEventDisableTiming);
  DeviceBuffer device(kGraphBytes);
  std::vector<int> out(kGraphCount);
  TestGraph graph;
  hipGraphNode_t fill = nullptr;
  hipGraphNode_t kernel = nullptr;
  hipGraphNode_t empty = nullptr;
  hipGraphNode_t record = nullptr;
  hipGraphNode_t wait = nullptr;
  hipGraphNode_t copy = nullptr;
  hipGraphNode_t host = nullptr;
  const hipMemsetParams zero = filling(device.get(), 0);
  Increment increment(module.function("increment"), device.get());
  std::atomic<int> calls{0};
  const hipHostNodeParams call{[](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls};
  HIP_OK(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  HIP_OK(hipGraphAddKernelNode(&kernel, graph, &fill, 1, &increment.parameters));
  HIP_OK(hipGraphAddEmptyNode(&empty, graph, &kernel, 1));
  HIP_OK(hipGraphAddEventRecordNode(&record, graph, &empty, 1, event));
  HIP_OK(hipGraphAddEventWaitNode(&wait, graph, &record, 1, event));
  HIP_OK(hipGraphAddMemcpyNode1D(&copy, graph, &wait, 1, out.data(), device.get(), kGraphBytes,
                                 hipMemcpyDeviceToHost));
  HIP_OK(hipGraphAddHostNode(&host, graph, &copy, 1, &call));
  const hipGraphNodeType expected[] = {
      hipGraphNodeTypeMemset,    hipGraphNodeTypeKernel,   hipGraphNodeTypeEmpty, hipGraphNodeTypeEventRecord,
      hipGraphNodeTypeWaitEvent, hipGraphNodeTypeMemcpy1D, hipGraphNodeTypeHost};
  const std::vector<hipGraphNode_t> nodes = graph.nodes();
  ASSERT_EQ(nodes.size(), std::size(expected));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    hipGraphNodeType type = hipGraphNodeTypeCount;
    HIP_OK(hipGraphNodeGetType(nodes[i], &type));
    EXPECT_EQ(type, expected[i]) << i;
  }
  TestExec exec(graph);
  for (int round = 1; round <= 3; ++round) {
    std::fill(out.begin(), out.end(), -1);
    launch(exec, stream);
    EXPECT_EQ(out, std::vector<int>(kGraphCount, 1));
    EXPECT_EQ(calls, round);
    HIP_OK(hipEventQuery(event));
  }
}

TEST(GraphNodes, Structure) {
  TestGraph graph;
  hipGraphNode_t nodes[4] = {};
  for (hipGraphNode_t& node : nodes) HIP_OK(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  const hipGraphNode_t from[] = {nodes[0], nodes[0], nodes[1]};
  const hipGraphNode_t to[] = {nodes[1], nodes[2], nodes[3]};
  HIP_OK(hipGraphAddDependencies(graph, from, to, 3));
  EXPECT_EQ(hipGraphAddDependencies(graph, from, to, 1), hipErrorInvalidValue);
  std::size_t count = 0;
  HIP_OK(hipGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1u);
  HIP_OK(hipGraphNodeGetDependentNodes(nodes[0], nullptr, &count));
  EXPECT_EQ(count, 2u);
  hipGraphNode_t before[4] = {nodes[3], nodes[3], nodes[3], nodes[3]};
  count = 4;
  HIP_OK(hipGraphNodeGetDependencies(nodes[3], before, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(before[0], nodes[1]);
  EXPECT_EQ(before[1], nullptr);  // a longer array is filled up
  HIP_OK(hipGraphRemoveDependencies(graph, from, to, 1));
  HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT_EQ(count, 2u);
  HIP_OK(hipGraphDestroyNode(nodes[1]));
  EXPECT_EQ(graph.nodes().size(), 3u);
  HIP_OK(hipGraphGetEdges(graph, nullptr, nullptr, &count));
  EXPECT_EQ(count, 1u);
  hipGraphNodeType type = hipGraphNodeTypeCount;
  EXPECT_EQ(hipGraphNodeGetType(nodes[1], &type), hipErrorInvalidValue);
}

TEST(GraphNodes, CirclesAreRefused) {
  TestGraph graph;
  hipGraphNode_t nodes[2] = {};
  HIP_OK(hipGraphAddEmptyNode(&nodes[0], graph, nullptr, 0));
  HIP_OK(hipGraphAddEmptyNode(&nodes[1], graph, &nodes[0], 1));
  HIP_OK(hipGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
  hipGraphExec_t exec = nullptr;
  EXPECT_NE(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
}

TEST(GraphNodes, ParametersOfANode) {
  TestStream stream;
  DeviceBuffer device(kGraphBytes);
  TestGraph graph;
  hipGraphNode_t node = nullptr;
  {
    Fill fill(device.get(), 10);
    HIP_OK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &fill.parameters));
  }  // the values were taken along
  TestExec before(graph);
  hipKernelNodeParams parameters{};
  HIP_OK(hipGraphKernelNodeGetParams(node, &parameters));
  EXPECT_EQ(*static_cast<int*>(parameters.kernelParams[1]), 10);
  int value = 20;
  void* arguments[] = {parameters.kernelParams[0], &value, parameters.kernelParams[2]};
  parameters.kernelParams = arguments;
  HIP_OK(hipGraphKernelNodeSetParams(node, &parameters));
  TestExec after(graph);
  launch(before, stream);
  EXPECT_EQ(read_ints(device.get(), kGraphCount), counting_ints(kGraphCount, 10));
  launch(after, stream);
  EXPECT_EQ(read_ints(device.get(), kGraphCount), counting_ints(kGraphCount, 20));
  Fill other(device.get(), 30);
  HIP_OK(hipGraphExecKernelNodeSetParams(before, node, &other.parameters));
  launch(before, stream);
  EXPECT_EQ(read_ints(device.get(), kGraphCount), counting_ints(kGraphCount, 30));
  launch(after, stream);
  EXPECT_EQ(read_ints(device.get(), kGraphCount), counting_ints(kGraphCount, 20));
  hipMemsetParams wrong{};
  EXPECT_EQ(hipGraphMemsetNodeGetParams(node, &wrong), hipErrorInvalidValue);
}

// As ggml does between two launches: what GetParams gave is changed in place, and used for good.
TEST(GraphNodes, ParametersAreKeptAndChangedInPlace) {
  TestStream stream;
  DeviceBuffer device(kGraphBytes);
  begin_capture(stream);
  launch_fill(device.get<int>(), 1, kGraphCount, stream);
  TestGraph graph(stream);
  TestExec exec(graph);
  const hipGraphNode_t node = graph.nodes()[0];
  hipKernelNodeParams parameters{};
  HIP_OK(hipGraphKernelNodeGetParams(node, &parameters));
  for (int value = 10; value < 13; ++value) {
    parameters.kernelParams[1] = &value;
    HIP_OK(hipGraphKernelNodeSetParams(node, &parameters));
    hipGraphNode_t wrong = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    HIP_OK(hipGraphExecUpdate(exec, graph, &wrong, &result));
    launch(exec, stream);
    EXPECT_EQ(read_ints(device.get(), kGraphCount), counting_ints(kGraphCount, value));
  }
}

TEST(GraphNodes, ParametersOfFillsAndCopies) {
  TestStream stream;
  DeviceBuffer device(kGraphBytes);
  DeviceBuffer second(kGraphBytes);
  std::vector<int> out(kGraphCount);
  TestGraph graph;
  hipGraphNode_t fill = nullptr;
  hipGraphNode_t copy = nullptr;
  hipMemsetParams parameters = filling(device.get(), 0);
  parameters.value = 5;
  HIP_OK(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &parameters));
  HIP_OK(hipGraphAddMemcpyNode1D(&copy, graph, &fill, 1, out.data(), device.get(), kGraphBytes,
                                 hipMemcpyDeviceToHost));
  TestExec exec(graph);
  launch(exec, stream);
  EXPECT_EQ(out, std::vector<int>(kGraphCount, 5));
  hipMemsetParams read{};
  HIP_OK(hipGraphMemsetNodeGetParams(fill, &read));
  EXPECT_EQ(read.dst, device.get());
  EXPECT_EQ(read.value, 5u);
  EXPECT_EQ(read.width, static_cast<std::size_t>(kGraphCount));
  EXPECT_EQ(read.pitch, 0u) << "as the program gave it";
  read.value = 6;
  HIP_OK(hipGraphExecMemsetNodeSetParams(exec, fill, &read));
  launch(exec, stream);
  EXPECT_EQ(out, std::vector<int>(kGraphCount, 6));
  std::vector<int> other(kGraphCount);
  HIP_OK(hipGraphExecMemcpyNodeSetParams1D(exec, copy, other.data(), device.get(), kGraphBytes,
                                           hipMemcpyDeviceToHost));
  read.value = 7;
  HIP_OK(hipGraphExecMemsetNodeSetParams(exec, fill, &read));
  launch(exec, stream);
  EXPECT_EQ(out, std::vector<int>(kGraphCount, 6));
  EXPECT_EQ(other, std::vector<int>(kGraphCount, 7));
  EXPECT_EQ(hipGraphExecMemcpyNodeSetParams1D(exec, copy, second.get(), device.get(), kGraphBytes,
                                              hipMemcpyDeviceToDevice),
            hipErrorInvalidValue)
      << "the direction stays";
  EXPECT_EQ(hipGraphExecMemcpyNodeSetParams1D(exec, copy, other.data(), device.get(), kGraphBytes,
                                              hipMemcpyDefault),
            hipErrorInvalidValue);
  hipMemcpy3DParms box{};
  HIP_OK(hipGraphMemcpyNodeGetParams(copy, &box));
  EXPECT_EQ(box.dstPtr.ptr, out.data());
  EXPECT_EQ(box.extent.width, kGraphBytes);
  read.dst = nullptr;
  EXPECT_EQ(hipGraphMemsetNodeSetParams(fill, &read), hipErrorInvalidValue);
  EXPECT_NE(
      hipGraphMemcpyNodeSetParams1D(copy, device.at(4), device.get(), kGraphBytes, hipMemcpyDeviceToDevice),
      hipSuccess);
}

TEST(GraphNodes, ACopyIsNotSetToOneAddress) {
  DeviceBuffer first(64);
  DeviceBuffer second(64);
  TestGraph graph;
  hipGraphNode_t copy = nullptr;
  HIP_OK(hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, first.get(), second.get(), 64,
                                 hipMemcpyDeviceToDevice));
  TestExec exec(graph);
  EXPECT_EQ(hipGraphMemcpyNodeSetParams1D(copy, first.get(), first.get(), 64, hipMemcpyDeviceToDevice),
            hipErrorInvalidValue);
  EXPECT_EQ(
      hipGraphExecMemcpyNodeSetParams1D(exec, copy, first.get(), first.get(), 64, hipMemcpyDeviceToDevice),
      hipErrorInvalidValue);
  HIP_OK(
      hipGraphExecMemcpyNodeSetParams1D(exec, copy, second.get(), first.get(), 64, hipMemcpyDeviceToDevice));
}

TEST(GraphNodes, RowsLongerThanTheirPitchAreRefusedByGraphAndExecutableEachInItsWay) {
  DeviceBuffer first(64);
  DeviceBuffer second(64);
  TestGraph graph;
  hipMemcpy3DParms box{};
  box.srcPtr = make_hipPitchedPtr(first.get(), 64, 64, 1);
  box.dstPtr = make_hipPitchedPtr(second.get(), 64, 64, 1);
  box.extent = make_hipExtent(64, 1, 1);
  box.kind = hipMemcpyDeviceToDevice;
  hipGraphNode_t copy = nullptr;
  HIP_OK(hipGraphAddMemcpyNode(&copy, graph, nullptr, 0, &box));
  TestExec exec(graph);
  box.dstPtr.pitch = 32;
  EXPECT_EQ(hipGraphMemcpyNodeSetParams(copy, &box), hipErrorInvalidPitchValue);
  EXPECT_EQ(hipGraphExecMemcpyNodeSetParams(exec, copy, &box), hipErrorInvalidValue);
  box.dstPtr.pitch = 64;
  HIP_OK(hipGraphExecMemcpyNodeSetParams(exec, copy, &box));
}

// Of `height` rows of `width` ints, at a pitch of 64 bytes.
hipMemsetParams rows(void* target, unsigned value, std::size_t width, std::size_t height) {
  hipMemsetParams parameters = filling(target, value, width);
  parameters.height = height;
  parameters.pitch = 64;
  return parameters;
}

// An executable graph keeps the width and height of a fill of several rows; a graph does not.
TEST(GraphNodes, RowsOfAFillStay) {
  TestStream stream;
  DeviceBuffer device(256);
  DeviceBuffer other(256);
  TestGraph graph;
  hipGraphNode_t node = nullptr;
  hipMemsetParams parameters = rows(device.get(), 5, 4, 3);
  HIP_OK(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &parameters));
  TestExec exec(graph);
  for (const auto& [width, height] : {std::pair{5, 3}, {4, 2}, {3, 3}, {4, 4}}) {
    parameters = rows(device.get(), 6, static_cast<std::size_t>(width), static_cast<std::size_t>(height));
    EXPECT_EQ(hipGraphExecMemsetNodeSetParams(exec, node, &parameters), hipErrorInvalidValue)
        << width << height;
  }
  HIP_OK(hipMemset(device.get(), 0, 256));
  HIP_OK(hipMemset(other.get(), 0, 256));
  parameters = rows(other.get(), 7, 4, 3);
  parameters.pitch = 32;
  HIP_OK(hipGraphExecMemsetNodeSetParams(exec, node, &parameters));
  launch(exec, stream);
  EXPECT_EQ(read_ints(device.get(), 64), std::vector<int>(64, 0));
  std::vector<int> expected(64, 0);
  for (int row = 0; row < 3; ++row) std::fill_n(expected.begin() + row * 8, 4, 7);
  EXPECT_EQ(read_ints(other.get(), 64), expected);
  parameters = filling(other.get(), 9, 10);
  HIP_OK(hipGraphExecMemsetNodeSetParams(exec, node, &parameters)) << "one row may be any";
  launch(exec, stream);
  std::fill_n(expected.begin(), 10, 9);
  EXPECT_EQ(read_ints(other.get(), 64), expected);
  parameters = rows(other.get(), 1, 2, 4);
  HIP_OK(hipGraphMemsetNodeSetParams(node, &parameters));
  hipGraphNode_t wrong = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateError;
  HIP_OK(hipGraphExecUpdate(exec, graph, &wrong, &result)) << "a whole graph may have other rows";
  launch(exec, stream);
  for (int row = 0; row < 4; ++row) std::fill_n(expected.begin() + row * 16, 2, 1);
  EXPECT_EQ(read_ints(other.get(), 64), expected);
}

// Not the copy that they describe, which has other pointers and pitches.
TEST(GraphNodes, ParametersOfBoxesAreReturnedAsGiven) {
  DeviceBuffer device(4096);
  std::vector<std::byte> host(4096);
  TestGraph graph;
  hipGraphNode_t node = nullptr;
  hipMemcpy3DParms given{};
  given.srcPtr = make_hipPitchedPtr(device.get(), 64, 17, 9);
  given.srcPos = make_hipPos(4, 1, 2);
  given.dstPtr = make_hipPitchedPtr(host.data(), 32, 3, 0);
  given.extent = make_hipExtent(16, 2, 3);
  given.kind = hipMemcpyDeviceToHost;
  HIP_OK(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &given));
  const auto expect_returned = [&] {
    hipMemcpy3DParms told;
    std::memset(&told, 0xee, sizeof told);
    HIP_OK(hipGraphMemcpyNodeGetParams(node, &told));
    EXPECT_EQ(std::memcmp(&told.srcPtr, &given.srcPtr, sizeof told.srcPtr), 0);
    EXPECT_EQ(std::memcmp(&told.srcPos, &given.srcPos, sizeof told.srcPos), 0);
    EXPECT_EQ(std::memcmp(&told.dstPtr, &given.dstPtr, sizeof told.dstPtr), 0);
    EXPECT_EQ(std::memcmp(&told.dstPos, &given.dstPos, sizeof told.dstPos), 0);
    EXPECT_EQ(std::memcmp(&told.extent, &given.extent, sizeof told.extent), 0);
    EXPECT_EQ(told.srcArray, nullptr);
    EXPECT_EQ(told.dstArray, nullptr);
    EXPECT_EQ(told.kind, given.kind);
  };
  expect_returned();
  given.srcPos = make_hipPos(8, 0, 1);
  given.dstPtr.xsize = 5;
  HIP_OK(hipGraphMemcpyNodeSetParams(node, &given));
  expect_returned();
  HIP_OK(hipGraphMemcpyNodeSetParams1D(node, host.data(), device.get(), 48, hipMemcpyDeviceToHost));
  hipMemcpy3DParms told{};
  HIP_OK(hipGraphMemcpyNodeGetParams(node, &told));
  EXPECT_EQ(told.srcPtr.ptr, device.get());
  EXPECT_EQ(told.extent.width, 48u);
}

TEST(GraphNodes, CopiesOfVariables) {
  TestStream stream;
  DeviceBuffer out(16 * sizeof(int));
  std::vector<int> input = counting_ints(16, 5);
  std::vector<int> output(15);
  TestGraph graph;
  hipGraphNode_t to = nullptr;
  hipGraphNode_t from = nullptr;
  HIP_OK(hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, table_symbol(), input.data(), 16 * sizeof(int),
                                       0, hipMemcpyHostToDevice));
  HIP_OK(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, output.data(), table_symbol(),
                                         15 * sizeof(int), sizeof(int), hipMemcpyDeviceToHost));
  hipGraphNodeType type = hipGraphNodeTypeCount;
  HIP_OK(hipGraphNodeGetType(to, &type));
  EXPECT_EQ(type, hipGraphNodeTypeMemcpyToSymbol);
  EXPECT_EQ(hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, table_symbol(), input.data(),
                                          16 * sizeof(int), 4, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  TestExec exec(graph);
  launch(exec, stream);
  EXPECT_EQ(output, counting_ints(15, 6));
  for (int& value : input) value += 45;  // in place: the graph has the address
  launch(exec, stream);
  EXPECT_EQ(output, counting_ints(15, 51));
  launch_read_table(out.get<int>(), stream);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read_ints(out.get(), 16), input);
}

TEST(GraphNodes, ChildGraphs) {
  LoadedModule module;
  TestStream stream;
  DeviceBuffer device(kGraphBytes);
  Increment increment(module.function("increment"), device.get());
  TestGraph child;
  hipGraphNode_t nodes[3] = {};
  HIP_OK(hipGraphAddKernelNode(&nodes[0], child, nullptr, 0, &increment.parameters));
  HIP_OK(hipGraphAddKernelNode(&nodes[1], child, &nodes[0], 1, &increment.parameters));
  TestGraph graph;
  const hipMemsetParams zero = filling(device.get(), 0);
  HIP_OK(hipGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &zero));
  HIP_OK(hipGraphAddChildGraphNode(&nodes[1], graph, &nodes[0], 1, child));
  HIP_OK(hipGraphAddChildGraphNode(&nodes[2], graph, &nodes[1], 1, child));
  hipGraph_t embedded = nullptr;
  HIP_OK(hipGraphChildGraphNodeGetGraph(nodes[1], &embedded));
  std::size_t count = 0;
  HIP_OK(hipGraphGetNodes(embedded, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(hipGraphDestroy(embedded), hipErrorInvalidValue);
  TestExec exec(graph);
  launch(exec, stream);
  launch(exec, stream);
  EXPECT_EQ(read_ints(device.get(), kGraphCount), std::vector<int>(kGraphCount, 4));
}

TEST(GraphNodes, Clones) {
  TestStream stream;
  DeviceBuffer device(kGraphBytes);
  TestGraph graph;
  hipGraphNode_t node = nullptr;
  Fill fill(device.get(), 1);
  HIP_OK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &fill.parameters));
  hipGraph_t copy = nullptr;
  HIP_OK(hipGraphClone(&copy, graph));
  hipGraphNode_t twin = nullptr;
  HIP_OK(hipGraphNodeFindInClone(&twin, node, copy));
  EXPECT_NE(twin, node);
  fill.value = 2;
  HIP_OK(hipGraphKernelNodeSetParams(twin, &fill.parameters));
  TestExec original(graph);
  TestExec changed(copy);
  HIP_OK(hipGraphDestroy(copy));
  EXPECT_EQ(hipGraphDestroy(copy), hipErrorInvalidValue);
  launch(original, stream);
  EXPECT_EQ(read_ints(device.get(), kGraphCount), counting_ints(kGraphCount, 1));
  launch(changed, stream);
  EXPECT_EQ(read_ints(device.get(), kGraphCount), counting_ints(kGraphCount, 2));
}

TEST(GraphNodes, WrongArguments) {
  TestGraph graph;
  DeviceBuffer device(kGraphBytes);
  hipGraphNode_t node = nullptr;
  Fill fill(device.get(), 1);
  EXPECT_EQ(hipGraphAddKernelNode(nullptr, graph, nullptr, 0, &fill.parameters), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddKernelNode(&node, nullptr, nullptr, 0, &fill.parameters), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddKernelNode(&node, graph, nullptr, 1, &fill.parameters), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddKernelNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  fill.parameters.blockDim = dim3(0, 1, 1);
  EXPECT_EQ(hipGraphAddKernelNode(&node, graph, nullptr, 0, &fill.parameters), hipErrorInvalidConfiguration);
  fill.parameters.func = &fill;
  EXPECT_NE(hipGraphAddKernelNode(&node, graph, nullptr, 0, &fill.parameters), hipSuccess);
  hipMemsetParams beyond = filling(device.get(), 0);
  beyond.width = kGraphCount + 1;
  EXPECT_EQ(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &beyond), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT_TRUE(graph.nodes().empty());
  EXPECT_EQ(hipGraphCreate(nullptr, 0), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
