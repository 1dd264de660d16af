// SPDX-License-Identifier: Apache-2.0
// What hipPointerSetAttribute and hipStreamAttachMemAsync take, as AMD's runtime checks it; ids of memory.
// Pure.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstring>

namespace tf::hipcore {

// HIP_POINTER_ATTRIBUTE_BUFFER_ID of the allocation at `base`: 32 bits, as in AMD's runtime, which counts.
// Ours is made of the address, in units of the smallest allocation: two are alike only if they are 2^40 bytes
// apart.
constexpr std::uint32_t buffer_id(std::uint64_t base) {
  constexpr unsigned kAllocationBits = 8;
  return static_cast<std::uint32_t>(base >> kAllocationBits);
}

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

// The value of an attribute that the memory does not have, or for memory that nobody knows: AMD's runtime
// writes it and returns an error. It writes nothing for attributes that it has for no memory.
inline void write_missing(hipPointer_attribute attribute, void* data) {
  const auto write = [data](auto value) { std::memcpy(data, &value, sizeof value); };
  constexpr int kNoDevice = -2;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return write(kNoDevice);
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: return write(0u);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
    case HIP_POINTER_ATTRIBUTE_MAPPED: return write(false);
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return write(std::uint64_t{0});
    default: return;
  }
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
