// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/loader.h"

#include <cstring>

#include "tests/amd/hsa/report.h"
#include "tests/amd/hsa/runtime.h"

namespace tf::amd::hsa {
namespace {

constexpr std::string_view kDescriptorSuffix = ".kd";
constexpr std::uint64_t kKernelDescriptorBytes = 64;
constexpr std::uint64_t kFirstSymbol = 0x100;  // 0 is no handle
// LLVM's "Relocation Records".
constexpr std::uint32_t kRelocationAbs64 = 3;
constexpr std::uint32_t kRelocationRelative64 = 13;

bool is_kernel(const ElfSymbol& symbol) {
  return symbol.type == STT_OBJECT && symbol.bytes == kKernelDescriptorBytes &&
         symbol.name.ends_with(kDescriptorSuffix);
}

hsa_status_t refuse_code(const std::string& why) {
  return refuse("hsa_executable_load_agent_code_object", why, HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

}  // namespace

hsa_code_object_reader_t Loader::add_reader(std::span<const char> bytes) {
  const std::lock_guard lock(mutex_);
  readers_.emplace(next_reader_, bytes);
  return {next_reader_++};
}

bool Loader::remove_reader(hsa_code_object_reader_t reader) {
  const std::lock_guard lock(mutex_);
  return readers_.erase(reader.handle) != 0;
}

hsa_executable_t Loader::add_executable() {
  auto executable = std::make_unique<Executable>();
  const auto handle = reinterpret_cast<std::uint64_t>(executable.get());
  const std::lock_guard lock(mutex_);
  executables_.emplace(handle, std::move(executable));
  return {handle};
}

hsa_status_t Loader::remove_executable(Runtime& runtime, hsa_executable_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = executables_.find(handle.handle);
  if (found == executables_.end()) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  for (const auto& code : found->second->code) {
    runtime.agents[code->agent].executor->forget(reinterpret_cast<std::uint64_t>(code->base), code->bytes);
    runtime.memory.release(code->base);
  }
  for (const Symbol* symbol : found->second->listed) symbols_[symbol->handle - kFirstSymbol] = nullptr;
  executables_.erase(found);
  return HSA_STATUS_SUCCESS;
}

Executable* Loader::executable(hsa_executable_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = executables_.find(handle.handle);
  return found == executables_.end() ? nullptr : found->second.get();
}

hsa_status_t Loader::load(Runtime& runtime, Executable& executable, Agent& agent,
                          hsa_code_object_reader_t reader, hsa_loaded_code_object_t* loaded) {
  if (executable.frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  auto code = std::make_unique<LoadedCode>();
  {
    const std::lock_guard lock(mutex_);
    const auto found = readers_.find(reader.handle);
    if (found == readers_.end()) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
    code->file = found->second;
  }
  code->executable = &executable;
  code->agent = agent.index;
  ElfImage image;
  std::string wrong = image.read(code->file);
  if (!wrong.empty()) return refuse_code(wrong);
  wrong = refusal_of_processor(*runtime.isa, image.flags);
  if (!wrong.empty()) {
    return refuse("hsa_executable_load_agent_code_object", wrong, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
  }
  wrong = place(runtime, image, *code);
  if (!wrong.empty()) {
    return refuse("hsa_executable_load_agent_code_object", wrong, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  }
  wrong = relocate(image, *code);
  if (!wrong.empty()) {
    runtime.memory.release(code->base);
    return refuse_code(wrong);
  }
  const std::lock_guard lock(mutex_);
  add_symbols(image, *code);
  if (loaded != nullptr) loaded->handle = reinterpret_cast<std::uint64_t>(code.get());
  executable.code.push_back(std::move(code));
  return HSA_STATUS_SUCCESS;
}

std::string Loader::place(Runtime& runtime, const ElfImage& image, LoadedCode& code) {
  code.bytes = image.bytes;
  code.base = static_cast<char*>(runtime.memory.allocate(
      code.agent, image.bytes, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, agent_bit(code.agent)));
  if (code.base == nullptr) return "code of " + std::to_string(image.bytes) + " bytes: no memory";
  for (const ElfSegment& segment : image.segments) {
    std::memcpy(code.base + segment.address, segment.content.data(), segment.content.size());
  }
  return {};
}

std::string Loader::relocate(const ElfImage& image, const LoadedCode& code) {
  for (const ElfRelocation& relocation : image.relocations) {
    std::uint64_t value = static_cast<std::uint64_t>(relocation.addend);
    if (relocation.type == kRelocationRelative64) {
      value += reinterpret_cast<std::uint64_t>(code.base);
    } else if (relocation.type == kRelocationAbs64 && relocation.symbol < image.symbols.size()) {
      const ElfSymbol& symbol = image.symbols[relocation.symbol];
      const auto given = code.executable->defined.find({code.agent, symbol.name});
      if (symbol.defined) {
        value += reinterpret_cast<std::uint64_t>(code.base) + symbol.value;
      } else if (given != code.executable->defined.end()) {
        value += given->second;
      } else {
        return "undefined symbol " + symbol.name;
      }
    } else {
      return "relocation of type " + std::to_string(relocation.type);
    }
    std::memcpy(code.base + relocation.offset, &value, sizeof value);
  }
  return {};
}

// REQUIRES: mutex_ held
void Loader::add_symbols(const ElfImage& image, const LoadedCode& code) {
  for (const ElfSymbol& from : image.symbols) {
    if (!from.defined || from.name.empty() || from.type != STT_OBJECT) continue;
    auto symbol = std::make_unique<Symbol>();
    symbol->name = from.name;
    symbol->executable = code.executable;
    symbol->agent = code.agent;
    symbol->kind = is_kernel(from) ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE;
    symbol->address = reinterpret_cast<std::uint64_t>(code.base) + from.value;
    symbol->bytes = from.bytes;
    symbol->is_const = !from.writable;
    symbol->is_global = from.binding != STB_LOCAL;
    auto& kept = code.executable->symbols[{code.agent, from.name}];
    if (kept) {  // an earlier code object's of the same name
      std::erase(code.executable->listed, kept.get());
      symbols_[kept->handle - kFirstSymbol] = nullptr;
    }
    symbol->handle = kFirstSymbol + symbols_.size();
    symbols_.push_back(symbol.get());
    code.executable->listed.push_back(symbol.get());
    kept = std::move(symbol);
  }
}

std::vector<LoadedCode*> Loader::all_code() {
  const std::lock_guard lock(mutex_);
  std::vector<LoadedCode*> all;
  for (const auto& [handle, executable] : executables_) {
    for (const auto& code : executable->code) all.push_back(code.get());
  }
  return all;
}

LoadedCode* Loader::code_at(const void* address) {
  for (LoadedCode* code : all_code()) {
    if (address >= code->base && address < code->base + code->bytes) return code;
  }
  return nullptr;
}

LoadedCode* Loader::loaded(hsa_loaded_code_object_t handle) {
  for (LoadedCode* code : all_code()) {
    if (reinterpret_cast<std::uint64_t>(code) == handle.handle) return code;
  }
  return nullptr;
}

std::vector<hsa_executable_t> Loader::all_executables() {
  const std::lock_guard lock(mutex_);
  std::vector<hsa_executable_t> all;
  for (const auto& [handle, executable] : executables_) all.push_back({handle});
  return all;
}

const Symbol* Loader::symbol(hsa_executable_symbol_t handle) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t at = handle.handle - kFirstSymbol;
  return at < symbols_.size() ? symbols_[at] : nullptr;
}

std::string Loader::kernel_at(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  for (const Symbol* symbol : symbols_) {
    const bool is = symbol != nullptr && symbol->kind == HSA_SYMBOL_KIND_KERNEL && symbol->address == address;
    if (is) return symbol->name;
  }
  return "";
}

}  // namespace tf::amd::hsa
