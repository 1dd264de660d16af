// SPDX-License-Identifier: Apache-2.0
// The library of one HIP major: TF_TEST_HIP_MAJOR says which; it is opened by name, as the loader finds it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "hipcore/newer/hip_types.h"

namespace tf::majors {

inline constexpr hipError_t kInvalid = hipErrorInvalidValue;

class Major : public testing::Test {
 protected:
  void SetUp() override {
    const char* const wanted = std::getenv("TF_TEST_HIP_MAJOR");
    ASSERT_NE(wanted, nullptr) << "TF_TEST_HIP_MAJOR says which library to open";
    major_ = std::atoi(wanted);
    const std::string name = "libamdhip64.so." + std::to_string(major_);
    library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
  }

  template <typename Function>
  Function* get(const char* name) const {
    void* const found = ::dlsym(library_, name);
    EXPECT_NE(found, nullptr) << name;
    return reinterpret_cast<Function*>(found);
  }

  // Of hipMemoryType.
  int host_type() const { return major_ >= 6 ? 1 : 0; }
  int device_type() const { return major_ >= 6 ? 2 : 1; }
  int managed_type() const { return major_ >= 6 ? 3 : 1; }

  int memory_type(const void* pointer) const {
    hipPointerAttribute_t attributes;
    std::memset(&attributes, 0xee, sizeof attributes);
    EXPECT_EQ(get<decltype(hipPointerGetAttributes)>("hipPointerGetAttributes")(&attributes, pointer),
              hipSuccess);
    int type = -1;
    std::memcpy(&type, &attributes.memoryType, sizeof type);
    return type;
  }

  void* allocate(std::size_t bytes) const {
    void* pointer = nullptr;
    EXPECT_EQ(get<hipError_t(void**, std::size_t)>("hipMalloc")(&pointer, bytes), hipSuccess);
    return pointer;
  }

  int major_ = 0;
  void* library_ = nullptr;
};

}  // namespace tf::majors
