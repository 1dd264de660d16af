// SPDX-License-Identifier: Apache-2.0
// Imports descriptors in the form that the runtime takes.
#include "worker/memory/import_form.h"

#include <atomic>
#include <cstdint>

#include "worker/base/runtime_version.h"

namespace tf::worker {
namespace {

std::atomic<bool> by_number{false};

hipError_t import(const protocol::HipTable& runtime, int descriptor, bool number,
                  hipMemGenericAllocationHandle_t& memory) {
  void* const value = number ? reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)) : &descriptor;
  return runtime.hipMemImportFromShareableHandle(&memory, value, hipMemHandleTypePosixFileDescriptor);
}

}  // namespace

// A runtime that takes numbers fails on a pointer, which is no descriptor's number. One of HIP 6 or older
// gets no number, also where the pointer fails: it would read that address.
bool find_import_form(const protocol::HipTable& runtime, int descriptor) {
  for (const bool number : {false, true}) {
    hipMemGenericAllocationHandle_t memory{};
    if (number && is_older_than(kRocm70, runtime)) break;
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
