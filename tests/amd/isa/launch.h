// SPDX-License-Identifier: Apache-2.0
// What a kernel descriptor asks for, and the registers that a wave starts with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tests/amd/isa/executor.h"
#include "tests/amd/isa/wave.h"

namespace tf::amd::isa {

// The 64 bytes of a kernel descriptor, as far as they matter here [LLVM "Kernel Descriptor"].
struct Descriptor {
  std::uint64_t entry = 0;  // address of the first instruction
  std::uint32_t mode = 0;   // MODE at the start
  std::uint16_t properties = 0;
  std::uint32_t resource2 = 0;
  std::uint32_t user_registers = 0;
  std::uint32_t preloaded = 0;       // words of arguments that lie in registers at the start,
  std::uint32_t preloaded_from = 0;  // from this one on
};

// A dispatch that was checked.
struct Launch {
  Dispatch dispatch;
  Descriptor descriptor;
  std::array<std::uint32_t, 3> groups{};  // work-groups
  std::uint64_t group_count = 0;
  std::uint32_t private_bytes = 0;  // of a lane
  const Processor* processor = nullptr;
  std::uint32_t lanes = 64;  // of a wave
};

// On failure says why.
std::optional<Launch> prepare(const Dispatch& dispatch, const Processor& processor,
                              const AddressSpace& memory, std::string& why);

// Makes the waves of work-group `number`.
void start_group(WorkGroup& group, const Launch& launch, std::uint64_t number, MemoryView& memory);

}  // namespace tf::amd::isa
