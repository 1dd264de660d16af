// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: offload bundles, plain and compressed, and bare code for NVIDIA GPUs. What is selected, and how
// long a CUDA fat binary says it is, must lie inside what was given.
#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/nvidia.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tf::codeobject;
  const Bytes input{reinterpret_cast<const std::byte*>(data), size};
  for (const char* device : {"gfx90a:sramecc+:xnack-", "gfx942:xnack-", "sm_90"}) {
    auto selected = select_code_object(input, device);
    if (!selected || !selected->storage.empty()) continue;
    const std::byte* const begin = selected->image.data();
    if (begin < input.data() || begin + selected->image.size() > input.data() + input.size())
      __builtin_trap();
    const Bytes image = selected->image;
    if (is_ptx(image) && ptx_text(image).size() > image.size()) __builtin_trap();
    if (auto extent = cuda_fatbin_extent(image); extent && *extent > image.size()) __builtin_trap();
  }
  return 0;
}
