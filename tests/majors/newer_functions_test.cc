// SPDX-License-Identifier: Apache-2.0
// Functions since HIP 6 that are other functions of HIP, and fills of rows of elements.
#include <array>
#include <cstdio>
#include <numeric>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

class Newer : public Kernels {
 protected:
  void SetUp() override {
    Kernels::SetUp();
    if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
  }
};

template <typename Value>
void expect_rows(const std::vector<Value>& values, std::size_t pitch, std::size_t width, std::size_t height,
                 Value inside) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool filled = i / pitch < height && i % pitch < width;
    ASSERT_EQ(values[i], filled ? inside : Value{0}) << "element " << i;
  }
}

TEST_F(Newer, RowsOfElementsAreFilled) {
  constexpr std::size_t kPitch = 64, kWidth = 9, kHeight = 5;  // elements, elements, rows
  using Fill8 = hipError_t(void*, std::size_t, unsigned char, std::size_t, std::size_t);
  using Fill16 = hipError_t(void*, std::size_t, unsigned short, std::size_t, std::size_t);
  using Fill32 = hipError_t(void*, std::size_t, unsigned, std::size_t, std::size_t);
  using Fill32Async = hipError_t(void*, std::size_t, unsigned, std::size_t, std::size_t, hipStream_t);
  const auto zero = get<hipError_t(void*, int, std::size_t)>("hipMemset");
  void* const target = allocate(kPitch * 8 * 4);
  ASSERT_EQ(zero(target, 0, kPitch * 8 * 4), hipSuccess);
  ASSERT_EQ(get<Fill8>("hipMemsetD2D8")(target, kPitch, 0xa5, kWidth, kHeight), hipSuccess);
  expect_rows(read<unsigned char>(target, kPitch * 8), kPitch, kWidth, kHeight,
              static_cast<unsigned char>(0xa5));
  ASSERT_EQ(zero(target, 0, kPitch * 8 * 4), hipSuccess);
  ASSERT_EQ(get<Fill16>("hipMemsetD2D16")(target, kPitch * 2, 0xa55a, kWidth, kHeight), hipSuccess);
  expect_rows(read<unsigned short>(target, kPitch * 8), kPitch, kWidth, kHeight,
              static_cast<unsigned short>(0xa55a));
  ASSERT_EQ(zero(target, 0, kPitch * 8 * 4), hipSuccess);
  ASSERT_EQ(get<Fill32>("hipMemsetD2D32")(target, kPitch * 4, 0xdeadbeef, kWidth, kHeight), hipSuccess);
  expect_rows(read<unsigned>(target, kPitch * 8), kPitch, kWidth, kHeight, 0xdeadbeefu);
  ASSERT_EQ(get<Fill32Async>("hipMemsetD2D32Async")(target, kPitch * 4, 7u, kWidth, kHeight, nullptr),
            hipSuccess);
  expect_rows(read<unsigned>(target, kPitch * 8), kPitch, kWidth, kHeight, 7u);
  const auto fill16 = get<Fill16>("hipMemsetD2D16");
  EXPECT_EQ(fill16(target, 2 * kWidth - 2, 1, kWidth, kHeight), kInvalid) << "rows that overlap";
  EXPECT_EQ(fill16(static_cast<char*>(target) + 1, kPitch, 1, kWidth, kHeight), kInvalid) << "not aligned";
  EXPECT_EQ(fill16(target, kPitch, 1, 0, kHeight), hipSuccess) << "nothing to fill";
}

TEST_F(Newer, ABatchOfCopiesIsInStreamOrder) {
  using Batch = hipError_t(void**, void**, std::size_t*, std::size_t, hipMemcpyAttributes*, std::size_t*,
                           std::size_t, std::size_t*, hipStream_t);
  const auto batch = get<Batch>("hipMemcpyBatchAsync");
  std::vector<int> source(1000), target(1000);
  std::iota(source.begin(), source.end(), 1);
  void* const device = allocate(4000);
  std::array<void*, 2> to = {device, target.data()};
  std::array<void*, 2> from = {source.data(), device};
  std::array<std::size_t, 2> sizes = {4000, 4000};
  std::size_t failed = 5;
  ASSERT_EQ(batch(to.data(), from.data(), sizes.data(), 2, nullptr, nullptr, 0, &failed, nullptr),
            hipSuccess);
  synchronize();
  EXPECT_EQ(target, source);
  EXPECT_EQ(failed, ~std::size_t{0});
  to[1] = nullptr;
  EXPECT_EQ(batch(to.data(), from.data(), sizes.data(), 2, nullptr, nullptr, 0, &failed, nullptr), kInvalid);
  EXPECT_EQ(failed, 1u);
  EXPECT_EQ(get<hipError_t()>("hipGetLastError")(), kInvalid);
  EXPECT_EQ(batch(nullptr, from.data(), sizes.data(), 2, nullptr, nullptr, 0, &failed, nullptr), kInvalid);
  EXPECT_EQ(batch(to.data(), from.data(), sizes.data(), 0, nullptr, nullptr, 0, &failed, nullptr), kInvalid);
  hipMemcpyAttributes attributes{};
  std::size_t first = 0;
  EXPECT_EQ(batch(to.data(), from.data(), sizes.data(), 2, &attributes, &first, 1, &failed, nullptr),
            kInvalid)
      << "no order of access";
}

TEST_F(Newer, ABatchOfBoxes) {
  using Batch = hipError_t(std::size_t, hipMemcpy3DBatchOp*, std::size_t*, unsigned long long, hipStream_t);
  const auto batch = get<Batch>("hipMemcpy3DBatchAsync");
  std::vector<unsigned char> source(32 * 4 * 2), target(32 * 4 * 2);
  std::iota(source.begin(), source.end(), 0);
  void* const device = allocate(64 * 8 * 2);
  const auto pointer = [](void* at, std::size_t row, std::size_t rows) {
    hipMemcpy3DOperand operand{};
    operand.type = hipMemcpyOperandTypePointer;
    operand.op.ptr.ptr = at;
    operand.op.ptr.rowLength = row;
    operand.op.ptr.layerHeight = rows;
    return operand;
  };
  std::array<hipMemcpy3DBatchOp, 2> ops{};
  for (hipMemcpy3DBatchOp& op : ops) {
    op.extent = {32, 4, 2};
    op.srcAccessOrder = hipMemcpySrcAccessOrderStream;
  }
  ops[0].src = pointer(source.data(), 0, 0);
  ops[0].dst = pointer(device, 64, 8);
  ops[1].src = pointer(device, 64, 8);
  ops[1].dst = pointer(target.data(), 0, 0);
  std::size_t failed = 0;
  ASSERT_EQ(batch(2, ops.data(), &failed, 0, nullptr), hipSuccess);
  synchronize();
  EXPECT_EQ(target, source);
  ops[1].dst.op.ptr.ptr = nullptr;
  EXPECT_EQ(batch(2, ops.data(), &failed, 0, nullptr), kInvalid);
  EXPECT_EQ(failed, 1u);
  EXPECT_EQ(batch(0, ops.data(), &failed, 0, nullptr), kInvalid);
}

TEST_F(Newer, AdviceAndPrefetchByLocation) {
  void* managed = nullptr;
  ASSERT_EQ((get<hipError_t(void**, std::size_t, unsigned)>("hipMallocManaged")(&managed, 1 << 20,
                                                                                hipMemAttachGlobal)),
            hipSuccess);
  using Advise = hipError_t(const void*, std::size_t, hipMemoryAdvise, hipMemLocation);
  using Prefetch = hipError_t(const void*, std::size_t, hipMemLocation, unsigned, hipStream_t);
  const auto advise = get<Advise>("hipMemAdvise_v2");
  const auto prefetch = get<Prefetch>("hipMemPrefetchAsync_v2");
  const hipMemLocation device{hipMemLocationTypeDevice, 0};
  const hipMemLocation nowhere{hipMemLocationTypeInvalid, 0};
  hipMemLocation host{};
  const int kHost = 2;
  std::memcpy(&host.type, &kHost, sizeof kHost);
  EXPECT_EQ(advise(managed, 1 << 20, hipMemAdviseSetPreferredLocation, device), hipSuccess);
  EXPECT_EQ(advise(managed, 1 << 20, hipMemAdviseSetPreferredLocation, host), hipSuccess);
  EXPECT_EQ(advise(managed, 1 << 20, hipMemAdviseSetPreferredLocation, nowhere), kInvalid);
  EXPECT_EQ(prefetch(managed, 1 << 20, device, 0, nullptr), hipSuccess);
  EXPECT_EQ(prefetch(managed, 1 << 20, host, 0, nullptr), hipSuccess);
  EXPECT_EQ(prefetch(managed, 1 << 20, device, 1, nullptr), kInvalid) << "flags";
  EXPECT_EQ(prefetch(managed, 1 << 20, nowhere, 0, nullptr), kInvalid);
  synchronize();
}

TEST_F(Newer, LaunchByConfiguration) {
  using Launch = hipError_t(const HIP_LAUNCH_CONFIG*, hipFunction_t, void**, void**);
  const auto launch = get<Launch>("hipDrvLaunchKernelEx");
  const hipFunction_t kernel = kernel_of(load(), "fill");
  FillArguments arguments(allocate(256 * sizeof(int)), 42, 256);
  hipLaunchAttribute attribute{};
  attribute.id = hipLaunchAttributePriority;
  HIP_LAUNCH_CONFIG config{4, 1, 1, 64, 1, 1, 0, nullptr, &attribute, 1};
  ASSERT_EQ(launch(&config, kernel, arguments.get(), nullptr), hipSuccess);
  expect_counted(arguments, 42);
  attribute.id = hipLaunchAttributeCooperative;
  attribute.value.cooperative = 1;
  FillArguments again(allocate(64 * sizeof(int)), 7, 64);
  config.gridDimX = 1;
  ASSERT_EQ(launch(&config, kernel, again.get(), nullptr), hipSuccess);
  expect_counted(again, 7);
  EXPECT_EQ(launch(nullptr, kernel, arguments.get(), nullptr), kInvalid);
  const int unknown = 77;
  std::memcpy(&attribute.id, &unknown, sizeof unknown);
  EXPECT_EQ(launch(&config, kernel, arguments.get(), nullptr), kInvalid);
  config.attrs = nullptr;
  EXPECT_EQ(launch(&config, kernel, arguments.get(), nullptr), kInvalid) << "attributes that are not there";
}

// This program has no kernels of its own, so nothing is launched; what hipLaunchKernel answers shows that it
// was asked.
TEST_F(Newer, LaunchOfAStubByConfiguration) {
  using Launch = hipError_t(const hipLaunchConfig_t*, const void*, void**);
  const auto launch = get<Launch>("hipLaunchKernelExC");
  hipLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  EXPECT_EQ(launch(&config, nullptr, nullptr), hipErrorInvalidDeviceFunction);
  EXPECT_EQ(launch(nullptr, nullptr, nullptr), kInvalid);
  config.numAttrs = 1;
  EXPECT_EQ(launch(&config, nullptr, nullptr), kInvalid) << "attributes that are not there";
}

TEST_F(Newer, AFatBinaryIsAModule) {
  std::FILE* const file = std::fopen(kKernelFile, "rb");
  ASSERT_NE(file, nullptr);
  std::vector<char> image(1 << 20);
  image.resize(std::fread(image.data(), 1, image.size(), file));
  std::fclose(file);
  using Load = hipError_t(hipModule_t*, const void*);
  hipModule_t module = nullptr;
  ASSERT_EQ(get<Load>("hipModuleLoadFatBinary")(&module, image.data()), hipSuccess);
  EXPECT_NE(kernel_of(module, "fill"), nullptr);
  EXPECT_EQ(get<Load>("hipModuleLoadFatBinary")(nullptr, image.data()), kInvalid);
}

TEST_F(Newer, BoxesGoBetweenDevices) {
  using Copy = hipError_t(hipMemcpy3DPeerParms*);
  using CopyAsync = hipError_t(hipMemcpy3DPeerParms*, hipStream_t);
  const auto copy = get<Copy>("hipMemcpy3DPeer");
  const auto copy_async = get<CopyAsync>("hipMemcpy3DPeerAsync");
  void* const source = allocate(64 * 4);
  void* const target = allocate(32 * 4);
  ASSERT_EQ(get<hipError_t(void*, int, std::size_t)>("hipMemset")(source, 0x5a, 64 * 4), hipSuccess);
  ASSERT_EQ(get<hipError_t(void*, int, std::size_t)>("hipMemset")(target, 0, 32 * 4), hipSuccess);
  hipMemcpy3DPeerParms box{};
  box.srcPtr = {source, 64, 64, 4};
  box.dstPtr = {target, 32, 32, 4};
  box.extent = {32, 2, 1};
  ASSERT_EQ(copy(&box), hipSuccess);
  box.dstPos = {0, 3, 0};
  box.extent = {32, 1, 1};
  ASSERT_EQ(copy_async(&box, nullptr), hipSuccess);
  const std::vector<unsigned char> found = read<unsigned char>(target, 32 * 4);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i / 32 == 2 ? 0 : 0x5a) << i;
  box.dstDevice = 77;
  EXPECT_EQ(copy(&box), hipErrorInvalidDevice);
  EXPECT_EQ(copy_async(&box, nullptr), hipErrorInvalidDevice);
  EXPECT_EQ(copy(nullptr), kInvalid);
  EXPECT_EQ(copy_async(nullptr, nullptr), kInvalid);
}

// The event is recorded whenever the graph runs, and orders nothing inside the capture.
TEST_F(Newer, AnExternalRecordOfACaptureIsANode) {
  const auto record = get<hipError_t(hipEvent_t, hipStream_t, unsigned)>("hipEventRecordWithFlags");
  const auto query = get<decltype(hipEventQuery)>("hipEventQuery");
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  ASSERT_EQ(get<decltype(hipStreamCreate)>("hipStreamCreate")(&stream), hipSuccess);
  ASSERT_EQ(get<hipError_t(hipEvent_t*)>("hipEventCreate")(&event), hipSuccess);
  EXPECT_EQ(record(event, stream, 0), hipSuccess);
  EXPECT_EQ(record(event, stream, 1), hipSuccess) << "without a capture as any other";
  EXPECT_EQ(record(event, stream, 2), kInvalid);
  EXPECT_NE(record(nullptr, stream, 1), hipSuccess);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(get<decltype(hipStreamBeginCapture)>("hipStreamBeginCapture")(stream, hipStreamCaptureModeGlobal),
            hipSuccess);
  EXPECT_EQ(record(event, stream, 1), hipSuccess);
  ASSERT_EQ(get<decltype(hipStreamEndCapture)>("hipStreamEndCapture")(stream, &graph), hipSuccess);
  std::size_t count = 1;
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(get<decltype(hipGraphGetNodes)>("hipGraphGetNodes")(graph, &node, &count), hipSuccess);
  ASSERT_EQ(count, 1u);
  int type = -1;
  ASSERT_EQ((get<hipError_t(hipGraphNode_t, int*)>("hipGraphNodeGetType")(node, &type)), hipSuccess);
  EXPECT_EQ(type, 7) << "an event record";
  hipGraphExec_t exec = nullptr;
  using Instantiate = hipError_t(hipGraphExec_t*, hipGraph_t, unsigned long long);
  ASSERT_EQ(get<Instantiate>("hipGraphInstantiateWithFlags")(&exec, graph, 0), hipSuccess);
  ASSERT_EQ(get<decltype(hipGraphLaunch)>("hipGraphLaunch")(exec, stream), hipSuccess);
  ASSERT_EQ(get<decltype(hipStreamSynchronize)>("hipStreamSynchronize")(stream), hipSuccess);
  EXPECT_EQ(query(event), hipSuccess);
}

TEST_F(Newer, SharedMemoryThatIsLeft) {
  using Ask = hipError_t(std::size_t*, const void*, int, int);
  const auto ask = get<Ask>("hipOccupancyAvailableDynamicSMemPerBlock");
  std::size_t bytes = 0;
  EXPECT_EQ(ask(nullptr, nullptr, 1, 64), kInvalid);
  EXPECT_EQ(ask(&bytes, nullptr, 0, 64), kInvalid);
  EXPECT_EQ(ask(&bytes, nullptr, 1, 0), kInvalid);
  EXPECT_NE(ask(&bytes, nullptr, 1, 64), hipSuccess) << "no kernel";
}

}  // namespace
}  // namespace tf::majors
