// SPDX-License-Identifier: Apache-2.0
// File descriptors in the place of HIP's shareable handles.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstring>

namespace tf::runtime {

// `os_handle` is the descriptor itself, cast to a pointer, as CUDA defines it; or it points to the
// descriptor, as AMD's runtimes up to 7.0 read it. Nothing is mapped at addresses as low as descriptors.
inline int descriptor_in(void* os_handle) {
  constexpr std::uintptr_t kDescriptorMax = 1 << 16;
  const auto number = reinterpret_cast<std::uintptr_t>(os_handle);
  if (number < kDescriptorMax) return static_cast<int>(number);
  int descriptor = -1;
  std::memcpy(&descriptor, os_handle, sizeof descriptor);
  return descriptor;
}

}  // namespace tf::runtime
