// SPDX-License-Identifier: Apache-2.0
// Lists what of code objects' instructions the interpreter cannot execute: "coverage PROCESSOR LANES FILE..."
// prints each mnemonic with its count and one example, and exits 1 if there is any. Code objects are ELF
// files, not fat binaries.
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "tests/amd/isa/code_object.h"
#include "tests/amd/isa/decode.h"

namespace tf::amd::isa {
namespace {

struct Missing {
  std::uint64_t count = 0;
  std::string example;
};

struct Totals {
  std::uint64_t instructions = 0;
  std::map<std::string, std::uint64_t> known;
  std::map<std::string, Missing> missing;
};

bool is_padding(std::string_view text) {
  return text.starts_with("v_illegal") || text.starts_with("s_code_end");
}

// Padding and data between functions are no instructions: they are passed over, and not counted.
void read_text(Code& code, const CodeObject::Text& text, MemoryView& memory, Totals& totals) {
  for (std::uint64_t at = text.begin; at + 4 <= text.begin + text.bytes;) {
    unsigned bytes = 0;
    Stop why{};
    const auto in = code.decode_alone(at, memory, bytes, why);
    const bool padding = bytes != 0 && in.empty() && is_padding(code.text(at, memory));
    if (bytes == 0 || padding) {
      at += 4;
      continue;
    }
    ++totals.instructions;
    for (const Instruction& each : in) ++totals.known[std::string(each.row->name)];
    if (in.empty()) {
      const std::string instruction = code.text(at, memory);
      Missing& entry = totals.missing[instruction.substr(0, instruction.find(' '))];
      if (entry.count++ == 0) entry.example = why.text;
    }
    at += bytes;
  }
}

int run(int arguments, char** argument) {
  const Processor* processor = arguments > 3 ? find_processor(argument[1]) : nullptr;
  const std::string_view lanes = arguments > 3 ? argument[2] : "";
  if (processor == nullptr || (lanes != "64" && (lanes != "32" || !processor->wave32))) {
    std::fprintf(stderr,
                 "amd_isa_coverage PROCESSOR LANES FILE...: LANES of a wave, 64, or 32 where the processor "
                 "has such waves\n");
    return 2;
  }
  Code code(*processor, lanes == "32" ? 32 : 64);
  if (!code.problem().empty()) {
    std::fprintf(stderr, "%s\n", code.problem().c_str());
    return 2;
  }
  Totals totals;
  for (int i = 3; i < arguments; ++i) {
    TestMemory memory;  // of each: their images may lie where another one lay
    MemoryView view(memory);
    const auto object = CodeObject::load(argument[i], memory);
    if (object == nullptr) {
      std::fprintf(stderr, "%s is no code object\n", argument[i]);
      return 2;
    }
    for (const CodeObject::Text& text : object->text()) read_text(code, text, view, totals);
  }
  for (const auto& [mnemonic, entry] : totals.missing) {
    std::printf("%8llu %s: %s\n", static_cast<unsigned long long>(entry.count), mnemonic.c_str(),
                entry.example.c_str());
  }
  std::printf("%llu instructions, %zu operations known, %zu not\n",
              static_cast<unsigned long long>(totals.instructions), totals.known.size(),
              totals.missing.size());
  return totals.missing.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tf::amd::isa

int main(int argc, char** argv) { return tf::amd::isa::run(argc, argv); }
