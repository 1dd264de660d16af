// SPDX-License-Identifier: Apache-2.0
// Functions since HIP 6 that are other functions of HIP, and fills of rows of elements.
#include <array>
#include <numeric>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

class Newer : public Major {
 protected:
  void SetUp() override {
    Major::SetUp();
    if (major_ < 7) GTEST_SKIP() << "the functions are of HIP 7";
  }

  template <typename Value>
  std::vector<Value> read(const void* device, std::size_t count) const {
    std::vector<Value> values(count);
    using Copy = hipError_t(void*, const void*, std::size_t, hipMemcpyKind);
    EXPECT_EQ(get<Copy>("hipMemcpy")(values.data(), device, count * sizeof(Value), hipMemcpyDeviceToHost),
              hipSuccess);
    return values;
  }
  void synchronize() const { EXPECT_EQ(get<hipError_t()>("hipDeviceSynchronize")(), hipSuccess); }
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
  hipModule_t module = nullptr;
  ASSERT_EQ(get<decltype(hipModuleLoad)>("hipModuleLoad")(&module, KERNEL_FILE), hipSuccess);
  hipFunction_t kernel = nullptr;
  ASSERT_EQ(get<decltype(hipModuleGetFunction)>("hipModuleGetFunction")(&kernel, module, KERNEL_NAME),
            hipSuccess);
  int* const target = static_cast<int*>(allocate(256 * sizeof(int)));
  int count = 256;
  int value = 42;
  void* pointer = target;
  std::array<void*, 3> arguments = {&pointer, &value, &count};
  hipLaunchAttribute attribute{};
  attribute.id = hipLaunchAttributePriority;
  HIP_LAUNCH_CONFIG config{4, 1, 1, 64, 1, 1, 0, nullptr, &attribute, 1};
  using Launch = hipError_t(const HIP_LAUNCH_CONFIG*, hipFunction_t, void**, void**);
  const auto launch = get<Launch>("hipDrvLaunchKernelEx");
  ASSERT_EQ(launch(&config, kernel, arguments.data(), nullptr), hipSuccess);
  synchronize();
  std::vector<int> expected(256);
  std::iota(expected.begin(), expected.end(), 42);
  EXPECT_EQ(read<int>(target, 256), expected);
  EXPECT_EQ(launch(nullptr, kernel, arguments.data(), nullptr), kInvalid);
  const int unknown = 77;
  std::memcpy(&attribute.id, &unknown, sizeof unknown);
  EXPECT_EQ(launch(&config, kernel, arguments.data(), nullptr), kInvalid);
  config.attrs = nullptr;
  EXPECT_EQ(launch(&config, kernel, arguments.data(), nullptr), kInvalid) << "attributes that are not there";
}

}  // namespace
}  // namespace tf::majors
