// SPDX-License-Identifier: Apache-2.0
// Functions that tests call and AMD's library of this version may lack. Each is a jump to the library's
// function, if there is one, and else says its name and fails: api_test.py leaves the case out then.
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <initializer_list>

namespace {

// Unused where the library lacks nothing.
[[maybe_unused]] hipError_t say_lacking(const char* name) {
  std::printf("libamdhip64 has no %s\n", name);
  std::fflush(stdout);
  return hipErrorNotSupported;
}

}  // namespace

// A jump leaves all arguments where they are.
#define LACKS(name)                                                 \
  static hipError_t lack_##name() { return say_lacking(#name); }    \
  extern "C" {                                                      \
  void* tf_place_of_##name = reinterpret_cast<void*>(&lack_##name); \
  }                                                                 \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name \
      ":\n"                                                         \
      "  jmp *tf_place_of_" #name "(%rip)\n.size " #name ", . - " #name "\n");
#include "tests/amd/api/lacking.inc"
#undef LACKS

namespace {

struct Place {
  const char* name;
  void*& function;
};

const std::initializer_list<Place> places = {
#define LACKS(name) {#name, tf_place_of_##name},
#include "tests/amd/api/lacking.inc"
#undef LACKS
};

// Of the library that the program was started with, which is AMD's or hip-remote's client.
[[gnu::constructor]] void find_functions() {
  for (const Place& place : places)
    if (void* const found = ::dlsym(RTLD_NEXT, place.name)) place.function = found;
}

}  // namespace
