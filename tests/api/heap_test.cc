// SPDX-License-Identifier: Apache-2.0
// The heap of kernels: malloc, free, new and delete there, its limit, and how long its memory lives.
#include <hip/hiprtc.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"
#include "tests/api/module_fixture.h"

extern "C" hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value);  // HIP 5.3

namespace tf::api_test {
namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr int kBlocks = 16, kHeapThreads = 64, kAll = kBlocks * kHeapThreads;

// What kernels have allocated, one piece for each of their threads.
class Kept {
 public:
  explicit Kept(std::size_t bytes)
      : bytes_(bytes), pointers_(kAll * sizeof(int*)), out_(kAll * sizeof(int)) {}

  void allocate(int value) {
    launch_allocate_each(pointers_.get<int*>(), bytes_, value, kBlocks, kHeapThreads);
    EXPECT_EQ(hipGetLastError(), hipSuccess);
  }
  std::vector<int*> pointers() const {
    std::vector<int*> found(kAll);
    EXPECT_EQ(hipMemcpy(found.data(), pointers_.get(), kAll * sizeof(int*), hipMemcpyDeviceToHost),
              hipSuccess);
    return found;
  }
  std::vector<int> values() const {
    launch_read_each(pointers_.get<int*>(), bytes_, out_.get<int>(), kBlocks, kHeapThreads);
    return read_ints(out_.get(), kAll);
  }
  void free() {
    launch_free_each(pointers_.get<int*>(), kBlocks, kHeapThreads);
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  }
  std::size_t count() const {
    const auto found = pointers();
    return static_cast<std::size_t>(kAll - std::count(found.begin(), found.end(), nullptr));
  }

 private:
  const std::size_t bytes_;
  DeviceBuffer pointers_, out_;
};

TEST(Heap, MemoryLivesUntilALaterKernelFreesIt) {
  Kept small(20), large(4000);
  for (int round = 0; round < 3; ++round) {
    small.allocate(100 * round);
    large.allocate(7000);
    std::set<int*> all;
    for (const Kept* kept : {&small, &large})
      for (int* pointer : kept->pointers()) all.insert(pointer);
    EXPECT_EQ(all.size(), 2u * kAll) << "all differ, and none is null";
    EXPECT_FALSE(all.contains(nullptr));
    EXPECT_EQ(small.values(), counting_ints(kAll, 100 * round));
    small.free();
    EXPECT_EQ(large.values(), counting_ints(kAll, 7000));
    large.free();
  }
}

TEST(Heap, NewAndDelete) {
  DeviceBuffer out((kBlocks + kHeapThreads + 1) * sizeof(int));
  HIP_OK(hipMemset(out.get(), 0, (kBlocks + kHeapThreads + 1) * sizeof(int)));
  launch_allocate_for_all(out.get<int>(), kBlocks, kHeapThreads);
  launch_make_shapes(out.get<int>() + kBlocks, out.get<int>() + kBlocks + kHeapThreads, kHeapThreads);
  std::vector<int> expected(kBlocks, kHeapThreads * (kHeapThreads - 1) / 2);
  for (int i = 0; i < kHeapThreads; ++i) expected.push_back(i % 2 == 0 ? 4 : 3);
  expected.push_back(kHeapThreads / 2);
  EXPECT_EQ(read_ints(out.get(), kBlocks + kHeapThreads + 1), expected);
}

TEST(Heap, ItsLimitHolds) {
  if (is_nvidia()) GTEST_SKIP() << "the driver's heap has its size from the first kernel on";
  std::size_t before = 0;
  HIP_OK(hipDeviceGetLimit(&before, hipLimitMallocHeapSize));
  for (const std::size_t limit : {kMiB, 4 * kMiB}) {
    HIP_OK(hipDeviceSetLimit(hipLimitMallocHeapSize, limit));
    for (const std::size_t bytes : {std::size_t{8192}, std::size_t{65536}}) {
      Kept kept(bytes);
      for (int round = 0; round < 2; ++round) {  // what is freed is there again
        kept.allocate(0);
        EXPECT_EQ(kept.count(), std::min<std::size_t>(kAll, limit / bytes)) << limit << " " << bytes;
        kept.free();
      }
    }
    Kept one(limit + 1);
    one.allocate(0);
    EXPECT_EQ(one.count(), 0u);
  }
  HIP_OK(hipDeviceSetLimit(hipLimitMallocHeapSize, before));
}

TEST(Heap, HostFunctionsDoNotKnowItsMemory) {
  if (is_nvidia()) GTEST_SKIP() << "the driver knows it";
  Kept kept(4096);
  kept.allocate(0);
  int* const pointer = kept.pointers()[0];
  ASSERT_NE(pointer, nullptr);
  hipPointerAttribute_t attributes;
  EXPECT_EQ(hipPointerGetAttributes(&attributes, pointer), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(pointer), hipErrorInvalidValue);
  kept.free();
}

// A kernel that another module allocates for, compiled at run time.
constexpr char kSource[] = R"(
extern "C" __global__ void swap_each(int** kept, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int* const made = static_cast<int*>(malloc(count * sizeof(int)));
  for (int n = 0; n < count; ++n) made[n] = kept[i][n] + 1;
  free(kept[i]);
  kept[i] = made;
}
extern "C" __global__ void read_each(int** kept, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int* const copy = new int(kept[i][0]);
  out[i] = *copy;
  delete copy;
  free(kept[i]);
}
)";

std::vector<char> compiled(const char* source) {
  hiprtcProgram program = nullptr;
  EXPECT_EQ(hiprtcCreateProgram(&program, source, "heap.hip", 0, nullptr, nullptr), HIPRTC_SUCCESS);
  const hiprtcResult made = hiprtcCompileProgram(program, 0, nullptr);
  std::size_t bytes = 0;
  std::string log;
  if (hiprtcGetProgramLogSize(program, &bytes) == HIPRTC_SUCCESS) log.resize(bytes);
  if (bytes != 0) {
    EXPECT_EQ(hiprtcGetProgramLog(program, log.data()), HIPRTC_SUCCESS);
  }
  EXPECT_EQ(made, HIPRTC_SUCCESS) << log;
  std::vector<char> code;
  if (hiprtcGetCodeSize(program, &bytes) == HIPRTC_SUCCESS) code.resize(bytes);
  EXPECT_EQ(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
  EXPECT_EQ(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
  return code;
}

TEST(Heap, KernelsOfAnotherModuleShareIt) {
  const std::vector<char> code = compiled(kSource);
  hipModule_t module = nullptr;
  HIP_OK(hipModuleLoadData(&module, code.data()));
  hipFunction_t swap = nullptr, read = nullptr;
  HIP_OK(hipModuleGetFunction(&swap, module, "swap_each"));
  HIP_OK(hipModuleGetFunction(&read, module, "read_each"));
  DeviceBuffer pointers(kAll * sizeof(int*)), out(kAll * sizeof(int));
  launch_allocate_each(pointers.get<int*>(), sizeof(int), 50, kBlocks, kHeapThreads);
  void *kept = pointers.get(), *to = out.get();
  int count = 1;
  void* swap_arguments[] = {&kept, &count};
  void* read_arguments[] = {&kept, &to};
  HIP_OK(hipModuleLaunchKernel(swap, kBlocks, 1, 1, kHeapThreads, 1, 1, 0, nullptr, swap_arguments, nullptr));
  HIP_OK(hipModuleLaunchKernel(read, kBlocks, 1, 1, kHeapThreads, 1, 1, 0, nullptr, read_arguments, nullptr));
  EXPECT_EQ(read_ints(out.get(), kAll), counting_ints(kAll, 51));
  HIP_OK(hipModuleUnload(module));
}

TEST(Heap, AResetFreesIt) {
  if (is_nvidia()) GTEST_SKIP() << "a reset ends the driver's context";
  std::size_t limit = 0;
  HIP_OK(hipDeviceGetLimit(&limit, hipLimitMallocHeapSize));
  const std::size_t bytes = 64 << 10;
  {
    // hipDeviceReset frees the buffers, too.
    int** pointers = nullptr;
    HIP_OK(hipMalloc(reinterpret_cast<void**>(&pointers), kAll * sizeof(int*)));
    launch_allocate_each(pointers, bytes, 0, kBlocks, kHeapThreads);
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipDeviceReset());
  }
  Kept kept(bytes);
  kept.allocate(0);
  EXPECT_EQ(kept.count(), std::min<std::size_t>(kAll, limit / bytes));
  kept.free();
}

}  // namespace
}  // namespace tf::api_test
