// SPDX-License-Identifier: Apache-2.0
// The library of one HIP major: TF_TEST_HIP_MAJOR says which; it is opened by name, as the loader finds it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "hipcore/newer/hip_types.h"

namespace tf::majors {

extern const char* const kKernelFile;  // kernel_file.cc, the only source that knows where this build lies
inline constexpr hipError_t kInvalid = hipErrorInvalidValue;

// HIP_MEMCPY3D: of HIP 5 with 32-bit lengths, of later majors with std::size_t.
template <typename Length>
struct Copy3D {
  Length src_x, src_y, src_z, src_lod;
  int src_type;
  const void* src_host;
  void* src_device;
  void* src_array;
  Length src_pitch, src_height;
  Length dst_x, dst_y, dst_z, dst_lod;
  int dst_type;
  void* dst_host;
  void* dst_device;
  void* dst_array;
  Length dst_pitch, dst_height;
  Length width, height, depth;
};
static_assert(sizeof(Copy3D<unsigned>) == 128 && sizeof(Copy3D<std::size_t>) == 184);

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
  int managed_type() const { return major_ >= 6 ? 3 : 0; }

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

  template <typename Value>
  std::vector<Value> read(const void* device, std::size_t count) const {
    std::vector<Value> values(count);
    using Copy = hipError_t(void*, const void*, std::size_t, hipMemcpyKind);
    EXPECT_EQ(get<Copy>("hipMemcpy")(values.data(), device, count * sizeof(Value), hipMemcpyDeviceToHost),
              hipSuccess);
    return values;
  }
  void synchronize() const { EXPECT_EQ(get<hipError_t()>("hipDeviceSynchronize")(), hipSuccess); }

  int major_ = 0;
  void* library_ = nullptr;
};

// Arguments of the kernel fill(int* out, int value, int n): out[i] = value + i.
class FillArguments {
 public:
  FillArguments(void* out, int value, int count) : out_(out), value_(value), count_(count) {}
  FillArguments(const FillArguments&) = delete;
  FillArguments& operator=(const FillArguments&) = delete;
  void** get() { return pointers_.data(); }
  const void* out() const { return out_; }
  std::size_t count() const { return static_cast<std::size_t>(count_); }

 private:
  void* out_;
  int value_;
  int count_;
  std::array<void*, 3> pointers_ = {&out_, &value_, &count_};
};

class Kernels : public Major {
 protected:
  void TearDown() override {
    if (binary_ != nullptr) get<void(void**)>("__hipUnregisterFatBinary")(binary_);
    Major::TearDown();
  }
  // The address of a stub of that kernel of the file, registered as the compiler's code does it. One a test.
  const void* stub(const char* name) {
    std::ifstream file(kKernelFile, std::ios::binary);
    image_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    wrapper_.image = image_.data();
    binary_ = get<void**(const void*)>("__hipRegisterFatBinary")(&wrapper_);
    EXPECT_NE(binary_, nullptr);
    using Register =
        void(void**, const void*, const char*, const char*, unsigned, void*, void*, void*, void*, int*);
    get<Register>("__hipRegisterFunction")(binary_, &stub_, name, name, 0, nullptr, nullptr, nullptr, nullptr,
                                           nullptr);
    return &stub_;
  }
  hipModule_t load() const {
    hipModule_t module = nullptr;
    EXPECT_EQ(get<decltype(hipModuleLoad)>("hipModuleLoad")(&module, kKernelFile), hipSuccess);
    return module;
  }
  hipFunction_t kernel_of(hipModule_t module, const char* name) const {
    hipFunction_t kernel = nullptr;
    EXPECT_EQ(get<decltype(hipModuleGetFunction)>("hipModuleGetFunction")(&kernel, module, name), hipSuccess);
    return kernel;
  }
  // What fill() leaves.
  void expect_counted(const FillArguments& arguments, int value) const {
    std::vector<int> expected(arguments.count());
    std::iota(expected.begin(), expected.end(), value);
    EXPECT_EQ(read<int>(arguments.out(), arguments.count()), expected);
  }

 private:
  struct Wrapper {
    unsigned magic = 0x48495046, version = 1;
    const void* image = nullptr;
    const void* unused = nullptr;
  };

  std::vector<char> image_;
  Wrapper wrapper_;
  void** binary_ = nullptr;
  char stub_ = 0;
};

}  // namespace tf::majors
