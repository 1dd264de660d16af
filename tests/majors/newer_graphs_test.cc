// SPDX-License-Identifier: Apache-2.0
// Graphs since HIP 5.6: nodes of every kind through one struct, nodes in the driver's style, captures into a
// graph of the program, flags. Numbers and layouts are those of the vendor's headers of 6.4.3 and 7.2.4.
#include <vector>

#include "tests/api/fills.h"
#include "tests/majors/graphs.h"

namespace tf::majors {
namespace {

constexpr int kCount = 256;
constexpr std::size_t kGraphBytes = kCount * sizeof(int);

// HIP_MEMSET_NODE_PARAMS of HIP 6; hipDrvGraph* take hipMemsetParams in HIP 7.
struct DriverFill {
  void* target;
  std::size_t pitch;
  unsigned value;
  unsigned element_bytes;
  std::size_t width;
  std::size_t height;
};

hipGraphNodeParams parameters_of(int type) {
  hipGraphNodeParams parameters{};
  parameters.type = type;
  return parameters;
}

const HIP_MEMCPY3D* passed(const Copy3D<std::size_t>& copy) {
  return reinterpret_cast<const HIP_MEMCPY3D*>(&copy);
}

class NewerGraphs : public Graphs {
 protected:
  void SetUp() override {
    Graphs::SetUp();
    if (major_ >= 6) buffer_ = allocate(kGraphBytes);
  }
  void TearDown() override {
    Graphs::TearDown();
    if (major_ < 6) return;
    EXPECT_EQ(HIP(hipFree)(buffer_), hipSuccess);
  }

  hipCtx_t context() const {
    hipCtx_t current = nullptr;
    EXPECT_EQ(get<hipError_t(hipCtx_t*)>("hipCtxGetCurrent")(&current), hipSuccess);
    return current;
  }
  // After `before`, unless that is null.
  hipGraphNode_t add(hipGraphNodeParams parameters, hipGraphNode_t before = nullptr) const {
    return add_to(graph_, parameters, before);
  }
  hipGraphNode_t add_to(hipGraph_t graph, hipGraphNodeParams& parameters,
                        hipGraphNode_t before = nullptr) const {
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(HIP(hipGraphAddNode)(&node, graph, &before, before != nullptr ? 1 : 0, &parameters),
              hipSuccess);
    return node;
  }
  hipGraphNodeParams filling_node(unsigned value) const {
    hipGraphNodeParams parameters = parameters_of(kFill);
    parameters.memset = api_test::filling(buffer_, value, kCount);
    return parameters;
  }
  hipGraphNodeParams copying_node(void* target, void* source) const {
    hipGraphNodeParams parameters = parameters_of(kCopy);
    hipMemcpy3DParms& copy = parameters.memcpy.copyParams;
    copy.dstPtr = make_hipPitchedPtr(target, kGraphBytes, kGraphBytes, 1);
    copy.srcPtr = make_hipPitchedPtr(source, kGraphBytes, kGraphBytes, 1);
    copy.extent = make_hipExtent(kGraphBytes, 1, 1);
    copy.kind = hipMemcpyDeviceToHost;
    return parameters;
  }
  Copy3D<std::size_t> to_host(void* target) const {
    Copy3D<std::size_t> copy{};
    copy.src_type = device_type();
    copy.src_device = buffer_;
    copy.src_pitch = kGraphBytes;
    copy.dst_type = host_type();
    copy.dst_host = target;
    copy.dst_pitch = kGraphBytes;
    copy.width = kGraphBytes;
    copy.height = 1;
    copy.depth = 1;
    return copy;
  }
  // Calls body(pointer to what this major's hipDrvGraph*Memset* take).
  template <typename Body>
  hipError_t with_fill(unsigned value, Body&& body) const {
    const hipMemsetParams newer = api_test::filling(buffer_, value, kCount);
    const DriverFill older{buffer_, 0, value, 4, kCount, 1};
    return body(major_ >= 7 ? &newer : reinterpret_cast<const hipMemsetParams*>(&older));
  }
  std::vector<int> all(int value) const { return std::vector<int>(kCount, value); }

  void* buffer_ = nullptr;
  std::vector<int> numbers_ = std::vector<int>(kCount);
};

TEST_F(NewerGraphs, NodesAreAddedAndChanged) {
  const hipModule_t module = load();
  int count = kCount;
  void* arguments[] = {&buffer_, &count};
  hipGraphNodeParams kernel = parameters_of(kKernel);
  kernel.kernel.func = reinterpret_cast<void*>(kernel_of(module, "increment"));
  kernel.kernel.gridDim = dim3(2, 1, 1);
  kernel.kernel.blockDim = dim3(128, 1, 1);
  kernel.kernel.kernelParams = arguments;
  hipGraphNodeParams copy = copying_node(numbers_.data(), buffer_);
  const hipGraphNode_t filled = add(filling_node(4));
  const hipGraphNode_t incremented = add(kernel, filled);
  const hipGraphNode_t copied = add(copy, incremented);
  EXPECT_EQ(type_of(filled), kFill);
  EXPECT_EQ(type_of(incremented), kKernel);
  EXPECT_EQ(type_of(copied), kCopy);
  const hipGraphExec_t exec = instantiate();
  run(exec);
  EXPECT_EQ(numbers_, all(5));
  hipGraphNodeParams eights = filling_node(8);
  ASSERT_EQ(HIP(hipGraphExecNodeSetParams)(exec, filled, &eights), hipSuccess);
  run(exec);
  EXPECT_EQ(numbers_, all(9));
  EXPECT_EQ(HIP(hipGraphExecNodeSetParams)(exec, filled, &copy), kInvalid) << "another kind of node";
  destroy(exec);
  eights.memset.value = 20;
  ASSERT_EQ(HIP(hipGraphNodeSetParams)(filled, &eights), hipSuccess);
  const hipGraphExec_t other = instantiate();
  run(other);
  EXPECT_EQ(numbers_, all(21));
  EXPECT_EQ(HIP(hipGraphNodeSetParams)(filled, &kernel), kInvalid) << "another kind of node";
  destroy(other);
  EXPECT_EQ(HIP(hipModuleUnload)(module), hipSuccess);
}

TEST_F(NewerGraphs, HostFunctionsEventsMemoryAndChildGraphs) {
  const hipGraph_t child = create();
  int calls = 0;
  hipGraphNodeParams host = parameters_of(kHost);
  host.host = {[](void* counter) { ++*static_cast<int*>(counter); }, &calls};
  ASSERT_NE(add_to(child, host), nullptr);
  hipGraphNodeParams inner = parameters_of(kGraph);
  inner.graph.graph = child;
  hipGraphNode_t node = add(inner);
  EXPECT_EQ(type_of(node), kGraph);
  hipEvent_t event = nullptr;
  ASSERT_EQ(HIP(hipEventCreate)(&event), hipSuccess);
  hipGraphNodeParams record = parameters_of(kRecord);
  record.eventRecord.event = event;
  node = add(record, node);
  EXPECT_EQ(type_of(node), kRecord);
  hipGraphNodeParams wait = parameters_of(kWait);
  wait.eventWait.event = event;
  node = add(wait, node);
  EXPECT_EQ(type_of(node), kWait);
  hipGraphNodeParams memory = parameters_of(kAllocate);
  memory.alloc.poolProps.allocType = hipMemAllocationTypePinned;
  memory.alloc.poolProps.location = {hipMemLocationTypeDevice, 0};
  memory.alloc.bytesize = kGraphBytes;
  node = add_to(graph_, memory, node);
  EXPECT_EQ(type_of(node), kAllocate);
  ASSERT_NE(memory.alloc.dptr, nullptr);
  hipGraphNodeParams free = parameters_of(kFree);
  free.free.dptr = memory.alloc.dptr;
  node = add(free, node);
  EXPECT_EQ(type_of(node), kFree);
  EXPECT_EQ(HIP(hipGraphNodeSetParams)(node, &free), hipErrorNotSupported);
  const hipGraphExec_t exec = instantiate();
  run(exec);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(HIP(hipEventQuery)(event), hipSuccess);
  destroy(exec);
  EXPECT_EQ(HIP(hipEventDestroy)(event), hipSuccess);
  EXPECT_EQ(HIP(hipGraphDestroy)(child), hipSuccess);
}

TEST_F(NewerGraphs, WrongNodesAreRefused) {
  hipGraphNode_t node = nullptr;
  hipGraphNodeParams parameters = parameters_of(kEmpty);
  const auto add_one = get<decltype(hipGraphAddNode)>("hipGraphAddNode");
  EXPECT_EQ(add_one(nullptr, graph_, nullptr, 0, &parameters), kInvalid);
  EXPECT_EQ(add_one(&node, nullptr, nullptr, 0, &parameters), kInvalid);
  EXPECT_EQ(add_one(&node, graph_, nullptr, 1, &parameters), kInvalid);
  EXPECT_EQ(add_one(&node, graph_, nullptr, 0, nullptr), kInvalid);
  for (const int type : {-1, static_cast<int>(kOperations), 77}) {
    parameters.type = type;
    EXPECT_EQ(add_one(&node, graph_, nullptr, 0, &parameters), kInvalid) << type;
  }
  parameters.type = kSignalSemaphore;
  EXPECT_EQ(add_one(&node, graph_, nullptr, 0, &parameters), kInvalid) << "no lists";
  parameters.type = kHost;
  EXPECT_EQ(add_one(&node, graph_, nullptr, 0, &parameters), kInvalid) << "no function";
  EXPECT_EQ(node, nullptr);
  EXPECT_EQ(HIP(hipGraphNodeSetParams)(nullptr, &parameters), kInvalid);
  EXPECT_EQ(HIP(hipGraphNodeSetParams)(add(parameters_of(kEmpty)), nullptr), kInvalid);
  EXPECT_EQ(HIP(hipGraphExecNodeSetParams)(nullptr, node, &parameters), kInvalid);
}

TEST_F(NewerGraphs, NodesInTheDriversStyle) {
  hipGraphNode_t filled = nullptr;
  hipGraphNode_t copied = nullptr;
  const auto fill = [&](const hipMemsetParams* threes) {
    return HIP(hipDrvGraphAddMemsetNode)(&filled, graph_, nullptr, 0, threes, nullptr);
  };
  ASSERT_EQ(with_fill(3, fill), hipSuccess);
  const Copy3D<std::size_t> copy = to_host(numbers_.data());
  ASSERT_EQ(HIP(hipDrvGraphAddMemcpyNode)(&copied, graph_, &filled, 1, passed(copy), context()), hipSuccess);
  Copy3D<std::size_t> told{};
  const auto tell = [&] {
    return HIP(hipDrvGraphMemcpyNodeGetParams)(copied, reinterpret_cast<HIP_MEMCPY3D*>(&told));
  };
  ASSERT_EQ(tell(), hipSuccess);
  EXPECT_EQ(told.src_type, device_type());
  EXPECT_EQ(told.src_device, buffer_);
  EXPECT_EQ(told.dst_type, host_type());
  EXPECT_EQ(told.dst_host, numbers_.data());
  EXPECT_EQ(told.width, kGraphBytes);
  EXPECT_EQ(told.height, 1u);
  EXPECT_EQ(told.depth, 1u);
  const hipGraphExec_t exec = instantiate();
  run(exec);
  EXPECT_EQ(numbers_, all(3));
  const auto refill = [&](const hipMemsetParams* sixes) {
    return HIP(hipDrvGraphExecMemsetNodeSetParams)(exec, filled, sixes, nullptr);
  };
  ASSERT_EQ(with_fill(6, refill), hipSuccess);
  std::vector<int> elsewhere(kCount);
  const Copy3D<std::size_t> moved = to_host(elsewhere.data());
  ASSERT_EQ(HIP(hipDrvGraphExecMemcpyNodeSetParams)(exec, copied, passed(moved), nullptr), hipSuccess);
  run(exec);
  EXPECT_EQ(elsewhere, all(6));
  EXPECT_EQ(numbers_, all(3));
  ASSERT_EQ(HIP(hipDrvGraphMemcpyNodeSetParams)(copied, passed(moved)), hipSuccess);
  ASSERT_EQ(tell(), hipSuccess);
  EXPECT_EQ(told.dst_host, elsewhere.data());
  destroy(exec);
}

TEST_F(NewerGraphs, WrongNodesInTheDriversStyleAreRefused) {
  hipGraphNode_t node = nullptr;
  Copy3D<std::size_t> copy = to_host(numbers_.data());
  const auto add_copy = [&](hipGraphNode_t* made, const HIP_MEMCPY3D* parameters) {
    return HIP(hipDrvGraphAddMemcpyNode)(made, graph_, nullptr, 0, parameters, context());
  };
  EXPECT_EQ(add_copy(&node, nullptr), kInvalid);
  EXPECT_EQ(add_copy(nullptr, passed(copy)), kInvalid);
  EXPECT_EQ(HIP(hipDrvGraphAddMemcpyNode)(&node, graph_, nullptr, 0, passed(copy), nullptr), kInvalid)
      << "no context";
  EXPECT_EQ(HIP(hipDrvGraphAddMemsetNode)(&node, graph_, nullptr, 0, nullptr, nullptr), kInvalid);
  copy.dst_host = nullptr;
  EXPECT_EQ(add_copy(&node, passed(copy)), kInvalid);
  copy = to_host(numbers_.data());
  copy.width = 0;
  EXPECT_EQ(add_copy(&node, passed(copy)), kInvalid);
  EXPECT_EQ(HIP(hipDrvGraphAddMemFreeNode)(&node, graph_, nullptr, 0, buffer_), kInvalid)
      << "not memory of a graph";
  EXPECT_EQ(HIP(hipDrvGraphMemcpyNodeGetParams)(nullptr, reinterpret_cast<HIP_MEMCPY3D*>(&copy)), kInvalid);
  EXPECT_EQ(
      HIP(hipDrvGraphExecMemcpyNodeSetParams)(nullptr, nullptr, passed(to_host(numbers_.data())), nullptr),
      kInvalid);
  EXPECT_EQ(node, nullptr);
}

TEST_F(NewerGraphs, InstantiatedWithParameters) {
  constexpr unsigned long long kUpload = 2, kNodePriority = 8;
  hipGraphExec_t exec = nullptr;
  hipGraphInstantiateParams parameters{};
  parameters.result_out = hipGraphInstantiateInvalidStructure;
  parameters.flags = kUpload;
  const auto with = get<decltype(hipGraphInstantiateWithParams)>("hipGraphInstantiateWithParams");
  const auto get_flags = get<decltype(hipGraphExecGetFlags)>("hipGraphExecGetFlags");
  ASSERT_EQ(with(&exec, graph_, &parameters), hipSuccess);
  EXPECT_EQ(parameters.result_out, hipGraphInstantiateSuccess);
  EXPECT_EQ(parameters.errNode_out, nullptr);
  unsigned long long flags = 0;
  EXPECT_EQ(get_flags(exec, &flags), hipSuccess);
  EXPECT_EQ(flags, kUpload);
  EXPECT_EQ(get_flags(exec, nullptr), kInvalid);
  EXPECT_EQ(get_flags(nullptr, &flags), kInvalid);
  destroy(exec);
  EXPECT_EQ(get_flags(exec, &flags), kInvalid);
  parameters.flags = 1024;
  EXPECT_EQ(with(&exec, graph_, &parameters), kInvalid);
  EXPECT_EQ(parameters.result_out, hipGraphInstantiateError);
  parameters.flags = kUpload | kNodePriority;
  EXPECT_EQ(with(&exec, graph_, &parameters), kInvalid) << "one at a time";
  EXPECT_EQ(with(&exec, graph_, nullptr), kInvalid);
  EXPECT_EQ(with(nullptr, graph_, &parameters), kInvalid);
  EXPECT_EQ(HIP(hipGraphInstantiateWithFlags)(&exec, graph_, kUpload), kInvalid);
  ASSERT_EQ(HIP(hipGraphInstantiateWithFlags)(&exec, graph_, kNodePriority), hipSuccess);
  destroy(exec);
}

TEST_F(NewerGraphs, CapturedIntoAGraphBehindItsNodes) {
  const hipGraphNode_t filled = add(filling_node(2));
  add(parameters_of(kEmpty));  // no part of the capture
  const auto begin = get<decltype(hipStreamBeginCaptureToGraph)>("hipStreamBeginCaptureToGraph");
  ASSERT_EQ(begin(stream_, graph_, &filled, nullptr, 1, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(HIP(hipGraphDestroy)(graph_), kInvalid) << "it is captured into";
  ASSERT_EQ(HIP(hipMemcpyAsync)(numbers_.data(), buffer_, kGraphBytes, hipMemcpyDeviceToHost, stream_),
            hipSuccess);
  hipGraph_t ended = nullptr;
  ASSERT_EQ(HIP(hipStreamEndCapture)(stream_, &ended), hipSuccess);
  EXPECT_EQ(ended, graph_);
  std::size_t count = 0;
  EXPECT_EQ(HIP(hipGraphGetNodes)(graph_, nullptr, &count), hipSuccess);
  EXPECT_EQ(count, 3u);
  const hipGraphExec_t exec = instantiate();
  run(exec);
  EXPECT_EQ(numbers_, all(2));
  destroy(exec);
}

TEST_F(NewerGraphs, AFailedCaptureLeavesTheGraphToTheProgram) {
  const auto begin = get<decltype(hipStreamBeginCaptureToGraph)>("hipStreamBeginCaptureToGraph");
  ASSERT_EQ(begin(stream_, graph_, nullptr, nullptr, 0, hipStreamCaptureModeRelaxed), hipSuccess);
  EXPECT_EQ(HIP(hipStreamSynchronize)(stream_), hipErrorStreamCaptureUnsupported);
  hipGraph_t ended = nullptr;
  EXPECT_EQ(HIP(hipStreamEndCapture)(stream_, &ended), hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(ended, nullptr);
  EXPECT_NE(add(parameters_of(kEmpty)), nullptr);
}

TEST_F(NewerGraphs, CapturedIntoAGraphInsideAGraph) {
  const hipGraph_t inner = create();
  hipGraphNodeParams fill = filling_node(3);
  add_to(inner, fill);
  hipGraphNodeParams whole = parameters_of(kGraph);
  whole.graph.graph = inner;
  const hipGraphNode_t outer = add(whole);
  ASSERT_EQ(HIP(hipGraphDestroy)(inner), hipSuccess);
  hipGraph_t copy = nullptr;
  ASSERT_EQ(HIP(hipGraphChildGraphNodeGetGraph)(outer, &copy), hipSuccess);
  std::size_t count = 1;
  hipGraphNode_t first = nullptr;
  ASSERT_EQ(HIP(hipGraphGetNodes)(copy, &first, &count), hipSuccess);
  const auto begin = get<decltype(hipStreamBeginCaptureToGraph)>("hipStreamBeginCaptureToGraph");
  ASSERT_EQ(begin(stream_, copy, &first, nullptr, 1, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(begin(stream_, copy, nullptr, nullptr, 0, hipStreamCaptureModeGlobal), kInvalid)
      << "a second one";
  EXPECT_EQ(HIP(hipGraphDestroyNode)(first), kInvalid) << "the capture refers to it";
  ASSERT_EQ(HIP(hipMemcpyAsync)(numbers_.data(), buffer_, kGraphBytes, hipMemcpyDeviceToHost, stream_),
            hipSuccess);
  hipGraph_t ended = nullptr;
  ASSERT_EQ(HIP(hipStreamEndCapture)(stream_, &ended), hipSuccess);
  EXPECT_EQ(ended, copy);
  EXPECT_EQ(HIP(hipGraphDestroy)(copy), kInvalid) << "it is still the node's";
  const hipGraphExec_t exec = instantiate();
  run(exec);
  EXPECT_EQ(numbers_, all(3));
  destroy(exec);
}

TEST_F(NewerGraphs, ACaptureLosesTheGraphInsideAGraph) {
  const hipGraph_t inner = create();
  hipGraphNodeParams whole = parameters_of(kGraph);
  whole.graph.graph = inner;
  const hipGraphNode_t outer = add(whole);
  ASSERT_EQ(HIP(hipGraphDestroy)(inner), hipSuccess);
  hipGraph_t copy = nullptr;
  ASSERT_EQ(HIP(hipGraphChildGraphNodeGetGraph)(outer, &copy), hipSuccess);
  const auto begin = get<decltype(hipStreamBeginCaptureToGraph)>("hipStreamBeginCaptureToGraph");
  ASSERT_EQ(begin(stream_, copy, nullptr, nullptr, 0, hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_EQ(HIP(hipMemsetAsync)(buffer_, 1, kGraphBytes, stream_), hipSuccess);
  ASSERT_EQ(HIP(hipGraphDestroyNode)(outer), hipSuccess);
  EXPECT_EQ(HIP(hipMemsetAsync)(buffer_, 1, kGraphBytes, stream_), hipErrorStreamCaptureInvalidated);
  hipGraph_t ended = nullptr;
  EXPECT_EQ(HIP(hipStreamEndCapture)(stream_, &ended), hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(ended, nullptr);
  EXPECT_EQ(HIP(hipMemsetAsync)(buffer_, 1, kGraphBytes, stream_), hipSuccess) << "and works again";
}

TEST_F(NewerGraphs, WrongCapturesIntoAGraphAreRefused) {
  const hipGraph_t other = create();
  hipGraphNodeParams empty = parameters_of(kEmpty);
  const hipGraphNode_t node = add_to(other, empty);
  const hipGraphEdgeData edge{};
  const auto capture = get<decltype(hipStreamBeginCaptureToGraph)>("hipStreamBeginCaptureToGraph");
  const auto begin = [&](hipGraph_t into, const hipGraphNode_t* nodes, const hipGraphEdgeData* edges,
                         std::size_t count) {
    return capture(stream_, into, nodes, edges, count, hipStreamCaptureModeGlobal);
  };
  EXPECT_EQ(begin(nullptr, nullptr, nullptr, 0), kInvalid);
  EXPECT_EQ(begin(graph_, nullptr, nullptr, 1), kInvalid);
  EXPECT_EQ(begin(graph_, &node, nullptr, 0), kInvalid);
  EXPECT_EQ(begin(graph_, &node, nullptr, 1), kInvalid) << "a node of the other";
  EXPECT_EQ(begin(other, &node, &edge, 1), hipErrorNotSupported);
  EXPECT_EQ(capture(nullptr, graph_, nullptr, nullptr, 0, hipStreamCaptureModeGlobal),
            hipErrorStreamCaptureUnsupported);
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  EXPECT_EQ(HIP(hipStreamIsCapturing)(stream_, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  EXPECT_EQ(HIP(hipGraphDestroy)(other), hipSuccess);
}

}  // namespace
}  // namespace tf::majors
