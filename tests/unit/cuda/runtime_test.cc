// SPDX-License-Identifier: Apache-2.0
// What the runtime asks of the driver, seen by a driver that only remembers.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/support/fake_cuda_driver.h"
#include "worker/runtime/common/extensions.h"

extern "C" {
void** __hipRegisterFatBinary(const void* data);
void __hipUnregisterFatBinary(void** handle);
void __hipRegisterFunction(void** handle, const void* host, char* device, const char* name, unsigned limit,
                           void* tid, void* bid, dim3* block, dim3* grid, int* warp);
}

namespace tf::fake_cuda {
namespace {

const int kFakeDriver = ::setenv("HIP_CUDA_DRIVER", TF_FAKE_CUDA_DRIVER, 1);

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

class CudaRuntime : public ::testing::Test {
 protected:
  CudaRuntime() {
    static_cast<void>(kFakeDriver);
    void* const library = ::dlopen(TF_FAKE_CUDA_DRIVER, RTLD_NOW);
    const auto get = reinterpret_cast<State* (*)()>(::dlsym(library, "fake_cuda_state"));
    driver_ = get();
    EXPECT_EQ(hipSetDevice(0), hipSuccess);
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);  // from here on the thread is ready
    *driver_ = State();
  }

  int calls(const char* name) { return driver_->calls[name]; }
  hipError_t launch(hipFunction_t function, unsigned shared_bytes, void** arguments = nullptr,
                    void** extra = nullptr) {
    return hipModuleLaunchKernel(function, 2, 3, 4, 5, 6, 7, shared_bytes, stream_, arguments, extra);
  }

  State* driver_ = nullptr;
  const hipFunction_t kernel_ = static_cast<hipFunction_t>(at(0x777));
  const hipStream_t stream_ = static_cast<hipStream_t>(at(0x888));
};

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
  EXPECT_TRUE(driver_->launches.at(1).extra.empty());
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

TEST_F(CudaRuntime, ABadShapeIsCalledThat) {
  driver_->failures["LaunchKernel"] = cuda::driver::Result::INVALID_VALUE;
  EXPECT_EQ(hipModuleLaunchKernel(kernel_, 1, 1, 1, 2048, 1, 1, 0, stream_, nullptr, nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(hipModuleLaunchKernel(kernel_, 1, 1, 1, 64, 1, 1, 0, stream_, nullptr, nullptr),
            hipErrorInvalidValue);
}

TEST_F(CudaRuntime, GlobalSizesCountThreads) {
  const auto start = static_cast<hipEvent_t>(at(0x51));
  const auto stop = static_cast<hipEvent_t>(at(0x52));
  EXPECT_EQ(
      hipExtModuleLaunchKernel(kernel_, 64, 8, 1, 32, 4, 1, 0, stream_, nullptr, nullptr, start, stop, 0),
      hipSuccess);
  EXPECT_EQ(driver_->launches[0].shape[0], 2u);
  EXPECT_EQ(driver_->launches[0].shape[1], 2u);
  EXPECT_EQ(calls("EventRecord"), 2);
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
  entry(bundle, 520, 8, "hipv4-nvptx64-nvidia-cuda--sm_90");
  bundle.resize(512);
  bundle += "for AMD";
  bundle.push_back('\0');
  bundle += "for sm9";
  bundle.push_back('\0');
  hipModule_t module = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, bundle.data()), hipSuccess);
  EXPECT_EQ(driver_->image, "for sm9");
  bundle[bundle.find("sm_90") + 3] = '8';
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
  hipGraphNode_t made = nullptr;
  EXPECT_EQ(hipGraphAddKernelNode(&made, static_cast<hipGraph_t>(at(1)), nullptr, 0, &node), hipSuccess);
  EXPECT_EQ(driver_->kernel_node.function, at(0x3006));
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
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipGraphAddMemcpyNode1D(&node, static_cast<hipGraph_t>(at(1)), nullptr, 0, host.data(),
                                    at(0x4000), 64, hipMemcpyDeviceToHost),
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
  EXPECT_EQ(hipRemoteKernelParameter(kernel_, 0, &offset, &bytes), hipErrorNotSupported);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidHandle) << "the extension keeps out of it";
}

TEST_F(CudaRuntime, AResetMakesANewContext) {
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(calls("DevicePrimaryCtxReset"), 1);
  EXPECT_EQ(calls("DevicePrimaryCtxRelease"), 1);
  EXPECT_EQ(hipStreamQuery(stream_), hipSuccess);
  EXPECT_EQ(calls("DevicePrimaryCtxRetain"), 1);
  EXPECT_EQ(calls("CtxSetCurrent"), 1);
}

}  // namespace
}  // namespace tf::fake_cuda
