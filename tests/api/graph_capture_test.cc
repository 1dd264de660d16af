// SPDX-License-Identifier: Apache-2.0
// The rules of capture: what it refuses, and what it says of itself.
#include <functional>
#include <thread>
#include <vector>

#include "tests/api/graph_fixture.h"

namespace tf::api_test {
namespace {

// Ends a capture that is to have failed.
void expect_end(hipStream_t stream, hipError_t error) {
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), error);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(capture_status(stream), hipStreamCaptureStatusNone);
}

TEST(Capture, NullArguments) {
  TestStream stream;
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamBeginCapture(stream, static_cast<hipStreamCaptureMode>(3)), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamEndCapture(stream, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
  EXPECT_EQ(hipStreamIsCapturing(stream, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamGetCaptureInfo(stream, nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphInstantiate(nullptr, nullptr, nullptr, nullptr, 0), hipErrorInvalidValue);
  hipGraphExec_t exec = nullptr;
  EXPECT_EQ(hipGraphInstantiate(&exec, nullptr, nullptr, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphLaunch(nullptr, stream), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphExecDestroy(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphDestroy(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphGetNodes(nullptr, nullptr, nullptr), hipErrorInvalidValue);
}

TEST(Capture, CannotBeginTwice) {
  TestStream stream;
  begin_capture(stream);
  EXPECT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorIllegalState);
  TestGraph graph(stream);
}

TEST(Capture, SynchronizingInvalidates) {
  TestStream stream;
  DeviceBuffer device(64);
  for (int i = 0; i < 3; ++i) {
    begin_capture(stream);
    const hipError_t refused = i == 0   ? hipStreamSynchronize(stream)
                               : i == 1 ? hipStreamQuery(stream)
                                        : hipDeviceSynchronize();
    EXPECT_EQ(refused, hipErrorStreamCaptureUnsupported);
    EXPECT_EQ(capture_status(stream), hipStreamCaptureStatusInvalidated);
    EXPECT_EQ(hipMemsetAsync(device.get(), 1, 64, stream), hipErrorStreamCaptureInvalidated);
    expect_end(stream, hipErrorStreamCaptureInvalidated);
  }
  HIP_OK(hipMemsetAsync(device.get(), 2, 64, stream));  // and works again
  HIP_OK(hipStreamSynchronize(stream));
}

TEST(Capture, SynchronousCopyOnTheStreamInvalidates) {
  TestStream stream;
  DeviceBuffer device(64);
  char host[64] = {};
  begin_capture(stream);
  EXPECT_EQ(hipMemcpyWithStream(device.get(), host, 64, hipMemcpyHostToDevice, stream),
            hipErrorStreamCaptureUnsupported);
  expect_end(stream, hipErrorStreamCaptureInvalidated);
}

TEST(Capture, CapturedEventsCannotBeAsked) {
  TestStream stream;
  TestEvent event;
  begin_capture(stream);
  HIP_OK(hipEventRecord(event, stream));
  EXPECT_EQ(hipEventQuery(event), hipErrorCapturedEvent);
  expect_end(stream, hipErrorStreamCaptureInvalidated);
  begin_capture(stream);
  HIP_OK(hipEventRecord(event, stream));
  EXPECT_EQ(hipEventSynchronize(event), hipErrorCapturedEvent);
  expect_end(stream, hipErrorStreamCaptureInvalidated);
  HIP_OK(hipEventRecord(event, stream));
  HIP_OK(hipEventSynchronize(event));
}

TEST(Capture, UnjoinedStreams) {
  TestStream origin;
  TestStream other;
  TestEvent fork(hipEventDisableTiming);
  DeviceBuffer device(64);
  begin_capture(origin);
  HIP_OK(hipMemsetAsync(device.get(), 1, 64, origin));
  HIP_OK(hipEventRecord(fork, origin));
  HIP_OK(hipStreamWaitEvent(other, fork, 0));
  HIP_OK(hipMemsetAsync(device.get(), 2, 64, other));
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamEndCapture(other, &graph), hipErrorStreamCaptureUnmatched);
  EXPECT_EQ(capture_status(origin), hipStreamCaptureStatusActive);
  expect_end(origin, hipErrorStreamCaptureUnjoined);
  EXPECT_EQ(capture_status(other), hipStreamCaptureStatusNone);
}

// A stream that only lives for the branch, as in many programs. The capture goes on without it.
TEST(Capture, DestroyingAStreamThatHasJoinedAgain) {
  TestStream origin;
  hipStream_t branch = nullptr;
  TestEvent fork(hipEventDisableTiming);
  TestEvent join(hipEventDisableTiming);
  DeviceBuffer device(64);
  begin_capture(origin);
  HIP_OK(hipEventRecord(fork, origin));
  HIP_OK(hipStreamCreateWithFlags(&branch, hipStreamNonBlocking));
  HIP_OK(hipStreamWaitEvent(branch, fork, 0));
  HIP_OK(hipMemsetAsync(device.get(), 5, 64, branch));
  HIP_OK(hipEventRecord(join, branch));
  HIP_OK(hipStreamWaitEvent(origin, join, 0));
  HIP_OK(hipStreamDestroy(branch));
  EXPECT_EQ(capture_status(origin), hipStreamCaptureStatusActive);
  HIP_OK(hipMemsetAsync(device.get(), 6, 32, origin));
  TestGraph graph(origin);
  EXPECT_EQ(graph.nodes().size(), 2u);
  TestExec exec(graph);
  HIP_OK(hipGraphLaunch(exec, origin));
  HIP_OK(hipStreamSynchronize(origin));
  unsigned char back[64] = {};
  HIP_OK(hipMemcpy(back, device.get(), sizeof back, hipMemcpyDeviceToHost));
  EXPECT_EQ(back[0], 6);
  EXPECT_EQ(back[63], 5);
}

TEST(Capture, DestroyingAStreamThatHasNotJoinedAgain) {
  TestStream origin;
  hipStream_t branch = nullptr;
  TestEvent fork(hipEventDisableTiming);
  DeviceBuffer device(64);
  HIP_OK(hipStreamCreate(&branch));
  begin_capture(origin);
  HIP_OK(hipEventRecord(fork, origin));
  HIP_OK(hipStreamWaitEvent(branch, fork, 0));
  HIP_OK(hipMemsetAsync(device.get(), 5, 64, branch));
  HIP_OK(hipStreamDestroy(branch));
  expect_end(origin, hipErrorStreamCaptureUnjoined);
}

TEST(Capture, DependenciesOnTheOutside) {
  TestStream stream;
  TestStream outside;
  TestEvent event(hipEventDisableTiming);
  HIP_OK(hipEventRecord(event, outside));
  begin_capture(stream);
  EXPECT_EQ(hipStreamWaitEvent(stream, event, 0), hipErrorStreamCaptureIsolation);
  expect_end(stream, hipErrorStreamCaptureInvalidated);
}

TEST(Capture, MergingTwoCaptures) {
  TestStream first;
  TestStream second;
  TestEvent event(hipEventDisableTiming);
  begin_capture(first);
  begin_capture(second);
  HIP_OK(hipEventRecord(event, first));
  EXPECT_EQ(hipStreamWaitEvent(second, event, 0), hipErrorStreamCaptureMerge);
  expect_end(first, hipErrorStreamCaptureInvalidated);
  expect_end(second, hipErrorStreamCaptureInvalidated);
}

TEST(Capture, TheLegacyStream) {
  DeviceBuffer device(64);
  char host[64] = {};
  {
    TestStream blocking;
    begin_capture(blocking);
    EXPECT_EQ(hipMemsetAsync(device.get(), 1, 64, nullptr), hipErrorStreamCaptureImplicit);
    expect_end(blocking, hipErrorStreamCaptureInvalidated);
    begin_capture(blocking);
    EXPECT_EQ(hipMemcpy(device.get(), host, 64, hipMemcpyHostToDevice), hipErrorStreamCaptureImplicit);
    expect_end(blocking, hipErrorStreamCaptureInvalidated);
  }
  TestStream apart(hipStreamNonBlocking);
  begin_capture(apart);
  HIP_OK(hipMemsetAsync(device.get(), 1, 64, nullptr));
  HIP_OK(hipMemcpy(device.get(), host, 64, hipMemcpyHostToDevice));
  EXPECT_EQ(capture_status(apart), hipStreamCaptureStatusActive);
  TestGraph graph(apart);
}

TEST(Capture, OtherStreamsGoOn) {
  TestStream captured;
  TestStream other;
  TestEvent event;
  DeviceBuffer device(64);
  begin_capture(captured);
  HIP_OK(hipMemsetAsync(device.get(), 7, 64, other));
  HIP_OK(hipEventRecord(event, other));
  HIP_OK(hipEventSynchronize(event));
  HIP_OK(hipMemsetAsync(device.get(), 8, 64, captured));
  TestGraph graph(captured);
  EXPECT_EQ(graph.nodes().size(), 1u);
  unsigned char back = 0;
  HIP_OK(hipMemcpy(&back, device.get(), 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, 7);
}

TEST(Capture, EndsInItsThread) {
  TestStream stream;
  begin_capture(stream);
  hipError_t error = hipSuccess;
  const auto end = [&] {
    hipGraph_t graph = nullptr;
    error = hipStreamEndCapture(stream, &graph);
    if (error == hipSuccess) error = hipGraphDestroy(graph);
  };
  std::thread(end).join();
  EXPECT_EQ(error, hipErrorStreamCaptureWrongThread);
  end();
  EXPECT_EQ(error, hipSuccess);
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  std::thread(end).join();
  EXPECT_EQ(error, hipSuccess);
}

TEST(Capture, DestroyingACapturedStream) {
  hipStream_t origin = nullptr;
  HIP_OK(hipStreamCreate(&origin));
  begin_capture(origin);
  HIP_OK(hipStreamDestroy(origin));
  TestStream stream;
  EXPECT_EQ(capture_status(stream), hipStreamCaptureStatusNone);
  HIP_OK(hipDeviceSynchronize());
}

TEST(Capture, Info) {
  TestStream stream;
  DeviceBuffer device(64);
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  unsigned long long id = 0;
  HIP_OK(hipStreamGetCaptureInfo(stream, &status, &id));
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  begin_capture(stream);
  HIP_OK(hipMemsetAsync(device.get(), 1, 64, stream));
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* dependencies = nullptr;
  std::size_t count = 0;
  HIP_OK(hipStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &dependencies, &count));
  EXPECT_EQ(status, hipStreamCaptureStatusActive);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  hipGraphNodeType type = hipGraphNodeTypeCount;
  HIP_OK(hipGraphNodeGetType(dependencies[0], &type));
  EXPECT_EQ(type, hipGraphNodeTypeMemset);
  EXPECT_EQ(hipGraphDestroy(graph), hipErrorInvalidValue);  // the capture's still

  // As RCCL does: a node of one's own in the middle of the capture.
  hipGraphNode_t node = nullptr;
  HIP_OK(hipGraphAddEmptyNode(&node, graph, dependencies, count));
  HIP_OK(hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies));
  HIP_OK(hipMemsetAsync(device.get(), 2, 64, stream));
  TestGraph captured(stream);
  ASSERT_EQ(captured.nodes().size(), 3u);
  count = 0;
  HIP_OK(hipGraphNodeGetDependencies(captured.nodes()[2], nullptr, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(hipStreamUpdateCaptureDependencies(stream, &node, 1, hipStreamSetCaptureDependencies),
            hipErrorIllegalState);
}

TEST(Capture, ThreadMode) {
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  HIP_OK(hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeGlobal);
  HIP_OK(hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
  EXPECT_EQ(hipThreadExchangeStreamCaptureMode(nullptr), hipErrorInvalidValue);
}

// One row of one slice is a line, in whatever form the program says it.
TEST(Capture, ACopyIsALineByItsShape) {
  DeviceBuffer source(4096);
  DeviceBuffer target(4096);
  TestStream stream;
  const auto type_of = [&](auto&& copy) {
    begin_capture(stream);
    EXPECT_EQ(copy(), hipSuccess);
    const TestGraph graph(stream);
    hipGraphNodeType type = hipGraphNodeTypeEmpty;
    EXPECT_EQ(graph.nodes().size(), 1u);
    EXPECT_EQ(hipGraphNodeGetType(graph.nodes().at(0), &type), hipSuccess);
    return type;
  };
  EXPECT_EQ(type_of([&] {
              return hipMemcpyAsync(target.get(), source.get(), 64, hipMemcpyDeviceToDevice, stream);
            }),
            hipGraphNodeTypeMemcpy1D);
  for (const unsigned rows : {1u, 2u}) {
    const hipGraphNodeType wanted = rows == 1 ? hipGraphNodeTypeMemcpy1D : hipGraphNodeTypeMemcpy;
    EXPECT_EQ(type_of([&] {
                return hipMemcpy2DAsync(target.get(), 80, source.get(), 96, 64, rows, hipMemcpyDeviceToDevice,
                                        stream);
              }),
              wanted);
    hip_Memcpy2D plain = {};
    plain.srcMemoryType = plain.dstMemoryType = hipMemoryTypeDevice;
    plain.srcDevice = source.get();
    plain.dstDevice = target.get();
    plain.srcPitch = plain.dstPitch = 96;
    plain.WidthInBytes = 64;
    plain.Height = rows;
    EXPECT_EQ(type_of([&] { return hipMemcpyParam2DAsync(&plain, stream); }), wanted);
    for (const unsigned slices : {1u, 2u}) {
      const hipGraphNodeType type = slices == 1 ? wanted : hipGraphNodeTypeMemcpy;
      hipMemcpy3DParms box = {};
      box.srcPtr = make_hipPitchedPtr(source.get(), 96, 96, 4);
      box.dstPtr = make_hipPitchedPtr(target.get(), 96, 96, 4);
      box.extent = make_hipExtent(64, rows, slices);
      box.kind = hipMemcpyDeviceToDevice;
      EXPECT_EQ(type_of([&] { return hipMemcpy3DAsync(&box, stream); }), type);
      HIP_MEMCPY3D driver = {};
      driver.srcMemoryType = driver.dstMemoryType = hipMemoryTypeDevice;
      driver.srcDevice = source.get();
      driver.dstDevice = target.get();
      driver.srcPitch = driver.dstPitch = 96;
      driver.srcHeight = driver.dstHeight = 4;
      driver.WidthInBytes = 64;
      driver.Height = rows;
      driver.Depth = slices;
      EXPECT_EQ(type_of([&] { return hipDrvMemcpy3DAsync(&driver, stream); }), type);
    }
  }
}

// What AMD's runtime refuses, too: it allocates, frees, or asks about arrays.
TEST(Capture, UnsafeCallsInvalidate) {
  TestStream stream;
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  std::vector<std::byte> own(64);
  void* memory = nullptr;
  std::size_t pitch = 0;
  hipPitchedPtr pitched{};
  hipArray_t array = nullptr;
  const hipChannelFormatDesc elements = {8, 0, 0, 0, hipChannelFormatKindUnsigned};
  const std::vector<std::function<hipError_t()>> calls = {
      [&] { return hipMalloc(&memory, 64); },
      [&] { return hipMallocPitch(&memory, &pitch, 64, 2); },
      [&] { return hipMalloc3D(&pitched, make_hipExtent(64, 2, 2)); },
      [&] { return hipMallocManaged(&memory, 64, hipMemAttachGlobal); },
      [&] { return hipHostMalloc(&memory, 64, hipHostMallocDefault); },
      [&] { return hipHostRegister(own.data(), 64, hipHostRegisterDefault); },
      [&] { return hipMallocArray(&array, &elements, 16, 16, 0); },
      [&] { return hipFree(device.get()); },
      [&] { return hipFree(nullptr); },
      [&] { return hipHostFree(pinned.as<void>()); },
      [&] { return hipMalloc(nullptr, 64); },
  };
  for (const hipStreamCaptureMode mode : {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal}) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      HIP_OK(hipStreamBeginCapture(stream, mode));
      EXPECT_EQ(calls[i](), hipErrorStreamCaptureUnsupported) << i;
      EXPECT_EQ(capture_status(stream), hipStreamCaptureStatusInvalidated);
      EXPECT_EQ(calls[i](), hipErrorStreamCaptureUnsupported) << "until the capture has ended";
      expect_end(stream, hipErrorStreamCaptureInvalidated);
    }
  }
  EXPECT_EQ(memory, nullptr);
}

// Of streams that are not captured.
TEST(Capture, WaitsForOtherStreamsAreUnsafe) {
  TestStream stream;
  TestStream other;
  for (const hipStreamCaptureMode mode : {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal}) {
    HIP_OK(hipStreamBeginCapture(stream, mode));
    EXPECT_EQ(hipStreamSynchronize(other), hipErrorStreamCaptureUnsupported);
    expect_end(stream, hipErrorStreamCaptureInvalidated);
    HIP_OK(hipStreamBeginCapture(stream, mode));
    EXPECT_EQ(hipStreamQuery(other), hipErrorStreamCaptureUnsupported);
    expect_end(stream, hipErrorStreamCaptureInvalidated);
  }
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  std::thread([&] { HIP_OK(hipStreamSynchronize(other)); }).join();
  { TestGraph graph(stream); }
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  HIP_OK(hipStreamSynchronize(other));
  TestGraph graph(stream);
}

// As PyTorch's allocator does.
TEST(Capture, UnsafeCallsAreLeftToWhoSaysRelaxed) {
  TestStream stream;
  void* memory = nullptr;
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  HIP_OK(hipMalloc(&memory, 64));
  HIP_OK(hipFree(memory));
  { TestGraph graph(stream); }
  begin_capture(stream);
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  HIP_OK(hipThreadExchangeStreamCaptureMode(&mode));
  HIP_OK(hipMalloc(&memory, 64));
  HIP_OK(hipFree(memory));
  HIP_OK(hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
  TestGraph graph(stream);
}

TEST(Capture, UnsafeCallsOfOtherThreadsHarmGlobalCaptures) {
  TestStream stream;
  const auto allocate_elsewhere = [](hipStreamCaptureMode mode) {
    hipError_t error = hipSuccess;
    std::thread([&] {
      HIP_OK(hipThreadExchangeStreamCaptureMode(&mode));
      void* memory = nullptr;
      error = hipMalloc(&memory, 64);
      if (error == hipSuccess) {
        HIP_OK(hipFree(memory));
      }
    }).join();
    return error;
  };
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  EXPECT_EQ(allocate_elsewhere(hipStreamCaptureModeGlobal), hipSuccess);
  { TestGraph graph(stream); }
  begin_capture(stream);
  EXPECT_EQ(allocate_elsewhere(hipStreamCaptureModeThreadLocal), hipSuccess) << "only its own concern it";
  EXPECT_EQ(capture_status(stream), hipStreamCaptureStatusActive);
  EXPECT_EQ(allocate_elsewhere(hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
  expect_end(stream, hipErrorStreamCaptureInvalidated);
}

}  // namespace
}  // namespace tf::api_test
