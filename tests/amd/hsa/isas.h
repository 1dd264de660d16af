// SPDX-License-Identifier: Apache-2.0
// The processors that the stand-in's agents can be: HSA_STANDIN_ISA says which.
#pragma once

#include <cstdint>
#include <string>

namespace tf::amd::hsa {

struct Isa {
  const char* name = nullptr;       // "gfx90a", as HSA_STANDIN_ISA and tests/amd/isa have it
  const char* full_name = nullptr;  // with its features, as HSA names it
  // What a program shows to its user: it must not pass for hardware.
  const char* product = nullptr;
  const char* host_product = nullptr;
  std::uint32_t lanes = 64;      // of a wave, where a kernel does not say
  std::uint32_t elf_number = 0;  // in e_flags [LLVM "AMDGPU Processors"]
  std::uint64_t handle() const { return elf_number; }
};

// Null: none is called so. Reports it, with those that there are.
const Isa* isa_called(const std::string& name);

// Whether code with these e_flags runs on `isa` with sramecc on and xnack off. "" or why not.
std::string refusal_of_processor(const Isa& isa, std::uint32_t flags);

// Whether the library that `code` lies in names the processor anywhere; true where that cannot be read.
// AMD's 5.2.3 frees what it never allocated where an agent is one that it does not know.
bool library_knows(const Isa& isa, const void* code, std::string& library);

}  // namespace tf::amd::hsa
