// SPDX-License-Identifier: Apache-2.0
// Managed variables: one memory that host code and kernels both have. The host touches it only while no work
// runs, so the tests hold for every device that has managed memory.
#include <algorithm>
#include <vector>

#include "hip_test.h"
#include "managed_variables.h"

namespace tf::api_test {
namespace {

bool has_managed_memory() {
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeManagedMemory, 0), hipSuccess);
  return value != 0;
}

// As host code names the variable: HIP's templates would take a pointer for the variable itself.
const void* symbol(const void* place) { return place; }

// Resets what the kernel changes, since the tests share it.
class ManagedVariables : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_managed_memory()) GTEST_SKIP() << "no managed memory";
    HIP_OK(hipDeviceSynchronize());
    *at().counter = 5;
    std::fill(at().table, at().table + kManagedTable, 0);
  }
  static ManagedPlaces at() { return managed_places(); }
  static void step(int by, hipStream_t stream = nullptr) {
    launch_managed_step(by, stream);
    ASSERT_EQ(hipGetLastError(), hipSuccess);
  }
};

// The first test of the program: nothing has changed them.
TEST(ManagedVariablesAtFirst, HaveTheirFirstValues) {
  const ManagedPlaces at = managed_places();
  EXPECT_EQ(*at.counter, 5);
  EXPECT_EQ(std::vector<int>(at.table, at.table + 4), (std::vector<int>{1, 2, 3, 0}));
  EXPECT_EQ(at.point->x, 3);
  EXPECT_EQ(at.point->y, 2.5);
  EXPECT_EQ(*at.hidden, -1);
  EXPECT_EQ(*at.link, nullptr);
  EXPECT_EQ(*at.constant, 42);
  EXPECT_EQ(*at.of_template, 7);
  EXPECT_EQ(*at.of_template_2, 7.0);
  EXPECT_EQ(*at.of_header, 11);
  EXPECT_EQ(std::count(at.block, at.block + kManagedBlockBytes, 0), kManagedBlockBytes);
}

TEST_F(ManagedVariables, KernelsFindWhatTheCompilerAndTheHostWrote) {
  const long hidden = *at().hidden;
  const ManagedPoint point = *at().point;
  const int of_template = *at().of_template;
  const int of_header = *at().of_header;
  *at().counter = 100;
  *at().link = at().counter;
  step(1);
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(*at().counter, 42) << "by the link";
  EXPECT_EQ(*at().hidden, hidden - 1);
  EXPECT_EQ(at().point->x, point.x + 1);
  EXPECT_EQ(at().point->y, point.y * 2);
  EXPECT_EQ(*at().of_template, of_template + 1);
  EXPECT_EQ(*at().of_template_2, of_template + 1);
  EXPECT_EQ(*at().of_header, of_header + 2);
  EXPECT_EQ(at().block[kManagedBlockBytes - 1], 1);
  *at().link = nullptr;
}

TEST_F(ManagedVariables, GoBackAndForth) {
  TestStream stream;
  TestEvent event;
  for (int round = 1; round <= 5; ++round) {
    step(1, stream);
    if (round % 2 == 0) {
      HIP_OK(hipStreamSynchronize(stream));
    } else {
      HIP_OK(hipEventRecord(event, stream));
      HIP_OK(hipEventSynchronize(event));
    }
    ASSERT_EQ(*at().counter, 5 + 11 * round - 10);
    ASSERT_EQ(at().table[0], 2 * round - 1);
    ASSERT_EQ(at().table[kManagedTable - 1], 2 * round - 1);
    *at().counter += 10;
    for (int i = 0; i < kManagedTable; ++i) ++at().table[i];
  }
}

TEST_F(ManagedVariables, AreSymbols) {
  void* address = nullptr;
  std::size_t bytes = 0;
  HIP_OK(hipGetSymbolAddress(&address, symbol(at().table)));
  EXPECT_EQ(address, at().table);
  HIP_OK(hipGetSymbolSize(&bytes, symbol(at().table)));
  EXPECT_EQ(bytes, kManagedTable * sizeof(int));
  HIP_OK(hipGetSymbolSize(&bytes, symbol(at().constant)));
  EXPECT_EQ(bytes, sizeof(int));
  const int values[2] = {70, 80};
  HIP_OK(hipMemcpyToSymbol(symbol(at().table), values, sizeof values, 3 * sizeof(int)));
  EXPECT_EQ(at().table[4], 80);
  step(1);
  TestStream stream;
  int seen[3] = {};
  HIP_OK(hipMemcpyFromSymbol(seen, symbol(at().table), sizeof seen, 2 * sizeof(int)));
  EXPECT_EQ(std::vector<int>(seen, seen + 3), (std::vector<int>{1, 71, 81}));
  HIP_OK(hipMemcpyToSymbolAsync(symbol(at().counter), values, sizeof(int), 0, hipMemcpyHostToDevice, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(*at().counter, 70);
  EXPECT_EQ(hipMemcpyToSymbol(symbol(at().counter), values, 4, 1), hipErrorInvalidValue) << "beyond its end";
  EXPECT_EQ(hipGetSymbolAddress(&address, symbol(at().table + 1)), hipErrorInvalidSymbol) << "inside";
}

TEST_F(ManagedVariables, AreManagedMemory) {
  hipPointerAttribute_t facts = {};
  HIP_OK(hipPointerGetAttributes(&facts, at().block + 10));
  EXPECT_EQ(facts.isManaged, 1);
  EXPECT_EQ(facts.devicePointer, at().block + 10);
  EXPECT_EQ(facts.hostPointer, at().block + 10);
  hipDeviceptr_t base = nullptr;
  std::size_t bytes = 0;
  HIP_OK(hipMemGetAddressRange(&base, &bytes, at().block + 10));
  EXPECT_EQ(base, at().block);
  EXPECT_EQ(bytes, static_cast<std::size_t>(kManagedBlockBytes));
  HIP_OK(hipMemset(at().block, 6, kManagedBlockBytes));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(at().block[77], 6);
  for (void* pointer : {static_cast<void*>(at().counter), static_cast<void*>(at().block)}) {
    EXPECT_EQ(hipFree(pointer), hipErrorInvalidValue) << "a variable is not the program's to free";
    EXPECT_EQ(hipHostFree(pointer), hipErrorInvalidValue);
  }
  step(2);
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(*at().counter, 7);
}

TEST_F(ManagedVariables, AreAdvisedAndPrefetched) {
  TestStream stream;
  constexpr std::size_t kBytes = kManagedBlockBytes;
  HIP_OK(hipMemAdvise(at().block, kBytes, hipMemAdviseSetReadMostly, 0));
  int read_mostly = 0;
  HIP_OK(hipMemRangeGetAttribute(&read_mostly, sizeof read_mostly, hipMemRangeAttributeReadMostly, at().block,
                                 kBytes));
  EXPECT_EQ(read_mostly, 1);
  HIP_OK(hipMemAdvise(at().block, kBytes, hipMemAdviseUnsetReadMostly, 0));
  at().block[0] = 9;
  HIP_OK(hipMemPrefetchAsync(at().block, kBytes, 0, stream));
  step(3, stream);
  HIP_OK(hipMemPrefetchAsync(at().block, kBytes, hipCpuDeviceId, stream));
  HIP_OK(hipStreamSynchronize(stream));
  int last = 0;
  HIP_OK(hipMemRangeGetAttribute(&last, sizeof last, hipMemRangeAttributeLastPrefetchLocation, at().block,
                                 kBytes));
  EXPECT_EQ(last, hipCpuDeviceId);
  EXPECT_EQ(at().block[0], 9);
  EXPECT_EQ(at().block[kBytes - 1], 3);
  HIP_OK(hipStreamAttachMemAsync(stream, at().counter, 0, hipMemAttachSingle));
  HIP_OK(hipStreamSynchronize(stream));
}

TEST_F(ManagedVariables, InAGraph) {
  TestStream stream;
  int seen = 0;
  const int start = 50;
  HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  HIP_OK(
      hipMemcpyToSymbolAsync(symbol(at().counter), &start, sizeof start, 0, hipMemcpyHostToDevice, stream));
  step(4, stream);
  HIP_OK(
      hipMemcpyFromSymbolAsync(&seen, symbol(at().counter), sizeof seen, 0, hipMemcpyDeviceToHost, stream));
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec = nullptr;
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int round = 1; round <= 3; ++round) {
    HIP_OK(hipGraphLaunch(exec, stream));
    HIP_OK(hipStreamSynchronize(stream));
    EXPECT_EQ(seen, 54);
    EXPECT_EQ(*at().counter, 54);
    EXPECT_EQ(at().table[9], 5 * round - 1);
    ++at().table[9];
  }
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

TEST_F(ManagedVariables, AreThereOnEveryDevice) {
  for (int device = 0; device < device_count(); ++device) {
    HIP_OK(hipSetDevice(device));
    step(1);
    HIP_OK(hipDeviceSynchronize());
    EXPECT_EQ(*at().counter, 6 + device);
    EXPECT_EQ(at().table[1], 1 + device);
  }
  HIP_OK(hipSetDevice(0));
}

TEST_F(ManagedVariables, OutliveAReset) {
  *at().counter = 90;
  step(1);
  HIP_OK(hipDeviceReset());
  EXPECT_EQ(*at().counter, 91);
  EXPECT_EQ(*at().constant, 42);
  step(1);
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(*at().counter, 92);
  EXPECT_EQ(at().table[5], 2);
}

TEST_F(ManagedVariables, OfAModule) {
  for (int round = 0; round < 2; ++round) {
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    HIP_OK(hipModuleLoad(&module, MANAGED_MODULE_FILE));
    HIP_OK(hipModuleGetFunction(&function, module, "add_to_values"));
    int step = 5;
    void* arguments[] = {&step};
    HIP_OK(hipModuleLaunchKernel(function, 1, 1, 1, 3, 1, 1, 0, nullptr, arguments, nullptr));
    hipDeviceptr_t address = nullptr;
    std::size_t bytes = 0;
    HIP_OK(hipModuleGetGlobal(&address, &bytes, module, "module_values"));
    ASSERT_EQ(bytes, 3 * sizeof(int));
    HIP_OK(hipDeviceSynchronize());
    auto* const values = static_cast<int*>(address);
    EXPECT_EQ(std::vector<int>(values, values + 3), (std::vector<int>{30, 40, 50}));
    values[1] = 1000;
    HIP_OK(hipModuleLaunchKernel(function, 1, 1, 1, 3, 1, 1, 0, nullptr, arguments, nullptr));
    HIP_OK(hipDeviceSynchronize());
    EXPECT_EQ(values[1], 1020);
    hipPointerAttribute_t facts = {};
    HIP_OK(hipPointerGetAttributes(&facts, values));
    EXPECT_EQ(facts.isManaged, 1);
    EXPECT_EQ(hipFree(values), hipErrorInvalidValue);
    HIP_OK(hipModuleUnload(module));
    EXPECT_NE(hipPointerGetAttributes(&facts, values), hipSuccess) << "gone with its module";
  }
}

// Opened, the library registers its variable while the loader holds its lock.
TEST_F(ManagedVariables, OfALibraryThatIsOpenedAndClosed) {
  for (int round = 0; round < 3; ++round) {
    void* const library = dlopen(MANAGED_PLUGIN_FILE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    auto* const place = reinterpret_cast<int* (*)()>(dlsym(library, "plugin_place"));
    auto* const triple = reinterpret_cast<hipError_t (*)()>(dlsym(library, "plugin_triple"));
    ASSERT_TRUE(place != nullptr && triple != nullptr);
    EXPECT_EQ(*place(), 3);
    *place() = 4;
    ASSERT_EQ(triple(), hipSuccess);
    EXPECT_EQ(*place(), 12);
    const int* const was = place();
    ASSERT_EQ(dlclose(library), 0);
    hipPointerAttribute_t facts = {};
    EXPECT_NE(hipPointerGetAttributes(&facts, was), hipSuccess) << "gone with its library";
  }
}

}  // namespace
}  // namespace tf::api_test
