// SPDX-License-Identifier: Apache-2.0
// Filling memory with a repeated value of 1, 2 or 4 bytes. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "worker/runtime/cpu/copy.h"

namespace tf::cpu {

struct Fill {
  std::byte* target = nullptr;
  std::uint32_t value = 0;
  std::uint32_t element_bytes = 1;
  std::size_t width = 0;  // bytes in a row, a multiple of element_bytes
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t pitch = 0;
  std::size_t slice = 0;
};

// Fills, now.
hipError_t run_fill(const Fill& wish);
// Pointer, alignment and bounds. REQUIRES: no side of it is 0
bool fillable(const Fill& wish);

// Checks pointer, alignment, bounds and stream.
hipError_t fill(const Fill& wish, hipStream_t stream, Wait wait);
hipError_t fill_linear(void* target, std::uint32_t value, std::uint32_t element_bytes, std::size_t count,
                       hipStream_t stream, Wait wait);
hipError_t fill_rows(void* target, std::size_t pitch, int value, std::size_t width, std::size_t height,
                     hipStream_t stream, Wait wait);
hipError_t fill_3d(const hipPitchedPtr& target, int value, const hipExtent& extent, hipStream_t stream,
                   Wait wait);

}  // namespace tf::cpu
