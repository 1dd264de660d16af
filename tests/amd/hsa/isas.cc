// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/isas.h"

#include <dlfcn.h>

#include <fstream>
#include <iterator>

#include "tests/amd/hsa/report.h"

namespace tf::amd::hsa {
namespace {

#define TF_ISA(name, features, lanes, number)                                        \
  Isa {                                                                              \
    name, "amdgcn-amd-amdhsa--" name features, name " stand-in on the host's cores", \
        "host of a " name " stand-in", lanes, number                                 \
  }
constexpr Isa kIsas[] = {
    TF_ISA("gfx90a", ":sramecc+:xnack-", 64, 0x3f),
    TF_ISA("gfx940", ":sramecc+:xnack-", 64, 0x40),
    TF_ISA("gfx942", ":sramecc+:xnack-", 64, 0x4c),
    TF_ISA("gfx1100", "", 32, 0x41),
};

// LLVM's "ELF Code Object", table of e_flags.
constexpr std::uint32_t kProcessorMask = 0xff;
constexpr std::uint32_t kXnackMask = 0x300;
constexpr std::uint32_t kXnackOn = 0x300;
constexpr std::uint32_t kSrameccMask = 0xc00;
constexpr std::uint32_t kSrameccOff = 0x800;

}  // namespace

const Isa* isa_called(const std::string& name) {
  std::string known;
  for (const Isa& each : kIsas) {
    if (name == each.name) return &each;
    known += std::string(known.empty() ? "" : ", ") + each.name;
  }
  report("HSA_STANDIN_ISA=" + name + " is none of " + known);
  return nullptr;
}

std::string refusal_of_processor(const Isa& isa, std::uint32_t flags) {
  const std::string name = isa.name;
  const std::uint32_t number = flags & kProcessorMask;
  if (number != isa.elf_number) {
    std::string other = "processor number " + std::to_string(number);
    for (const Isa& each : kIsas) {
      if (each.elf_number == number) other = each.name;
    }
    return "code for " + other + ", not " + name;
  }
  if ((flags & kXnackMask) == kXnackOn) return "code for " + name + ":xnack+";
  if ((flags & kSrameccMask) == kSrameccOff) return "code for " + name + ":sramecc-";
  return {};
}

bool library_knows(const Isa& isa, const void* code, std::string& library) {
  Dl_info info{};
  if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) return true;
  library = info.dli_fname;
  std::ifstream file(library, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  return bytes.empty() || bytes.find(isa.name) != std::string::npos;
}

}  // namespace tf::amd::hsa
