// SPDX-License-Identifier: Apache-2.0
// For tests of the interpreter: a code object in this process's memory, and the memory that its kernels may
// touch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/amd/isa/executor.h"

namespace tf::amd::isa {

// Ranges that the test names.
class TestMemory : public AddressSpace {
 public:
  std::optional<Range> find(std::uint64_t address) const override;
  const std::atomic<std::uint64_t>& generation() const override { return generation_; }

  void add(const void* begin, std::size_t bytes, bool writable = true);
  void remove(const void* begin);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Range> ranges_;
  std::atomic<std::uint64_t> generation_{0};
};

// A position-independent ELF of AMDGPU code, as clang links it.
class CodeObject {
 public:
  // Empty where `path` is none; `image` and symbols are then empty.
  static std::unique_ptr<CodeObject> load(const std::string& path, TestMemory& memory);

  // The kernel descriptor NAME.kd; null: no such kernel.
  const void* kernel(const std::string& name) const;
  const std::map<std::string, std::uint64_t>& symbols() const { return symbols_; }
  // Sections of code: address in memory and size.
  struct Text {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
  };
  const std::vector<Text>& text() const { return text_; }

 private:
  std::unique_ptr<std::uint8_t[]> image_;
  std::map<std::string, std::uint64_t> symbols_;  // address in memory
  std::vector<Text> text_;
};

}  // namespace tf::amd::isa
