// SPDX-License-Identifier: Apache-2.0
// Code object readers, executables and their symbols.
//
// Sources of facts: hsa.h 5.2.3 ("Executable"), hsa_ven_amd_loader.h; LLVM's "User Guide for AMDGPU Backend",
// sections "Kernel Descriptor" and "Loader".
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_loader.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tests/amd/hsa/elf_image.h"

namespace tf::amd::hsa {

class Runtime;
struct Agent;

struct Executable;

struct Symbol {
  std::string name;
  std::uint64_t handle = 0;
  const Executable* executable = nullptr;
  unsigned agent = 0;
  hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
  std::uint64_t address = 0;  // of a kernel: its descriptor
  std::uint64_t bytes = 0;
  bool is_const = false;
  bool is_global = true;
};

// A code object in an agent's memory.
struct LoadedCode {
  Executable* executable = nullptr;
  unsigned agent = 0;
  std::span<const char> file;  // the reader's
  char* base = nullptr;        // where the image's address 0 lies
  std::size_t bytes = 0;
};

struct Executable {
  bool frozen = false;
  std::vector<std::unique_ptr<LoadedCode>> code;
  std::map<std::pair<unsigned, std::string>, std::unique_ptr<Symbol>> symbols;  // by agent and name
  std::vector<const Symbol*> listed;                                            // the same
  std::map<std::pair<unsigned, std::string>, std::uint64_t> defined;  // by the program, before it loads
};

// Threads: every function may be called by any thread; two threads do not use one executable at once while it
// is not frozen (hsa.h says so).
class Loader {
 public:
  // The bytes stay the caller's until the reader is destroyed (hsa_code_object_reader_create_from_memory).
  hsa_code_object_reader_t add_reader(std::span<const char> bytes);
  bool remove_reader(hsa_code_object_reader_t reader);

  hsa_executable_t add_executable();
  hsa_status_t remove_executable(Runtime& runtime, hsa_executable_t handle);
  Executable* executable(hsa_executable_t handle);

  // Fails with a status of hsa_executable_load_agent_code_object and says why.
  hsa_status_t load(Runtime& runtime, Executable& executable, Agent& agent, hsa_code_object_reader_t reader,
                    hsa_loaded_code_object_t* loaded);

  // Null: nothing is loaded there.
  LoadedCode* code_at(const void* address);
  std::vector<LoadedCode*> all_code();
  std::vector<hsa_executable_t> all_executables();
  // Null: no symbol of an executable that is still there.
  const Symbol* symbol(hsa_executable_symbol_t handle);
  // The name of the kernel whose descriptor lies there; empty: none is known.
  std::string kernel_at(std::uint64_t address);
  LoadedCode* loaded(hsa_loaded_code_object_t handle);

 private:
  std::string place(Runtime& runtime, const ElfImage& image, LoadedCode& code);
  std::string relocate(const ElfImage& image, const LoadedCode& code);
  void add_symbols(const ElfImage& image, const LoadedCode& code);

  std::mutex mutex_;
  std::uint64_t next_reader_ = 1;
  std::map<std::uint64_t, std::span<const char>> readers_;
  std::map<std::uint64_t, std::unique_ptr<Executable>> executables_;
  // Of all executables: a handle is a place here. AMD's runtime goes through all symbols of a code object
  // again for each kernel in it, and rocBLAS's have thousands.
  std::vector<const Symbol*> symbols_;
};

}  // namespace tf::amd::hsa
