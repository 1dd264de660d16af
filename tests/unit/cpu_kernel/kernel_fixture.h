// SPDX-License-Identifier: Apache-2.0
// The code object of the executor's tests, and how a kernel of it runs. One thread at a time uses a fixture,
// but for run(), which any may call.
#pragma once

#include "tests/unit/cpu_kernel/test_heap_memory.h"
#include "worker/runtime/cpu/kernel_api.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tf::cpu {

extern std::string code_objects;  // their directory, set once by main()

inline std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class KernelTest : public ::testing::Test {
 protected:
  virtual std::string file() const { return "kernels.co"; }

  void SetUp() override {
    image_ = read_file(code_objects + "/" + file());
    ASSERT_FALSE(image_.empty()) << code_objects << "/" << file();
    ASSERT_EQ(hipSuccess, CodeObject::load(image_.data(), code_));
  }

  // Lays the arguments out by the kernel's own metadata and runs it.
  template <typename... Arguments>
  hipError_t run(const char* name, const Grid& grid, const Arguments&... arguments) {
    const Kernel* kernel = code_->find(name);
    if (kernel == nullptr) return hipErrorNotFound;
    EXPECT_EQ(sizeof...(arguments), kernel->arguments.size());
    alignas(16) std::byte block[1024] = {};
    std::size_t index = 0;
    const auto place = [&](const auto& value) {
      const KernelArgument& slot = kernel->arguments[index++];
      EXPECT_EQ(sizeof value, slot.size_bytes) << "argument " << index;
      std::memcpy(block + slot.offset_bytes, &value, sizeof value);
    };
    (place(arguments), ...);
    return run_grid(*kernel, grid, block, heap_, fault_);
  }

  TestHeapMemory memory_;
  DeviceHeap heap_{memory_, 64 << 20};
  std::optional<KernelFault>* fault_ = nullptr;  // told to, if set

  std::vector<char> image_;
  std::unique_ptr<CodeObject> code_;
};

inline Grid line(std::uint32_t blocks, std::uint32_t threads, std::uint32_t shared = 0) {
  Grid grid;
  grid.blocks[0] = blocks;
  grid.threads[0] = threads;
  grid.dynamic_shared_bytes = shared;
  return grid;
}

}  // namespace tf::cpu
