// SPDX-License-Identifier: Apache-2.0
// What the runtime asks of the driver, seen by a driver that only remembers.
#include <gtest/gtest.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime_api.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/cuda/fixture.h"
#include "worker/runtime/common/extensions.h"

extern "C" {
void** __hipRegisterFatBinary(const void* data);
void __hipUnregisterFatBinary(void** handle);
void __hipRegisterFunction(void** handle, const void* host, char* device, const char* name, unsigned limit,
                           void* tid, void* bid, dim3* block, dim3* grid, int* warp);
}

namespace tf::fake_cuda {
namespace {

TEST_F(CudaRuntime, AReadyThreadAsksForNoContext) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(launch(kernel_, 0), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream_), hipSuccess);
  EXPECT_EQ(driver_->calls, (std::map<std::string, int>{{"LaunchKernel", 3}, {"StreamSynchronize", 1}}));
}

TEST_F(CudaRuntime, TheContextFollowsTheDevice) {
  EXPECT_EQ(hipSetDevice(1), hipSuccess);
  EXPECT_EQ(calls("CtxSetCurrent"), 0);
  EXPECT_EQ(hipStreamQuery(stream_), hipSuccess);
  EXPECT_EQ(hipStreamQuery(stream_), hipSuccess);
  EXPECT_EQ(calls("CtxSetCurrent"), 1);
  EXPECT_EQ(driver_->current, at(0x1001));
  EXPECT_EQ(hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hipStreamQuery(stream_), hipSuccess);
  EXPECT_EQ(calls("CtxSetCurrent"), 2);
  EXPECT_EQ(driver_->current, at(0x1000));
  std::thread([&] { EXPECT_EQ(hipStreamQuery(stream_), hipSuccess); }).join();
  EXPECT_EQ(calls("CtxSetCurrent"), 3);
  EXPECT_EQ(hipSetDevice(State::kDevices), hipErrorInvalidDevice);
}

TEST_F(CudaRuntime, ALaunchPassesThrough) {
  int number = 5;
  void* arguments[] = {&number};
  ASSERT_EQ(launch(kernel_, 64, arguments), hipSuccess);
  ASSERT_EQ(driver_->launches.size(), 1u);
  const Launch& seen = driver_->launches[0];
  EXPECT_EQ(seen.function, kernel_);
  EXPECT_EQ(std::vector<unsigned>(seen.shape, seen.shape + 6), (std::vector<unsigned>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(seen.shared_bytes, 64u);
  EXPECT_EQ(seen.stream, stream_);
  EXPECT_EQ(seen.arguments, arguments);
  EXPECT_TRUE(seen.extra.empty());
}

// The driver calls the kernel's handle invalid on any device but the one that it was loaded for.
TEST_F(CudaRuntime, ALaunchOnAnotherDeviceThanTheKernelsSaysSo) {
  driver_->failures["LaunchKernel"] = cuda::driver::Result::INVALID_HANDLE;
  EXPECT_EQ(launch(kernel_, 0), hipErrorInvalidDevice);
  driver_->failures["FuncGetAttribute"] = cuda::driver::Result::INVALID_HANDLE;
  EXPECT_EQ(launch(kernel_, 0), hipErrorInvalidHandle) << "no kernel at all";
}

TEST_F(CudaRuntime, PackedArgumentsGetTheDriversSentinels) {
  int block = 5;
  std::size_t bytes = sizeof block;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  ASSERT_EQ(launch(kernel_, 0, nullptr, extra), hipSuccess);
  EXPECT_EQ(driver_->launches[0].extra, (std::vector<void*>{at(1), &block, at(2), &bytes, nullptr}));
  EXPECT_EQ(launch(kernel_, 0, extra, extra), hipErrorInvalidValue);
  EXPECT_EQ(launch(nullptr, 0), hipErrorInvalidHandle);
}

TEST_F(CudaRuntime, CooperativeLaunchesTakePackedArgumentsToo) {
  int block = 5;
  std::size_t bytes = sizeof block;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  ASSERT_EQ(hipRemoteLaunchCooperative(kernel_, dim3(2, 3, 4), dim3(5, 6, 7), 64, stream_, extra),
            hipSuccess);
  const Launch& seen = driver_->launches.at(0);
  EXPECT_TRUE(seen.is_cooperative);
  EXPECT_EQ(std::vector<unsigned>(seen.shape, seen.shape + 6), (std::vector<unsigned>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(seen.extra.at(1), &block);
  EXPECT_EQ(seen.stream, stream_);
  ASSERT_EQ(hipRemoteLaunchCooperative(kernel_, dim3(1), dim3(1), 0, stream_, nullptr), hipSuccess);
  EXPECT_EQ(calls("LaunchCooperativeKernel"), 1) << "without arguments there is nothing to pack";
}

TEST_F(CudaRuntime, MoreSharedMemoryIsAskedForOnce) {
  EXPECT_EQ(launch(kernel_, 100 << 10), hipSuccess);
  EXPECT_EQ(driver_->dynamic_shared_max, State::kSharedMax - State::kStaticShared);
  EXPECT_EQ(launch(kernel_, 101 << 10), hipSuccess);
  EXPECT_EQ(calls("FuncSetAttribute"), 1);
  EXPECT_EQ(launch(kernel_, 1 << 20), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST_F(CudaRuntime, StaticSharedMemoryCountsToo) {
  EXPECT_EQ(launch(static_cast<hipFunction_t>(at(0x778)), 48 << 10), hipSuccess);
  EXPECT_EQ(calls("FuncSetAttribute"), 1);
  EXPECT_EQ(calls("LaunchKernel"), 2);
}

TEST_F(CudaRuntime, CooperativeLaunchesGetMoreSharedMemoryToo) {
  const auto launch_together = [&](std::uintptr_t function, unsigned shared_bytes, void** extra) {
    return hipRemoteLaunchCooperative(static_cast<hipFunction_t>(at(function)), dim3(2), dim3(64),
                                      shared_bytes, stream_, extra);
  };
  EXPECT_EQ(launch_together(0x779, 48 << 10, nullptr), hipSuccess);
  EXPECT_EQ(calls("FuncSetAttribute"), 1);
  EXPECT_EQ(calls("LaunchCooperativeKernel"), 2);
  driver_->dynamic_shared_max = 47 << 10;
  int block = 5;
  std::size_t bytes = sizeof block;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &block, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  EXPECT_EQ(launch_together(0x77a, 48 << 10, extra), hipSuccess);
  EXPECT_EQ(calls("LaunchKernelEx"), 2);
  // Blocks that do not fit for another reason are as many after it.
  driver_->failures["LaunchCooperativeKernel"] = cuda::driver::Result::COOPERATIVE_LAUNCH_TOO_LARGE;
  EXPECT_EQ(launch_together(0x779, 0, nullptr), hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(calls("LaunchCooperativeKernel"), 3);
}

TEST_F(CudaRuntime, ABadShapeIsCalledThat) {
  driver_->failures["LaunchKernel"] = cuda::driver::Result::INVALID_VALUE;
  EXPECT_EQ(hipModuleLaunchKernel(kernel_, 1, 1, 1, 2048, 1, 1, 0, stream_, nullptr, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchKernel(kernel_, 1, 1, 1, 64, 1, 1, 0, stream_, nullptr, nullptr),
            hipErrorInvalidValue);
  driver_->threads_max = 63;
  EXPECT_EQ(hipModuleLaunchKernel(kernel_, 1, 1, 1, 64, 1, 1, 0, stream_, nullptr, nullptr),
            hipErrorLaunchFailure)
      << "more than the kernel takes";
  const int before = calls("LaunchKernel");
  EXPECT_EQ(hipModuleLaunchKernel(kernel_, 1 << 24, 1, 1, 256, 1, 1, 0, stream_, nullptr, nullptr),
            hipErrorInvalidConfiguration)
      << "2^32 threads";
  EXPECT_EQ(calls("LaunchKernel"), before);
}

TEST_F(CudaRuntime, AStreamKeepsItsMaskOfComputeUnits) {
  hipDeviceProp_t properties{};
  ASSERT_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
  const auto words = static_cast<unsigned>(properties.multiProcessorCount) / 32;
  std::vector<std::uint32_t> wish(words, 0);
  wish[3] = 6;
  hipStream_t masked = nullptr;
  ASSERT_EQ(hipExtStreamCreateWithCUMask(&masked, words, wish.data()), hipSuccess);
  std::vector<std::uint32_t> mask(words, 0);
  EXPECT_EQ(hipExtStreamGetCUMask(masked, words, mask.data()), hipSuccess);
  EXPECT_EQ(mask, wish);
  for (const hipStream_t plain : {stream_, hipStream_t{nullptr}, hipStreamPerThread}) {
    EXPECT_EQ(hipExtStreamGetCUMask(plain, words, mask.data()), hipSuccess);
    EXPECT_EQ(mask, std::vector<std::uint32_t>(words, ~0u));
  }
  EXPECT_EQ(hipExtStreamGetCUMask(masked, words - 1, mask.data()), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamDestroy(masked), hipSuccess);
  EXPECT_EQ(hipExtStreamGetCUMask(masked, words, mask.data()), hipErrorContextIsDestroyed);
}

TEST_F(CudaRuntime, StreamsThatAreNoneDoNotReachTheDriver) {
  hipStream_t gone = nullptr;
  ASSERT_EQ(hipStreamCreate(&gone), hipSuccess);
  ASSERT_EQ(hipStreamQuery(gone), hipSuccess);
  hipEvent_t event = nullptr;
  ASSERT_EQ(hipEventCreate(&event), hipSuccess);
  ASSERT_EQ(hipStreamDestroy(gone), hipSuccess);
  driver_->calls.clear();
  for (const hipStream_t stream : {gone, static_cast<hipStream_t>(at(0x123))}) {
    EXPECT_EQ(hipModuleLaunchKernel(kernel_, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr),
              hipErrorContextIsDestroyed);
    EXPECT_EQ(hipStreamSynchronize(stream), hipErrorContextIsDestroyed);
    EXPECT_EQ(hipStreamDestroy(stream), hipErrorContextIsDestroyed);
    EXPECT_EQ(hipMemcpyAsync(at(1), at(2), 8, hipMemcpyDefault, stream), hipErrorContextIsDestroyed);
    EXPECT_EQ(hipMemsetAsync(at(1), 0, 8, stream), hipErrorContextIsDestroyed);
    EXPECT_EQ(hipMemsetD32Async(at(4), 0, 1, stream), hipErrorContextIsDestroyed);
    EXPECT_EQ(hipEventRecord(event, stream), hipErrorContextIsDestroyed);
    EXPECT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorContextIsDestroyed);
  }
  EXPECT_TRUE(driver_->calls.empty());
  EXPECT_EQ(hipStreamSynchronize(hipStreamPerThread), hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(stream_), hipSuccess);
  std::thread([&] { EXPECT_EQ(hipStreamSynchronize(stream_), hipSuccess); }).join();
}

TEST_F(CudaRuntime, TheDriverCountsTheFunctionsOfAModule) {
  unsigned count = 0;
  EXPECT_EQ(hipModuleGetFunctionCount(&count, module_), hipSuccess);
  EXPECT_EQ(count, State::kFunctions);
  EXPECT_EQ(hipModuleGetFunctionCount(nullptr, module_), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetFunctionCount(&count, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(calls("ModuleGetFunctionCount"), 1);
}

TEST_F(CudaRuntime, UnloadedModulesAreUnknown) {
  EXPECT_EQ(hipModuleUnload(module_), hipSuccess);
  driver_->calls.clear();
  hipFunction_t function = nullptr;
  hipDeviceptr_t pointer = nullptr;
  EXPECT_EQ(hipModuleUnload(module_), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetFunction(&function, module_, "kernel"), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleGetGlobal(&pointer, nullptr, module_, "variable"), hipErrorInvalidValue);
  unsigned count = 0;
  EXPECT_EQ(hipModuleGetFunctionCount(&count, module_), hipErrorInvalidHandle);
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipKernelNodeParams parameters{};
  parameters.func = kernel_;
  parameters.gridDim = parameters.blockDim = dim3(1);
  EXPECT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  EXPECT_EQ(hipGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_TRUE(driver_->calls.empty());
}

TEST_F(CudaRuntime, GlobalSizesCountThreads) {
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  ASSERT_EQ(hipEventCreate(&start), hipSuccess);
  ASSERT_EQ(hipEventCreate(&stop), hipSuccess);
  EXPECT_EQ(
      hipExtModuleLaunchKernel(kernel_, 64, 8, 1, 32, 4, 1, 0, stream_, nullptr, nullptr, start, stop, 0),
      hipSuccess);
  EXPECT_EQ(driver_->launches[0].shape[0], 2u);
  EXPECT_EQ(driver_->launches[0].shape[1], 2u);
  EXPECT_EQ(calls("EventRecord"), 2);
  EXPECT_EQ(hipEventDestroy(start), hipSuccess);
  EXPECT_EQ(hipEventDestroy(stop), hipSuccess);
}

TEST_F(CudaRuntime, BundlesGiveTheEntryForTheDevice) {
  const auto entry = [](std::string& bundle, std::uint64_t offset, std::uint64_t size,
                        const std::string& id) {
    const std::uint64_t head[] = {offset, size, id.size()};
    bundle.append(reinterpret_cast<const char*>(head), sizeof head).append(id);
  };
  std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
  const std::uint64_t count = 2;
  bundle.append(reinterpret_cast<const char*>(&count), sizeof count);
  entry(bundle, 512, 8, "hipv4-amdgcn-amd-amdhsa--gfx90a");
  const std::string ptx = ".version 8.0 // for sm_90";
  entry(bundle, 520, ptx.size() + 1, "hipv4-nvptx64-nvidia-cuda--sm_90");
  bundle.resize(512);
  bundle += "for AMD";
  bundle.push_back('\0');
  bundle += ptx;
  bundle.push_back('\0');
  hipModule_t module = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, bundle.data()), hipSuccess);
  EXPECT_EQ(driver_->image, ptx);
  bundle[bundle.find("sm_90") + 3] = 'x';
  EXPECT_EQ(hipModuleLoadData(&module, bundle.data()), hipErrorNoBinaryForGpu);
  ASSERT_EQ(hipModuleLoadData(&module, ".version 8.0"), hipSuccess);
  EXPECT_EQ(driver_->image, ".version 8.0");
}

TEST_F(CudaRuntime, RegisteredKernelsAreLoadedWhenFirstLaunched) {
  static const char stub = 0;
  struct {
    std::uint32_t magic = 0x48495046, version = 1;
    const void* image = ".version 8.0 // registered";
    const void* unused = nullptr;
  } wrapper;
  void** const program = __hipRegisterFatBinary(&wrapper);
  __hipRegisterFunction(program, &stub, nullptr, "kernel", 0, nullptr, nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(calls("ModuleLoadDataEx"), 0);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(hipLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, stream_), hipSuccess);
  EXPECT_EQ(calls("ModuleLoadDataEx"), 1);
  EXPECT_EQ(calls("ModuleGetFunction"), 1);
  EXPECT_EQ(calls("FuncLoad"), 1);
  EXPECT_EQ(driver_->launches.back().function, at(0x3006));
  hipKernelNodeParams node{};
  node.func = const_cast<char*>(&stub);
  int first = 5;
  int second = 6;
  void* arguments[] = {&first, &second};
  node.gridDim = node.blockDim = dim3(1);
  node.kernelParams = arguments;
  hipGraph_t graph = nullptr;
  hipGraphNode_t made = nullptr;
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hipGraphAddKernelNode(&made, graph, nullptr, 0, &node), hipSuccess);
  ASSERT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_EQ(driver_->kernel_node.function, at(0x3006));
  EXPECT_EQ(driver_->first_argument, 5);
  __hipUnregisterFatBinary(program);
  EXPECT_EQ(calls("ModuleUnload"), 1);
  EXPECT_EQ(hipLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, stream_), hipErrorInvalidDeviceFunction);
}

TEST_F(CudaRuntime, PageableEndsOfBoxesAreTheHosts) {
  std::vector<char> host(64);
  ASSERT_EQ(hipMemcpy2DAsync(at(0x4000), 32, host.data(), 16, 16, 4, hipMemcpyHostToDevice, stream_),
            hipSuccess);
  EXPECT_EQ(driver_->copy_2d.source_type, cuda::driver::kMemoryHost);
  EXPECT_EQ(driver_->copy_2d.source_host, host.data());
  EXPECT_EQ(driver_->copy_2d.target_type, cuda::driver::kMemoryUnified);
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(
      hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, host.data(), at(0x4000), 64, hipMemcpyDeviceToHost),
      hipSuccess);
  EXPECT_EQ(driver_->copy_3d.source_type, cuda::driver::kMemoryDevice);
  EXPECT_EQ(driver_->copy_3d.target_type, cuda::driver::kMemoryHost);
  EXPECT_EQ(driver_->copy_3d.width_bytes, 64u);
}

TEST_F(CudaRuntime, HostMemoryThatTheDriverDoesNotTakeIsCopiedHere) {
  driver_->failures["MemcpyAsync"] = cuda::driver::Result::INVALID_VALUE;
  const int from = 42;
  int to = 0;
  EXPECT_EQ(hipMemcpyAsync(&to, &from, sizeof to, hipMemcpyDefault, stream_), hipErrorInvalidValue);
  EXPECT_EQ(to, 0);
  EXPECT_EQ(hipMemcpyAsync(&to, &from, sizeof to, hipMemcpyHostToHost, stream_), hipSuccess);
  EXPECT_EQ(to, 42);
  EXPECT_EQ(calls("StreamSynchronize"), 1);
}

TEST_F(CudaRuntime, FillsOfBoxesGoSliceBySlice) {
  ASSERT_EQ(hipMemset3DAsync(make_hipPitchedPtr(at(0x4000), 64, 48, 8), 1, make_hipExtent(48, 4, 3), stream_),
            hipSuccess);
  EXPECT_EQ(driver_->filled, (std::vector<void*>{at(0x4000), at(0x4200), at(0x4400)}));
  EXPECT_EQ(driver_->filled_rows, (std::vector<std::size_t>{4, 4, 4}));
  driver_->filled.clear();
  driver_->filled_rows.clear();
  ASSERT_EQ(hipMemset3DAsync(make_hipPitchedPtr(at(0x4000), 64, 48, 8), 1, make_hipExtent(48, 8, 5), stream_),
            hipSuccess);
  EXPECT_EQ(driver_->filled, std::vector<void*>{at(0x4000)}) << "slices that touch are one";
  EXPECT_EQ(driver_->filled_rows, std::vector<std::size_t>{40});
  EXPECT_EQ(hipMemset3DAsync(make_hipPitchedPtr(at(0x4000), 64, 48, 8), 1, make_hipExtent(65, 6, 5), stream_),
            hipErrorInvalidValue);
}

TEST_F(CudaRuntime, HostMemoryIsAlwaysMappedAndKeepsItsFlags) {
  ASSERT_EQ(hipHostRegister(at(0x50000000), 4096, hipHostRegisterDefault), hipSuccess);
  EXPECT_EQ(driver_->host_flags, 3u);
  unsigned flags = 9;
  EXPECT_EQ(hipHostGetFlags(&flags, at(0x50000010)), hipSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(hipHostRegisterDefault));
  EXPECT_EQ(hipHostUnregister(at(0x50000000)), hipSuccess);
}

TEST_F(CudaRuntime, TheDeviceSaysWhatItIs) {
  hipDeviceProp_t properties;
  ASSERT_EQ(hipGetDeviceProperties(&properties, 1), hipSuccess);
  EXPECT_STREQ(properties.gcnArchName, "sm_90");
  EXPECT_STREQ(properties.name, "Fake GPU");
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_EQ(properties.sharedMemPerBlock, static_cast<std::size_t>(State::kSharedMax));
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0), hipSuccess);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeUuid, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipRemoteUnavailableReason(), nullptr);
}

TEST_F(CudaRuntime, WhatTheDriverLacksIsNotSupported) {
  ASSERT_EQ(launch(nullptr, 0), hipErrorInvalidHandle);
  std::size_t offset = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(hipRemoteKernelParameter(kernel_, 1, &offset, &bytes), hipSuccess);
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(hipRemoteKernelParameter(kernel_, 2, &offset, &bytes), hipErrorInvalidValue);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidHandle) << "the extension keeps out of it";
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hipDeviceGetDefaultMemPool(&pool, 0), hipSuccess);
  EXPECT_EQ(hipMemPoolTrimTo(pool, 0), hipErrorNotSupported);
}

TEST_F(CudaRuntime, AResetMakesANewContext) {
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(calls("DevicePrimaryCtxReset"), 1);
  EXPECT_EQ(calls("DevicePrimaryCtxRelease"), 1);
  EXPECT_EQ(hipStreamQuery(stream_), hipErrorContextIsDestroyed) << "its streams are gone";
  EXPECT_EQ(hipModuleUnload(module_), hipErrorInvalidValue) << "and its modules";
  EXPECT_EQ(hipStreamQuery(nullptr), hipSuccess);
  EXPECT_EQ(calls("DevicePrimaryCtxRetain"), 1);
  EXPECT_EQ(calls("CtxSetCurrent"), 1);
}

TEST_F(CudaRuntime, ACaptureIsNoneOfTheDriversUntilItIsInstantiated) {
  int numbers[2] = {5, 6};
  void* arguments[] = {&numbers[0], &numbers[1]};
  hipStream_t other = nullptr;
  ASSERT_EQ(hipStreamCreate(&other), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_EQ(hipMemsetD32Async(at(0x4000), 9, 1, stream_), hipSuccess);
  ASSERT_EQ(launch(kernel_, 64, arguments), hipSuccess);
  numbers[0] = 7;  // the launch has taken its arguments
  ASSERT_EQ(hipMemcpyAsync(at(0x5000), at(0x4000), 64, hipMemcpyDeviceToDevice, stream_), hipSuccess);
  EXPECT_EQ(calls("LaunchKernel") + calls("MemsetD32Async") + calls("MemcpyAsync"), 0);
  EXPECT_EQ(hipMemsetAsync(at(0x4000), 1, 8, other), hipSuccess);
  EXPECT_EQ(calls("MemsetD8Async"), 1) << "others go on";
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  ASSERT_EQ(driver_->nodes.size(), 3u);
  EXPECT_EQ(driver_->nodes[0].name, "GraphAddMemsetNode");
  EXPECT_EQ(driver_->fill_node.value, 9u);
  EXPECT_EQ(driver_->nodes[1].name, "GraphAddKernelNode");
  EXPECT_EQ(driver_->nodes[1].before, std::vector<int>{1});
  EXPECT_EQ(driver_->first_argument, 5);
  EXPECT_EQ(driver_->kernel_node.shared_bytes, 64u);
  EXPECT_EQ(driver_->nodes[2].name, "GraphAddMemcpyNode");
  EXPECT_EQ(driver_->nodes[2].before, std::vector<int>{2});
  EXPECT_EQ(driver_->copy_3d.width_bytes, 64u);
  driver_->calls.clear();
  EXPECT_EQ(hipGraphLaunch(exec, stream_), hipSuccess);
  EXPECT_EQ(driver_->calls, (std::map<std::string, int>{{"GraphLaunch", 1}}));
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(calls("GraphExecDestroy"), 1);
}

TEST_F(CudaRuntime, WhatACaptureRefusesDoesNotReachTheDriver) {
  hipEvent_t event = nullptr;
  ASSERT_EQ(hipEventCreate(&event), hipSuccess);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(hipEventRecord(event, stream_), hipSuccess);
  EXPECT_EQ(calls("EventRecord"), 0);
  EXPECT_EQ(hipEventQuery(event), hipErrorCapturedEvent);
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipErrorStreamCaptureInvalidated);
  const auto refused = [&](auto&& call) {
    EXPECT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
    driver_->calls.clear();
    EXPECT_NE(call(), hipSuccess);
    for (const char* name : {"StreamSynchronize", "StreamQuery", "CtxSynchronize", "MemcpyAsync",
                             "MemAllocAsync", "MemsetD8", "StreamAddCallback", "StreamWriteValue32"})
      EXPECT_EQ(calls(name), 0) << name;
    EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipErrorStreamCaptureInvalidated);
  };
  refused([&] { return hipStreamSynchronize(stream_); });
  refused([&] { return hipStreamQuery(stream_); });
  refused([&] { return hipDeviceSynchronize(); });
  refused([&] { return hipMemcpyWithStream(at(4), at(8), 4, hipMemcpyDefault, stream_); });
  refused([&] { return hipFreeAsync(at(4), stream_); });
  refused([&] { return hipMemset(at(4), 0, 64); });
  refused([&] {
    return hipStreamAddCallback(
        stream_, [](hipStream_t, hipError_t, void*) {}, nullptr, 0);
  });
  refused([&] { return hipStreamWriteValue32(stream_, at(4), 0, 0); });
}

TEST_F(CudaRuntime, AGraphThatCannotBeChangedInPlaceIsMadeAnew) {
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipGraphExec_t exec = nullptr;
  hipMemsetParams fill{};
  fill.dst = at(0x4000);
  fill.elementSize = 1;
  fill.width = 16;
  fill.height = 1;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill), hipSuccess);
  ASSERT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_EQ(driver_->fill_context, at(0x1000));
  fill.dst = at(0x20000000);
  fill.value = 3;
  EXPECT_EQ(hipGraphExecMemsetNodeSetParams(exec, node, &fill), hipSuccess);
  EXPECT_EQ(calls("GraphExecUpdate"), 1);
  EXPECT_EQ(calls("GraphInstantiateWithFlags"), 1);
  driver_->failures["GraphExecUpdate"] = cuda::driver::Result::GRAPH_EXEC_UPDATE_FAILURE;
  EXPECT_EQ(hipGraphExecMemsetNodeSetParams(exec, node, &fill), hipSuccess);
  EXPECT_EQ(calls("GraphInstantiateWithFlags"), 2);
  EXPECT_EQ(calls("GraphExecDestroy"), 1);
  EXPECT_EQ(driver_->fill_node.value, 3u);
  EXPECT_EQ(driver_->fill_context, at(0x1001)) << "of the memory's device";
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(hipGraphLaunch(exec, stream_), hipErrorInvalidValue);
  EXPECT_EQ(calls("GraphCreate"), calls("GraphDestroy"));
}

}  // namespace
}  // namespace tf::fake_cuda
