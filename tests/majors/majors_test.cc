// SPDX-License-Identifier: Apache-2.0
// What programs of one HIP major see. Numbers and layouts are those of the vendor's headers of 5.2.3, 6.4.3
// and 7.2.4, written down here once more.
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

TEST_F(Major, VersionsSuitTheMajor) {
  for (const char* name : {"hipRuntimeGetVersion", "hipDriverGetVersion"}) {
    int version = 0;
    ASSERT_EQ(get<hipError_t(int*)>(name)(&version), hipSuccess) << name;
    EXPECT_EQ(version / 10'000'000, major_) << name;
  }
}

TEST_F(Major, DevicePropertiesInBothForms) {
  hipDeviceProp_t old;
  std::memset(&old, 0xee, sizeof old);
  ASSERT_EQ(get<hipError_t(hipDeviceProp_t*, int)>("hipGetDeviceProperties")(&old, 0), hipSuccess);
  // What kernels for the host's cores are compiled with (__HIP_ARCH_HAS_WARP_SHUFFLE__ and others).
  EXPECT_TRUE(old.arch.hasWarpVote && old.arch.hasWarpBallot && old.arch.hasWarpShuffle);
  EXPECT_EQ(old.arch.hasThreadFenceSystem, 1u);
  if (major_ < 6) return;
  hipDeviceProp_tR0600 properties;
  std::memset(&properties, 0xee, sizeof properties);
  const auto newer = get<hipError_t(hipDeviceProp_tR0600*, int)>("hipGetDevicePropertiesR0600");
  ASSERT_EQ(newer(&properties, 0), hipSuccess);
  EXPECT_STREQ(properties.name, old.name);
  EXPECT_STREQ(properties.gcnArchName, old.gcnArchName);
  EXPECT_EQ(properties.totalGlobalMem, old.totalGlobalMem);
  EXPECT_EQ(properties.multiProcessorCount, old.multiProcessorCount);
  EXPECT_EQ(properties.maxThreadsPerMultiProcessor, old.maxThreadsPerMultiProcessor);
  EXPECT_EQ(properties.pciBusID, old.pciBusID);
  EXPECT_EQ(properties.reserved[0], 0);
  hipUUID uuid;
  ASSERT_EQ(get<decltype(hipDeviceGetUuid)>("hipDeviceGetUuid")(&uuid, 0), hipSuccess);
  EXPECT_EQ(std::memcmp(&uuid, &properties.uuid, sizeof uuid), 0);
  EXPECT_EQ(newer(nullptr, 0), kInvalid);
  EXPECT_EQ(newer(&properties, 99), hipErrorInvalidDevice);
  int chosen = -1;
  EXPECT_EQ(get<hipError_t(int*, const hipDeviceProp_tR0600*)>("hipChooseDeviceR0600")(&chosen, &properties),
            hipSuccess);
  EXPECT_EQ(chosen, 0);
}

TEST_F(Major, DevicesHaveTheMultiprocessorsThatTheVariableSays) {
  const char* const wanted = std::getenv("HIP_CPU_MULTIPROCESSORS");
  ASSERT_NE(wanted, nullptr) << "some tests are for devices with several";
  const auto attribute = get<hipError_t(int*, int, int)>("hipDeviceGetAttribute");
  for (const int device : {0, 1}) {
    int count = 0;
    ASSERT_EQ(attribute(&count, hipDeviceAttributeMultiprocessorCount, device), hipSuccess);
    EXPECT_EQ(count, std::atoi(wanted));
  }
}

TEST_F(Major, AttributesOfNewerReleases) {
  const auto get_one = get<decltype(hipDeviceGetAttribute)>("hipDeviceGetAttribute");
  const auto attribute = [&](int which) {
    int value = -2;
    EXPECT_EQ(get_one(&value, static_cast<hipDeviceAttribute_t>(which), 0), hipSuccess) << which;
    return value;
  };
  EXPECT_EQ(attribute(89), 1) << "virtual memory management";
  EXPECT_EQ(attribute(90), 1) << "hipHostRegister";
  EXPECT_EQ(attribute(91), hipMemHandleTypePosixFileDescriptor) << "handles of pools";
  EXPECT_EQ(attribute(92), -1) << "near no single NUMA node";
  EXPECT_EQ(attribute(10017), 100'000) << "wall_clock64(), in kHz";
  EXPECT_EQ(attribute(10018), 1) << "parts of one device";
  int value = 0;
  EXPECT_EQ(get_one(&value, static_cast<hipDeviceAttribute_t>(9998), 0), kInvalid);
}

TEST_F(Major, MemoryTypesHaveTheMajorsNumbers) {
  void* const device = allocate(4096);
  EXPECT_EQ(memory_type(device), device_type());
  void* host = nullptr;
  ASSERT_EQ(get<hipError_t(void**, std::size_t, unsigned)>("hipHostMalloc")(&host, 4096, 0), hipSuccess);
  EXPECT_EQ(memory_type(host), host_type());
  void* managed = nullptr;
  using Managed = hipError_t(void**, std::size_t, unsigned);
  ASSERT_EQ(get<Managed>("hipMallocManaged")(&managed, 4096, hipMemAttachGlobal), hipSuccess);
  EXPECT_EQ(memory_type(managed), managed_type());
  int type = -1;
  const auto one = get<decltype(hipPointerGetAttribute)>("hipPointerGetAttribute");
  ASSERT_EQ(one(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, device), hipSuccess);
  EXPECT_EQ(type, device_type());
  ASSERT_EQ(one(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, managed), hipSuccess);
  EXPECT_EQ(type, host_type()) << "asked alone";
  const hipChannelFormatDesc elements = {8, 0, 0, 0, hipChannelFormatKindUnsigned};
  hipArray_t array = nullptr;
  ASSERT_EQ(get<decltype(hipMallocArray)>("hipMallocArray")(&array, &elements, 16, 16, 0), hipSuccess);
  ASSERT_EQ(one(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, array), hipSuccess);
  EXPECT_EQ(type, major_ >= 6 ? 10 : 2);
  EXPECT_EQ(get<decltype(hipFreeArray)>("hipFreeArray")(array), hipSuccess);
}

// What HIP 6 calls unregistered, HIP 5 calls an error.
TEST_F(Major, MemoryThatNobodyKnowsIsUnregisteredSince6) {
  const auto get_them = get<decltype(hipPointerGetAttributes)>("hipPointerGetAttributes");
  const int on_stack = 0;
  hipPointerAttribute_t attributes;
  std::memset(&attributes, 0xee, sizeof attributes);
  ASSERT_EQ(get_them(&attributes, &on_stack), major_ >= 6 ? hipSuccess : kInvalid);
  if (major_ < 6) return;
  EXPECT_EQ(attributes.memoryType, 0);
  EXPECT_EQ(attributes.device, -2);
  EXPECT_EQ(attributes.devicePointer, nullptr);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(attributes.isManaged, 0);
  EXPECT_EQ(attributes.allocationFlags, 0u);
  int type = 77;
  const auto one = get<decltype(hipPointerGetAttribute)>("hipPointerGetAttribute");
  EXPECT_EQ(one(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, const_cast<int*>(&on_stack)), kInvalid);
  EXPECT_EQ(type, 0);
}

TEST_F(Major, MemoryHasAContextSince6) {
  const auto one = get<decltype(hipPointerGetAttribute)>("hipPointerGetAttribute");
  hipCtx_t current = nullptr;
  ASSERT_EQ(get<hipError_t(hipCtx_t*, int)>("hipDevicePrimaryCtxRetain")(&current, 0), hipSuccess);
  void* const device = allocate(4096);
  hipCtx_t context = nullptr;
  EXPECT_EQ(one(&context, HIP_POINTER_ATTRIBUTE_CONTEXT, device),
            major_ >= 6 ? hipSuccess : hipErrorNotSupported);
  EXPECT_EQ(context, major_ >= 6 ? current : nullptr);
  int on_stack = 0;
  EXPECT_EQ(one(&context, HIP_POINTER_ATTRIBUTE_CONTEXT, &on_stack),
            major_ >= 6 ? kInvalid : hipErrorNotSupported);
}

TEST_F(Major, NothingElseIsAskedOfTwoDevices) {
  const auto ask = get<hipError_t(int*, int, int, int)>("hipDeviceGetP2PAttribute");
  int value = 77;
  EXPECT_EQ(ask(&value, hipDevP2PAttrAccessSupported, 0, 1), hipSuccess);
  EXPECT_NE(value, 77);
  for (const int wrong : {-1, hipDevP2PAttrHipArrayAccessSupported + 1, 99}) {
    value = 77;
    EXPECT_EQ(ask(&value, wrong, 0, 1), kInvalid) << wrong;
    EXPECT_EQ(value, 77);
  }
}

// hipLimitRange is 3 in HIP 6 and 4099 in HIP 7; HIP 5.2 has none.
TEST_F(Major, WhatIsBeyondTheMajorsLimitsIsNoLimit) {
  const auto ask = get<hipError_t(std::size_t*, int)>("hipDeviceGetLimit");
  const auto set = get<hipError_t(int, std::size_t)>("hipDeviceSetLimit");
  const hipError_t beyond = major_ >= 6 ? kInvalid : hipErrorUnsupportedLimit;
  const hipError_t within_7 = major_ == 6 ? kInvalid : hipErrorUnsupportedLimit;
  std::size_t value = 77;
  for (const int limit : {-1, 4099, 5000}) {
    EXPECT_EQ(ask(&value, limit), beyond) << limit;
    EXPECT_EQ(set(limit, 1024), beyond) << limit;
  }
  EXPECT_EQ(ask(&value, 3), within_7);
  EXPECT_EQ(set(3, 1024), within_7);
  EXPECT_EQ(value, 77u);
}

// hipMemAllocationProp: its words are in another order since HIP 6.
TEST_F(Major, PhysicalMemoryIsAskedForByTheMajorsLayout) {
  alignas(8) std::array<int, 8> wish{};  // pinned memory of device 0, to be shared by descriptor
  const std::array<std::size_t, 3> places = major_ >= 6 ? std::array<std::size_t, 3>{0, 1, 2}
                                                        // type, handle, where
                                                        : std::array<std::size_t, 3>{4, 3, 1};
  wish[places[0]] = hipMemAllocationTypePinned;
  wish[places[1]] = hipMemHandleTypePosixFileDescriptor;
  wish[places[2]] = hipMemLocationTypeDevice;
  std::size_t bytes = 0;
  ASSERT_EQ((get<hipError_t(std::size_t*, const void*, int)>("hipMemGetAllocationGranularity")(
                &bytes, wish.data(), hipMemAllocationGranularityMinimum)),
            hipSuccess);
  void* memory = nullptr;
  const auto create = get<hipError_t(void**, std::size_t, const void*, unsigned long long)>("hipMemCreate");
  ASSERT_EQ(create(&memory, bytes, wish.data(), 0), hipSuccess);
  alignas(8) std::array<int, 8> answer{};
  EXPECT_EQ((get<hipError_t(void*, void*)>("hipMemGetAllocationPropertiesFromHandle")(answer.data(), memory)),
            hipSuccess);
  EXPECT_EQ(answer, wish);
  EXPECT_EQ(get<hipError_t(void*)>("hipMemRelease")(memory), hipSuccess);
  EXPECT_EQ(create(&memory, bytes, nullptr, 0), kInvalid);
}

// hipIpcMemLazyEnablePeerAccess is 0 in HIP 5.2, and 1 since 6.0.
TEST_F(Major, MemoryOfOtherProcessesIsOpenedWithTheMajorsFlag) {
  void* const memory = allocate(4096);
  hipIpcMemHandle_t handle{};
  ASSERT_EQ(get<decltype(hipIpcGetMemHandle)>("hipIpcGetMemHandle")(&handle, memory), hipSuccess);
  const auto open = get<decltype(hipIpcOpenMemHandle)>("hipIpcOpenMemHandle");
  void* opened = nullptr;
  EXPECT_EQ(open(&opened, handle, 1), hipErrorInvalidContext) << "it is this process's own";
  EXPECT_EQ(open(&opened, handle, 0), major_ >= 6 ? kInvalid : hipErrorInvalidContext);
  EXPECT_EQ(open(&opened, handle, 2), kInvalid);
  EXPECT_EQ(get<hipError_t(void*)>("hipFree")(memory), hipSuccess);
}

TEST_F(Major, TheNullPointerHasAttributesSince7) {
  hipPointerAttribute_t attributes;
  const auto get_them = get<decltype(hipPointerGetAttributes)>("hipPointerGetAttributes");
  EXPECT_EQ(get_them(&attributes, nullptr), major_ >= 7 ? hipSuccess : kInvalid);
  if (major_ >= 7) {
    EXPECT_EQ(attributes.device, -2) << "none";
  }
  EXPECT_EQ(get_them(nullptr, nullptr), kInvalid);
}

TEST_F(Major, RowsAreCopiedByTheMajorsNumbers) {
  const auto copy = get<decltype(hipMemcpyParam2D)>("hipMemcpyParam2D");
  std::vector<unsigned char> source(64 * 16);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 7);
  hip_Memcpy2D to{};
  const auto set = [](hipMemoryType& field, int type) { std::memcpy(&field, &type, sizeof type); };
  set(to.srcMemoryType, host_type());
  to.srcHost = source.data();
  to.srcPitch = 64;
  set(to.dstMemoryType, device_type());
  to.dstDevice = allocate(128 * 16);
  to.dstPitch = 128;
  to.WidthInBytes = 64;
  to.Height = 16;
  ASSERT_EQ(copy(&to), hipSuccess);
  std::vector<unsigned char> target(source.size());
  hip_Memcpy2D from{};
  set(from.srcMemoryType, device_type());
  from.srcDevice = to.dstDevice;
  from.srcPitch = 128;
  set(from.dstMemoryType, host_type());
  from.dstHost = target.data();
  from.dstPitch = 64;
  from.WidthInBytes = 64;
  from.Height = 16;
  ASSERT_EQ(copy(&from), hipSuccess);
  EXPECT_EQ(source, target);
  set(from.srcMemoryType, 77);
  EXPECT_EQ(copy(&from), kInvalid);
}

template <typename Length>
void copy_box(hipError_t (*copy)(const void*), int host_type, int device_type, void* device) {
  std::vector<unsigned char> source(32 * 4 * 3);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 5);
  Copy3D<Length> to{};
  to.src_type = host_type;
  to.src_host = source.data();
  to.src_pitch = 32;
  to.src_height = 4;
  to.dst_type = device_type;
  to.dst_device = device;
  to.dst_pitch = 64;
  to.dst_height = 8;
  to.width = 32;
  to.height = 4;
  to.depth = 3;
  ASSERT_EQ(copy(&to), hipSuccess);
  std::vector<unsigned char> target(source.size());
  Copy3D<Length> from{};
  from.src_type = device_type;
  from.src_device = device;
  from.src_pitch = 64;
  from.src_height = 8;
  from.dst_type = host_type;
  from.dst_host = target.data();
  from.dst_pitch = 32;
  from.dst_height = 4;
  from.width = 32;
  from.height = 4;
  from.depth = 3;
  ASSERT_EQ(copy(&from), hipSuccess);
  EXPECT_EQ(source, target);
}

TEST_F(Major, BoxesAreCopiedByTheMajorsLayout) {
  const auto copy = get<hipError_t(const void*)>("hipDrvMemcpy3D");
  void* const device = allocate(64 * 8 * 3);
  if (major_ >= 6)
    copy_box<std::size_t>(copy, host_type(), device_type(), device);
  else
    copy_box<unsigned>(copy, host_type(), device_type(), device);
}

TEST_F(Major, TheLastErrorFollowsTheMajorsRule) {
  const auto set = get<hipError_t(int)>("hipSetDevice");
  const auto last = get<hipError_t()>("hipGetLastError");
  EXPECT_EQ(set(99), hipErrorInvalidDevice);
  EXPECT_EQ(set(0), hipSuccess);
  EXPECT_EQ(last(), major_ >= 7 ? hipErrorInvalidDevice : hipSuccess);
  EXPECT_EQ(last(), hipSuccess);
  if (major_ < 6) return;
  EXPECT_EQ(set(99), hipErrorInvalidDevice);
  EXPECT_EQ(get<hipError_t()>("hipExtGetLastError")(), hipErrorInvalidDevice);
}

TEST_F(Major, FunctionsByName) {
  if (major_ < 6) GTEST_SKIP() << "hipGetProcAddress is newer than HIP 5";
  using Get = hipError_t(const char*, void**, int, std::uint64_t, hipDriverProcAddressQueryResult*);
  const auto address = get<Get>("hipGetProcAddress");
  void* function = nullptr;
  auto status = HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  ASSERT_EQ(address("hipGetDeviceProperties", &function, 601, 0, &status), hipSuccess);
  EXPECT_EQ(status, HIP_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(function, ::dlsym(library_, "hipGetDevicePropertiesR0600"));
  ASSERT_EQ(address("hipGetDeviceProperties", &function, 501, 0, nullptr), hipSuccess);
  EXPECT_EQ(function, ::dlsym(library_, "hipGetDeviceProperties"));
  EXPECT_EQ(address("hipNobodysFunction", &function, 601, 0, &status), kInvalid);
  EXPECT_EQ(status, HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(address(nullptr, &function, 601, 0, &status), kInvalid);
  EXPECT_EQ(address("hipMalloc", nullptr, 601, 0, &status), kInvalid);
  ASSERT_EQ(address("hipMemcpy", &function, 601, 2, nullptr), hipSuccess);
  EXPECT_EQ(function, ::dlsym(library_, "hipMemcpy_spt"));
  if (major_ < 7) return;
  using Entry = hipError_t(const char*, void**, unsigned long long, hipDriverEntryPointQueryResult*);
  auto found = hipDriverEntryPointSymbolNotFound;
  ASSERT_EQ(get<Entry>("hipGetDriverEntryPoint")("hipMalloc", &function, 0, &found), hipSuccess);
  EXPECT_EQ(found, hipDriverEntryPointSuccess);
  EXPECT_EQ(function, ::dlsym(library_, "hipMalloc"));
  ASSERT_EQ(get<Entry>("hipGetDriverEntryPoint_spt")("hipMemcpy", &function, 0, &found), hipSuccess);
  EXPECT_EQ(function, ::dlsym(library_, "hipMemcpy_spt"));
}

TEST_F(Major, NodesHaveTheMajorsNumbers) {
  hipGraph_t graph = nullptr;
  ASSERT_EQ(get<decltype(hipGraphCreate)>("hipGraphCreate")(&graph, 0), hipSuccess);
  const auto type_of = [&](hipGraphNode_t node) {
    int type = -1;
    EXPECT_EQ((get<hipError_t(hipGraphNode_t, int*)>("hipGraphNodeGetType")(node, &type)), hipSuccess);
    return type;
  };
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(get<decltype(hipGraphAddEmptyNode)>("hipGraphAddEmptyNode")(&node, graph, nullptr, 0),
            hipSuccess);
  EXPECT_EQ(type_of(node), major_ >= 6 ? 5 : 6);
  void* const device = allocate(64);
  const auto copy = get<decltype(hipGraphAddMemcpyNode1D)>("hipGraphAddMemcpyNode1D");
  ASSERT_EQ(
      copy(&node, graph, nullptr, 0, device, static_cast<char*>(device) + 32, 32, hipMemcpyDeviceToDevice),
      hipSuccess);
  EXPECT_EQ(type_of(node), major_ >= 6 ? 1 : 9);
  hipMemsetParams fill{};
  fill.dst = device;
  fill.elementSize = 1;
  fill.width = 64;
  fill.height = 1;
  ASSERT_EQ(get<decltype(hipGraphAddMemsetNode)>("hipGraphAddMemsetNode")(&node, graph, nullptr, 0, &fill),
            hipSuccess);
  EXPECT_EQ(type_of(node), major_ >= 6 ? 2 : 3);
  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location = {hipMemLocationTypeDevice, 0};
  memory.bytesize = 64;
  using Add =
      hipError_t(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t, hipMemAllocNodeParams*);
  ASSERT_EQ(get<Add>("hipGraphAddMemAllocNode")(&node, graph, nullptr, 0, &memory), hipSuccess);
  if (major_ >= 6) {
    EXPECT_EQ(type_of(node), 10);
  }
}

}  // namespace
}  // namespace tf::majors
