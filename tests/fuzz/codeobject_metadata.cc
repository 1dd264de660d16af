// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: ELF notes and kernel metadata. What is accepted must be consistent.
#include "hipcore/codeobject/elf.h"
#include "hipcore/codeobject/metadata.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tf::codeobject;
  const Bytes input{reinterpret_cast<const std::byte*>(data), size};
  static_cast<void>(read_metadata(input));
  auto kernels = parse_metadata(input);
  if (!kernels) return 0;
  for (const KernelInfo& kernel : *kernels) {
    for (const Argument& argument : kernel.arguments) {
      const std::uint64_t end = std::uint64_t{argument.offset_bytes} + argument.size_bytes;
      if (end > kernel.explicit_argument_bytes || end > kernel.argument_bytes) __builtin_trap();
    }
  }
  return 0;
}
