// SPDX-License-Identifier: Apache-2.0
// What hipPointerSetAttribute and hipStreamAttachMemAsync take, as AMD's runtime checks it.
// Pure.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstring>

namespace tf::hipcore {

// HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS is the only attribute that can be set.
inline hipError_t read_pointer_attribute(const void* value, hipPointer_attribute attribute,
                                         const void* pointer, bool& synchronous) {
  if (value == nullptr || pointer == nullptr) return hipErrorInvalidValue;
  if (attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS) return hipErrorInvalidValue;
  unsigned number = 0;
  std::memcpy(&number, value, sizeof number);
  if (number > 1) return hipErrorInvalidValue;
  synchronous = number == 1;
  return hipSuccess;
}

// A stream is null, or was looked up.
inline hipError_t check_attach(hipStream_t stream, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle)
    return hipErrorInvalidValue;
  return flags == hipMemAttachSingle && stream == nullptr ? hipErrorInvalidValue : hipSuccess;
}

// Memory of the host and managed memory is attached as a whole; `bytes` 0 means that too.
inline hipError_t check_attached_bytes(bool on_host, std::size_t allocated_bytes, std::size_t bytes) {
  return on_host && bytes != 0 && bytes != allocated_bytes ? hipErrorInvalidValue : hipSuccess;
}

}  // namespace tf::hipcore
