// SPDX-License-Identifier: Apache-2.0
// What a program is told of a pointer, as AMD's runtime of its major tells it. The client and our runtimes
// find out what is known of the memory; the rest is here, so that they answer alike. Pure functions, any
// thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

namespace tf::abi {

// Of the allocation, variable or registration that holds an address.
struct PointerFacts {
  bool on_device = false;
  bool on_host = false;  // managed memory is both
  int device = 0;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  unsigned flags = 0;                // of the function that allocated or registered it
  std::uint64_t device_address = 0;  // of the address that was asked for, where devices reach it; 0: nowhere
  std::uint64_t host_address = 0;    // where the program has it; 0: nowhere
  bool synchronous = false;          // HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
  // These two count only for their own attribute.
  hipCtx_t context = nullptr;
  std::uint32_t id = 0;  // HIP_POINTER_ATTRIBUTE_BUFFER_ID: no other allocation has had it

  bool managed() const { return on_device && on_host; }
};

// hipPointerGetAttributes. `known`: null where nobody knows the memory.
hipError_t answer_attributes(hipPointerAttribute_t* attributes, const void* pointer,
                             const PointerFacts* known);

// hipPointerGetAttribute. `is_array`: nobody knows such memory, but it is the handle of an array.
hipError_t answer_attribute(void* data, hipPointer_attribute attribute, const PointerFacts* known,
                            bool is_array);

}  // namespace tf::abi
