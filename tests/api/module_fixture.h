// SPDX-License-Identifier: Apache-2.0
// The tests' code object, loaded for the time of a test.
#pragma once

#include "tests/api/hip_test.h"

namespace tf::api_test {

extern const char* const kKernelFile;  // kernel_file.cc, the only source that knows where this build lies

class LoadedModule {
 public:
  explicit LoadedModule(const char* file = kKernelFile) {
    EXPECT_EQ(hipModuleLoad(&module_, file), hipSuccess);
  }
  ~LoadedModule() { EXPECT_EQ(hipModuleUnload(module_), hipSuccess); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  operator hipModule_t() const { return module_; }  // NOLINT: used where a hipModule_t is
  hipFunction_t function(const char* name) const {
    hipFunction_t found = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&found, module_, name), hipSuccess) << name;
    return found;
  }

 private:
  hipModule_t module_ = nullptr;
};

inline std::vector<int> read_ints(const void* device, std::size_t count) {
  std::vector<int> values(count);
  EXPECT_EQ(hipMemcpy(values.data(), device, count * sizeof(int), hipMemcpyDeviceToHost), hipSuccess);
  return values;
}

// first, first + 1, ...
inline std::vector<int> counting_ints(std::size_t count, int first) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<int>(i);
  return values;
}

}  // namespace tf::api_test
