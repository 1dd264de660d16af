// SPDX-License-Identifier: Apache-2.0
// A runtime on a driver that only remembers.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstdlib>

#include "tests/support/fake_cuda_driver.h"

namespace tf::fake_cuda {

inline const int kFakeDriver = ::setenv("HIP_CUDA_DRIVER", TF_FAKE_CUDA_DRIVER, 1);

inline void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

class CudaRuntime : public ::testing::Test {
 protected:
  CudaRuntime() {
    static_cast<void>(kFakeDriver);
    void* const library = ::dlopen(TF_FAKE_CUDA_DRIVER, RTLD_NOW);
    const auto get = reinterpret_cast<State* (*)()>(::dlsym(library, "fake_cuda_state"));
    driver_ = get();
    EXPECT_EQ(hipSetDevice(0), hipSuccess);
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);  // from here on the thread is ready
    const hipCtx_t current = driver_->current;
    *driver_ = State();
    driver_->current = current;
    EXPECT_EQ(hipStreamCreate(&stream_), hipSuccess);
    EXPECT_EQ(hipModuleLoadData(&module_, ".version 8.0"), hipSuccess);
    EXPECT_EQ(hipModuleGetFunction(&kernel_, module_, "kernel"), hipSuccess);
    driver_->calls.clear();
  }
  ~CudaRuntime() override { static_cast<void>(hipStreamDestroy(stream_)); }

  int calls(const char* name) { return driver_->calls[name]; }
  hipError_t launch(hipFunction_t function, unsigned shared_bytes, void** arguments = nullptr,
                    void** extra = nullptr) {
    return hipModuleLaunchKernel(function, 2, 3, 4, 5, 6, 7, shared_bytes, stream_, arguments, extra);
  }

  State* driver_ = nullptr;
  hipStream_t stream_ = nullptr;
  hipModule_t module_ = nullptr;
  hipFunction_t kernel_ = nullptr;
};

}  // namespace tf::fake_cuda
