// SPDX-License-Identifier: Apache-2.0
// Imports descriptors in the form that the runtime takes.
#include "worker/memory/import_form.h"

#include <atomic>
#include <cstdint>

namespace tf::worker {
namespace {

std::atomic<bool> by_number{false};

hipError_t import(const protocol::HipTable& runtime, int descriptor, bool number,
                  hipMemGenericAllocationHandle_t& memory) {
  void* const value = number ? reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)) : &descriptor;
  return runtime.hipMemImportFromShareableHandle(&memory, value, hipMemHandleTypePosixFileDescriptor);
}

}  // namespace

// Who takes numbers fails on a pointer: as a number it is no descriptor.
bool find_import_form(const protocol::HipTable& runtime, int descriptor) {
  for (const bool number : {false, true}) {
    hipMemGenericAllocationHandle_t memory{};
    if (import(runtime, descriptor, number, memory) != hipSuccess) continue;
    by_number.store(number);
    return runtime.hipMemRelease(memory) == hipSuccess;
  }
  return false;
}

hipError_t import_physical(const protocol::HipTable& runtime, int descriptor,
                           hipMemGenericAllocationHandle_t& memory) {
  return import(runtime, descriptor, by_number.load(), memory);
}

}  // namespace tf::worker
