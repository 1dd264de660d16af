// SPDX-License-Identifier: Apache-2.0
// libLLVM's C interface by its names: it is the same in every version, and no header of LLVM is needed.
#include "tests/amd/isa/disassembler.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

namespace tf::amd::isa {

// As llvm-c/Target.h and llvm-c/DisassemblerTypes.h declare them; the callbacks are not used.
struct DisassemblerLibrary {
  void (*target_info)() = nullptr;
  void (*target_mc)() = nullptr;
  void (*target_disassembler)() = nullptr;
  void* (*create)(const char* triple, const char* processor, const char* features, void* user, int tag_type,
                  void* operand_callback, void* symbol_callback) = nullptr;
  void (*dispose)(void* context) = nullptr;
  std::size_t (*disassemble)(void* context, std::uint8_t* bytes, std::uint64_t size, std::uint64_t address,
                             char* text, std::size_t text_size) = nullptr;
  std::string problem;
  int version = 0;
};

namespace {

using Library = DisassemblerLibrary;

template <typename Function>
void bind(Library& library, void* handle, const char* symbol, Function& to) {
  to = reinterpret_cast<Function>(dlsym(handle, symbol));
  if (to == nullptr) library.problem = std::string("libLLVM has no ") + symbol;
}

// The newest of those known, up to `most`: Debian 12 has 19, 15 and 14, sid 21. Its symbols stay its own:
// AMD's comgr brings another libLLVM.
Library load(int most) {
  Library library;
  void* handle = nullptr;
  struct Name {
    int version;
    const char* file;
  };
  for (const Name& name :
       {Name{21, "libLLVM.so.21.1"}, Name{19, "libLLVM.so.19.1"}, Name{19, "libLLVM-19.so"},
        Name{15, "libLLVM-15.so.1"}, Name{14, "libLLVM-14.so.1"}}) {
    if (name.version > most) continue;
    handle = dlopen(name.file, RTLD_NOW | RTLD_LOCAL);
    library.version = name.version;
    if (handle != nullptr) break;
  }
  if (handle == nullptr) {
    library.problem = most > 19
                          ? "no libLLVM (21, 19, 15 or 14) can be loaded: package libllvm21 or libllvm19"
                          : "no libLLVM (19, 15 or 14) can be loaded: package libllvm19";
    return library;
  }
  bind(library, handle, "LLVMInitializeAMDGPUTargetInfo", library.target_info);
  bind(library, handle, "LLVMInitializeAMDGPUTargetMC", library.target_mc);
  bind(library, handle, "LLVMInitializeAMDGPUDisassembler", library.target_disassembler);
  bind(library, handle, "LLVMCreateDisasmCPUFeatures", library.create);
  bind(library, handle, "LLVMDisasmDispose", library.dispose);
  bind(library, handle, "LLVMDisasmInstruction", library.disassemble);
  if (!library.problem.empty()) return library;
  library.target_info();
  library.target_mc();
  library.target_disassembler();
  return library;
}

// Debian's sid compiles gfx1100 with halves of registers ("v0.h"), which LLVM 21 reads, and 19 and 15 do not;
// what they make of it, decode.cc refuses.
const Library& library(bool halves) {
  if (!halves) {
    static const Library kUsual = load(19);
    return kUsual;
  }
  static const Library kNewest = load(21);
  return kNewest;
}

}  // namespace

// libLLVM takes a processor that it does not know for any other, so it is not asked.
Disassembler::Disassembler(const Processor& processor, int lanes)
    : library_(library(processor.halves_stay)), problem_(library_.problem) {
  if (!problem_.empty()) return;
  const auto decoder = std::find_if(processor.decoders.begin(), processor.decoders.end(),
                                    [&](const Decoder& each) { return each.llvm <= library_.version; });
  const char* features = !processor.wave32 ? ""
                         : lanes == 32     ? "+wavefrontsize32,-wavefrontsize64"
                                           : "-wavefrontsize32,+wavefrontsize64";
  if (decoder != processor.decoders.end()) {
    context_ =
        library_.create("amdgcn-amd-amdhsa", decoder->processor, features, nullptr, 0, nullptr, nullptr);
  }
  if (context_ == nullptr) {
    problem_ = "libLLVM " + std::to_string(library_.version) + " has no disassembler for " +
               std::string(processor.name);
  }
}

Disassembler::~Disassembler() {
  if (context_ != nullptr) library_.dispose(context_);
}

Disassembled Disassembler::read(const void* code, std::uint64_t available, std::uint64_t address) {
  constexpr std::uint64_t kInstructionBytesMax = 20;
  char text[512] = "";
  const std::lock_guard<std::mutex> lock(one_at_a_time_);
  Disassembled result;
  result.bytes = static_cast<unsigned>(library_.disassemble(
      context_, static_cast<std::uint8_t*>(const_cast<void*>(code)),  // NOLINT: it only reads
      std::min(available, kInstructionBytesMax), address, text, sizeof text));
  if (available >= sizeof result.first) std::memcpy(&result.first, code, sizeof result.first);
  result.text = text;
  result.text.erase(0, result.text.find_first_not_of(" \t"));
  return result;
}

}  // namespace tf::amd::isa
