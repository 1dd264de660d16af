// SPDX-License-Identifier: Apache-2.0
// Copies between any two places: checked at the call, executed in stream order. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "worker/runtime/common/wait.h"

namespace tf::cpu {

class Stream;

// `width` bytes x `height` rows x `depth` slices. pitch: bytes from row to row; slice: from slice to slice.
struct Box {
  std::byte* target = nullptr;
  std::size_t target_pitch = 0;
  std::size_t target_slice = 0;
  const std::byte* source = nullptr;
  std::size_t source_pitch = 0;
  std::size_t source_slice = 0;
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  hipMemcpyKind kind = hipMemcpyDefault;  // as the program said

  std::size_t bytes() const { return width * height * depth; }
};

using runtime::Wait;

// One of its ends is host memory that is neither of hipHostMalloc nor registered nor managed.
bool is_pageable(const Box& box);
// Makes the copy, now.
hipError_t run_copy(const Box& box);
// The known memory at both ends reaches as far as the box.
bool within_memory(const Box& box);

bool valid_kind(hipMemcpyKind kind);

// hipErrorInvalidValue when the known memory at either end is smaller than the box reaches.
hipError_t submit_copy(const Box& box, Stream& stream, Wait wait);

// As hipMemcpy*: checks pointers, kind, size and stream.
hipError_t copy_linear(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                       hipStream_t stream, Wait wait);
hipError_t copy_rows(void* target, std::size_t target_pitch, const void* source, std::size_t source_pitch,
                     std::size_t width, std::size_t height, hipMemcpyKind kind, hipStream_t stream,
                     Wait wait);
hipError_t copy_3d(const hipMemcpy3DParms* parameters, hipStream_t stream, Wait wait);

}  // namespace tf::cpu
