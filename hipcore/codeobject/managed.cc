// SPDX-License-Identifier: Apache-2.0
// Finds managed variables by the names of their first values.
#include "hipcore/codeobject/managed.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "hipcore/codeobject/nvidia.h"

namespace tf::codeobject {
namespace {

constexpr std::uint8_t kObjectType = 1;  // STT_OBJECT
constexpr std::uint64_t kPointerBytes = 8;

bool is_variable(const Symbol& symbol) { return symbol.defined && symbol.type == kObjectType; }

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

// PTX names a variable where it defines it and wherever it is used.
std::vector<ManagedVariable> named_in_text(std::string_view text) {
  std::vector<ManagedVariable> found;
  for (std::size_t at = text.find(kManagedPtxSuffix); at != std::string_view::npos;
       at = text.find(kManagedPtxSuffix, at + 1)) {
    const std::size_t end = at + kManagedPtxSuffix.size();
    std::size_t start = at;
    while (start > 0 && is_name(text[start - 1])) --start;
    if (start == at || (end < text.size() && is_name(text[end]))) continue;
    const std::string name(text.substr(start, at - start));
    const bool known = std::any_of(found.begin(), found.end(), [&](const auto& v) { return v.name == name; });
    if (!known) found.push_back({name, name + std::string(kManagedPtxSuffix)});
    if (found.size() == kManagedVariablesMax) break;
  }
  return found;
}

}  // namespace

std::vector<ManagedVariable> managed_variables(const Elf& elf) {
  std::unordered_map<std::string_view, const Symbol*> pointers;
  std::vector<const Symbol*> initials;
  for (const Symbol& symbol : elf.symbols()) {
    if (!is_variable(symbol)) continue;
    if (symbol.name.size() > kManagedSuffix.size() && symbol.name.ends_with(kManagedSuffix))
      initials.push_back(&symbol);
    else if (symbol.size == kPointerBytes)
      pointers.emplace(symbol.name, &symbol);
  }
  std::vector<ManagedVariable> found;
  for (const Symbol* initial : initials) {
    const std::string_view name = initial->name.substr(0, initial->name.size() - kManagedSuffix.size());
    const auto pointer = pointers.find(name);
    if (pointer == pointers.end() || found.size() == kManagedVariablesMax) continue;
    found.push_back({std::string(name), std::string(initial->name), pointer->second->value, initial->value,
                     initial->size});
  }
  return found;
}

std::vector<ManagedVariable> managed_variables(Bytes image) {
  if (is_ptx(image)) {
    const Bytes text = ptx_text(image);
    return named_in_text({reinterpret_cast<const char*>(text.data()), text.size()});
  }
  if (!Elf::has_magic(image)) return {};
  Result<Elf> elf = Elf::parse(image);
  return elf ? managed_variables(*elf) : std::vector<ManagedVariable>{};
}

}  // namespace tf::codeobject
