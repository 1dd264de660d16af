// SPDX-License-Identifier: Apache-2.0
// For tests of single instructions: clang assembles them, and a machine executes them on registers that the
// test fills.
#pragma once

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/amd/isa/code_object.h"
#include "tests/amd/isa/decode.h"
#include "tests/amd/isa/kernels_path.h"
#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {

// All cases in one run of the assembler: one line of output has the bytes of one instruction.
inline std::vector<std::vector<std::uint8_t>> assemble(const std::vector<std::string>& lines,
                                                       const char* processor, int lanes) {
  char input[] = "/tmp/amd_isa_XXXXXX";
  const int file = mkstemp(input);
  if (file < 0) return {};
  std::FILE* to = fdopen(file, "w");
  for (const std::string& line : lines) std::fprintf(to, "%s\n", line.c_str());
  std::fclose(to);
  const bool rdna = std::strcmp(processor, "gfx1100") == 0;
  const bool newer = std::strcmp(processor, "gfx942") == 0;
  const std::string command = std::string(newer ? kAssemblerOfGfx942 : kAssembler) +
                              " -cc1as -triple amdgcn-amd-amdhsa -target-cpu " + processor +
                              (rdna && lanes == 64 ? " -target-feature +wavefrontsize64" : "") +
                              " -filetype asm -show-encoding -o - " + input + " 2>&1";
  std::FILE* from = popen(command.c_str(), "r");
  std::vector<std::vector<std::uint8_t>> result;
  char text[1024];
  while (from != nullptr && std::fgets(text, sizeof text, from) != nullptr) {
    if (std::strstr(text, "error:") != nullptr) ADD_FAILURE() << text;
    const char* at = std::strstr(text, "encoding: [");
    if (at == nullptr) continue;
    std::vector<std::uint8_t> bytes;
    for (at += 10; *at != ']' && *at != '\0'; at += 5) {
      bytes.push_back(static_cast<std::uint8_t>(std::strtoul(at + 1, nullptr, 16)));
      if (at[5] == ']') break;
    }
    result.push_back(std::move(bytes));
  }
  if (from != nullptr) static_cast<void>(pclose(from));
  std::remove(input);
  return result;
}

// A wave and its work-group, with 64 KiB of LDS.
class Machine {
 public:
  explicit Machine(const char* processor = "gfx90a", int lanes = 64)
      : view_(memory_), registers_(kWaveRows), data_(1024), code_(code_of(processor, lanes)) {
    memory_.add(data_.data(), data_.size() * 4);
    group_.local = std::make_unique<std::uint8_t[]>(kGroupSegmentBytesMax);
    group_.local_bytes = kGroupSegmentBytesMax;
    wave_.v = registers_.data();
    wave_.memory = &view_;
    wave_.group = &group_;
    wave_.processor = &code_.processor();
    if (lanes == 32) wave_.lane_mask = 0xffffffff;
    wave_.set_pair(kExecLo, ~std::uint64_t{0});
    set_mode(0x3f0);  // all denormals, DX10_CLAMP and IEEE
  }
  ~Machine() { _mm_setcsr(host_control_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void set_mode(std::uint32_t bits) {
    wave_.mode.set(bits);
    wave_.control_now = 0;
  }
  // v0, v1 ... in all lanes.
  void vectors(const std::vector<std::uint32_t>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::uint32_t& lane : registers_[i].lane) lane = values[i];
    }
  }
  // Throws Stop.
  void execute(const std::vector<std::uint8_t>& bytes) {
    code_bytes_.assign(bytes.begin(), bytes.end());
    code_bytes_.resize(bytes.size() + 16);
    memory_.add(code_bytes_.data(), bytes.size());
    unsigned length = 0;
    Stop why{};
    const auto in =
        code_.decode_alone(reinterpret_cast<std::uint64_t>(code_bytes_.data()), view_, length, why);
    memory_.remove(code_bytes_.data());
    if (in.empty()) throw why;
    for (const Instruction& each : in) each.handler(wave_, each);
    _mm_setcsr(host_control_);
    wave_.control_now = 0;
  }
  // The same of an instruction's text, which forms of a newer disassembler may stand in. Throws Stop.
  void execute_text(const std::string& text) {
    const Instruction in = code_.decode_written(text);
    in.handler(wave_, in);
    _mm_setcsr(host_control_);
    wave_.control_now = 0;
  }
  static Code& code_of(const char* processor, int lanes) {
    static std::map<std::pair<std::string, int>, std::unique_ptr<Code>> all;
    std::unique_ptr<Code>& code = all[{processor, lanes}];
    if (code == nullptr) code = std::make_unique<Code>(*find_processor(processor), lanes);
    return *code;
  }

  Wave wave_;
  TestMemory memory_;
  MemoryView view_;
  std::vector<Row> registers_;
  std::vector<std::uint32_t> data_;

 private:
  Code& code_;
  WorkGroup group_;
  std::vector<std::uint8_t> code_bytes_;
  const unsigned host_control_ = _mm_getcsr();
};

// Whether the compiler of the tests knows it.
inline bool known(const char* processor) {
  for (const KernelFile& each : kKernelFiles) {
    if (std::strcmp(each.processor, processor) == 0) return true;
  }
  return false;
}

// One instruction, assembled alone.
inline std::vector<std::uint8_t> one(const char* text, const char* processor = "gfx90a", int lanes = 64) {
  const auto code = assemble({text}, processor, lanes);
  return code.empty() ? std::vector<std::uint8_t>{} : code[0];
}

}  // namespace tf::amd::isa
