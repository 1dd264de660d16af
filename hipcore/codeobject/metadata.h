// SPDX-License-Identifier: Apache-2.0
// The NT_AMDGPU_METADATA note, which describes the kernels of a code object: argument layout, shared memory,
// limits. AMD's code objects and those for the CPU have the same note. Hostile input; no state: any thread.
#pragma once

#include "hipcore/codeobject/bytes.h"
#include "transport/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tf::codeobject {

inline constexpr std::uint32_t kMetadataNoteType = 32;  // NT_AMDGPU_METADATA
inline constexpr std::size_t kMaxKernels = 1 << 16;     // of all notes together
inline constexpr std::size_t kMaxArguments = 4096;
inline constexpr std::uint32_t kMaxArgumentBytes = 64 * 1024;  // of a whole argument block

enum class ArgumentKind : std::uint8_t { kByValue, kPointer, kDynamicShared, kOther };

struct Argument {
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
  ArgumentKind kind = ArgumentKind::kByValue;
};

struct KernelInfo {
  std::string name;
  std::string symbol;
  std::uint32_t argument_bytes = 0;  // whole block, hidden arguments included
  std::uint32_t argument_align_bytes = 8;
  std::uint32_t explicit_argument_bytes = 0;  // end of the last explicit argument: the bytes to send
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t private_bytes = 0;
  std::uint32_t max_threads_per_block = 1024;
  std::uint32_t wave_size = 64;
  std::uint32_t scalar_registers = 0;
  std::uint32_t vector_registers = 0;
  std::uint32_t constant_bytes = 0;  // CPU only: of the module's __constant__ variables
  bool can_print = false;            // printf or assert: it needs what the runtime prints with
  bool parks = true;                 // CPU only: false if none of its threads ever waits for another,
  bool spins = false;                // CPU only: unless in a loop of its own, which is seen when it runs
  std::vector<Argument> arguments;   // explicit ones, in source order; each lies inside the block
};

// Reads all such notes of an ELF code object. kProtocol: malformed. kUnavailable: an ELF without one.
Result<std::vector<KernelInfo>> read_metadata(Bytes elf_image);
// The same from one note's own bytes.
Result<std::vector<KernelInfo>> parse_metadata(Bytes message);

}  // namespace tf::codeobject
