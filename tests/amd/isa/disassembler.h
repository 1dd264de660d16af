// SPDX-License-Identifier: Apache-2.0
// Instructions as text, by libLLVM's disassembler (llvm-c/Disassembler.h), which is loaded when it is first
// needed.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "tests/amd/isa/processor.h"

namespace tf::amd::isa {

struct Disassembled {
  unsigned bytes = 0;       // 0: no instruction
  std::uint32_t first = 0;  // its first word
  std::string text;         // "v_add_f32_e32 v0, 1.0, v1"
};

struct DisassemblerLibrary;

// May be used by many threads; one instruction at a time.
class Disassembler {
 public:
  Disassembler(const Processor& processor, int lanes);  // of a wave
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // Empty where it works, else why it does not.
  const std::string& problem() const { return problem_; }
  // REQUIRES: problem() is empty; `available` bytes at `code` can be read
  Disassembled read(const void* code, std::uint64_t available, std::uint64_t address);

 private:
  const DisassemblerLibrary& library_;
  std::string problem_;
  std::mutex one_at_a_time_;
  void* context_ = nullptr;
};

}  // namespace tf::amd::isa
