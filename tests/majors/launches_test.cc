// SPDX-License-Identifier: Apache-2.0
// Shapes of launches that AMD's runtime refuses in one major and not in another, or says something else of
// (hipcore/launch/module_shape.h has the source).
#include "tests/majors/major.h"

namespace tf::majors {
namespace {

constexpr unsigned kRowsMax = 65536;  // maxGridSize along y and z

class Launches : public Kernels {
 protected:
  hipError_t by_module(dim3 blocks, dim3 threads) const {
    const auto launch = get<decltype(hipModuleLaunchKernel)>("hipModuleLaunchKernel");
    return launch(nothing_, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z, 0, nullptr,
                  nullptr, nullptr);
  }
  hipError_t by_stub(const char* form, dim3 blocks, dim3 threads) const {
    using Launch = hipError_t(const void*, dim3, dim3, void**, std::size_t, hipStream_t);
    return get<Launch>(form)(stub_of_nothing_, blocks, threads, nullptr, 0, nullptr);
  }
  hipError_t by_stub_with_events(dim3 blocks, dim3 threads) const {
    using Launch =
        hipError_t(const void*, dim3, dim3, void**, std::size_t, hipStream_t, hipEvent_t, hipEvent_t, int);
    return get<Launch>("hipExtLaunchKernel")(stub_of_nothing_, blocks, threads, nullptr, 0, nullptr, nullptr,
                                             nullptr, 0);
  }
  hipError_t together(dim3 blocks, dim3 threads) const {
    using Launch = hipError_t(const void*, dim3, dim3, void**, unsigned, hipStream_t);
    return get<Launch>("hipLaunchCooperativeKernel")(stub_of_nothing_, blocks, threads, nullptr, 0, nullptr);
  }

  void SetUp() override {
    Kernels::SetUp();
    module_ = load();
    nothing_ = kernel_of(module_, "nothing");
    stub_of_nothing_ = stub("nothing");
  }
  void TearDown() override {
    synchronize();  // what was refused has not failed later
    EXPECT_EQ(get<hipError_t(hipModule_t)>("hipModuleUnload")(module_), hipSuccess);
    Kernels::TearDown();
  }

  hipModule_t module_ = nullptr;
  hipFunction_t nothing_ = nullptr;
  const void* stub_of_nothing_ = nullptr;
};

TEST_F(Launches, OfNothing) {
  const hipError_t of_stubs = major_ < 7 ? hipErrorInvalidValue : hipErrorInvalidConfiguration;
  for (const bool no_threads : {false, true}) {
    for (const dim3 empty : {dim3(0, 1, 1), dim3(1, 0, 1), dim3(1, 1, 0)}) {
      const dim3 blocks = no_threads ? dim3(1) : empty, threads = no_threads ? empty : dim3(1);
      EXPECT_EQ(by_stub("hipLaunchKernel", blocks, threads), of_stubs);
      EXPECT_EQ(by_stub("hipLaunchKernel_spt", blocks, threads), of_stubs);
      EXPECT_EQ(by_stub_with_events(blocks, threads), of_stubs);
      EXPECT_EQ(together(blocks, threads), hipErrorInvalidConfiguration);
      EXPECT_EQ(by_module(blocks, threads), hipErrorInvalidValue);
    }
  }
}

TEST_F(Launches, OfMoreRowsThanADeviceSays) {
  const hipError_t beyond = major_ == 6 ? hipErrorInvalidValue : hipSuccess;
  for (const bool along_z : {false, true}) {
    const dim3 most = along_z ? dim3(1, 1, kRowsMax) : dim3(1, kRowsMax, 1);
    const dim3 more = along_z ? dim3(1, 1, kRowsMax + 1) : dim3(1, kRowsMax + 1, 1);
    EXPECT_EQ(by_module(most, dim3(1)), hipSuccess);
    EXPECT_EQ(by_module(more, dim3(1)), beyond);
    EXPECT_EQ(by_stub("hipLaunchKernel", most, dim3(1)), hipSuccess);
    EXPECT_EQ(by_stub("hipLaunchKernel", more, dim3(1)), hipSuccess) << "as on AMD's devices before gfx12";
  }
}

TEST_F(Launches, OfMoreThreadsThan32BitsCount) {
  const hipError_t of_modules = major_ < 7 ? hipErrorInvalidConfiguration : hipErrorInvalidValue;
  EXPECT_EQ(by_module(dim3(1 << 24), dim3(1024)), of_modules);
  EXPECT_EQ(by_stub("hipLaunchKernel", dim3(1 << 24), dim3(1024)), hipErrorInvalidConfiguration);
  EXPECT_EQ(by_stub("hipLaunchKernel", dim3(1, 1 << 23), dim3(1, 512)), hipErrorInvalidConfiguration);
  EXPECT_EQ(by_stub_with_events(dim3(1, 1, 1 << 23), dim3(1, 1, 512)), hipErrorInvalidConfiguration);
}

}  // namespace
}  // namespace tf::majors
