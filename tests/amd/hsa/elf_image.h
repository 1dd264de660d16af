// SPDX-License-Identifier: Apache-2.0
// Reads an AMDGPU code object: segments, dynamic symbols, relocations, the processor it is for.
//
// Sources of facts: LLVM's "User Guide for AMDGPU Backend", sections "ELF Code Object", "Symbols",
// "Relocation Records".
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tf::amd::hsa {

struct ElfSymbol {
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t bytes = 0;
  unsigned type = 0;
  unsigned binding = 0;
  bool defined = false;
  bool writable = true;  // lies in a writable segment
};

// Of the code object's dynamic section. `symbol` is an index of ElfImage::symbols.
struct ElfRelocation {
  std::uint64_t offset = 0;
  std::uint32_t type = 0;
  std::uint32_t symbol = 0;
  std::int64_t addend = 0;
};

struct ElfSegment {
  std::uint64_t address = 0;  // of the image, from 0
  std::uint64_t bytes = 0;
  std::span<const char> content;  // the rest is zeros
};

// Points into the bytes that it was read from.
struct ElfImage {
  std::uint32_t flags = 0;  // e_flags: processor and features
  std::uint64_t bytes = 0;  // of memory, from address 0
  std::vector<ElfSegment> segments;
  std::vector<ElfSymbol> symbols;  // as in the file, [0] is no symbol
  std::vector<ElfRelocation> relocations;

  // "" or what is wrong with the bytes.
  std::string read(std::span<const char> bytes);
};

}  // namespace tf::amd::hsa
