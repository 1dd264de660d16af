// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: offload bundles, plain and compressed. What is selected must lie inside what was given.
#include "codeobject/fat_binary.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tf::codeobject;
  const Bytes input{reinterpret_cast<const std::byte*>(data), size};
  auto selected = select_code_object(input, "gfx90a:sramecc+:xnack-");
  if (!selected || !selected->storage.empty()) return 0;
  const std::byte* const begin = selected->image.data();
  if (begin < input.data() || begin + selected->image.size() > input.data() + input.size()) __builtin_trap();
  return 0;
}
