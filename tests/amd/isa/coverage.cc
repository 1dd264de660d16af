// SPDX-License-Identifier: Apache-2.0
// Lists what of code objects' instructions the interpreter cannot execute: "coverage FILE..." prints each
// mnemonic with its count and one example, and exits 1 if there is any. Code objects are ELF files, not fat
// binaries.
#include <cstdio>
#include <map>
#include <string>

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

// Padding and data between functions are no instructions: they are passed over, and not counted.
void read_text(Code& code, const CodeObject::Text& text, MemoryView& memory, Totals& totals) {
  for (std::uint64_t at = text.begin; at + 4 <= text.begin + text.bytes;) {
    unsigned bytes = 0;
    Stop why{};
    const auto in = code.decode_alone(at, memory, bytes, why);
    if (bytes == 0) {
      at += 4;
      continue;
    }
    ++totals.instructions;
    if (in) {
      ++totals.known[std::string(in->row->name)];
    } else {
      const std::string instruction = code.text(at, memory);
      Missing& entry = totals.missing[instruction.substr(0, instruction.find(' '))];
      if (entry.count++ == 0) entry.example = why.text;
    }
    at += bytes;
  }
}

int run(int files, char** paths) {
  TestMemory memory;
  MemoryView view(memory);
  Code code("gfx90a");
  if (!code.problem().empty()) {
    std::fprintf(stderr, "%s\n", code.problem().c_str());
    return 2;
  }
  Totals totals;
  for (int i = 1; i < files; ++i) {
    const auto object = CodeObject::load(paths[i], memory);
    if (object == nullptr) {
      std::fprintf(stderr, "%s is no code object\n", paths[i]);
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
