// SPDX-License-Identifier: Apache-2.0
// Blocks of decoded instructions: from an address up to where control may go elsewhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/amd/isa/disassembler.h"
#include "tests/amd/isa/instruction.h"
#include "tests/amd/isa/names.h"
#include "tests/amd/isa/parse.h"
#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {

struct Block {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // address behind the last instruction
  std::vector<Instruction> instructions;
  // What followed last; saves the look-up. Blocks live as long as the code that they were decoded from.
  std::atomic<Block*> next[2] = {nullptr, nullptr};
};

// Decoded code of a process. May be used by many threads.
class Code {
 public:
  // `lanes` of a wave: the same bytes have other operands.
  Code(const Processor& processor, int lanes)
      : processor_(processor), names_(processor), lanes_(lanes), disassembler_(processor, lanes) {}

  const Processor& processor() const { return processor_; }

  const std::string& problem() const { return disassembler_.problem(); }
  // Throws Stop: unknown instruction, unsupported operand, memory fault.
  Block* block(std::uint64_t address, MemoryView& memory);
  // What stands at `address`, decoded alone; empty where it could not be executed, with the reason in `why`.
  // A pair (VOPD) is two or three that run one after the other. `bytes`: its length, 0 where it is no
  // instruction.
  std::vector<Instruction> decode_alone(std::uint64_t address, MemoryView& memory, unsigned& bytes,
                                        Stop& why);
  // What the disassembler would have written, so that a test does not depend on which one there is.
  Instruction decode_written(const std::string& text) { return decode_text(text, {0, 0, text}, 0); }
  // The instruction at `address`, for messages.
  std::string text(std::uint64_t address, MemoryView& memory);
  // Decodes anew what lies in the range. Other code may run meanwhile.
  void forget(std::uint64_t begin, std::uint64_t bytes);
  // Around everything that uses blocks: what forget() took away is freed when nobody is between them.
  void enter() { ++users_; }
  void leave() { --users_; }

 private:
  std::unique_ptr<Block> decode(std::uint64_t address, MemoryView& memory);
  Disassembled read(std::uint64_t address, MemoryView& memory);
  void decode_one(Block& block, std::uint64_t address, MemoryView& memory);
  void decode_pair(Block& block, const Disassembled& read, std::uint64_t address);
  Instruction decode_text(std::string_view text, const Disassembled& read, std::uint64_t address);
  const TableRow* row_of(const Parsed& parsed) const;
  void take_operands(Instruction& in, const Parsed& parsed, const std::string& text);
  void fill_rows(Instruction& in);
  const Row* constant_rows(std::uint64_t value);

  const Processor& processor_;
  const Names names_;
  const int lanes_;
  Disassembler disassembler_;
  std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<Block>> forgotten_;  // a running block may be about to look at one
  std::atomic<unsigned> users_{0};
  std::mutex constants_mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Row[]>> constants_;
};

}  // namespace tf::amd::isa
