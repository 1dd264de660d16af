// SPDX-License-Identifier: Apache-2.0
// Allocation and release of memory, and the questions about it.
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/modules.h"

namespace tf::cuda {
namespace {

constexpr unsigned kPitchElement_bytes = 16;  // rows are aligned for the largest element

}  // namespace

// The flags change nothing about the memory. They are kept for hipMemRangeGetAttribute.
hipError_t Backend::allocate(void*& pointer, std::size_t bytes, unsigned flags) {
  const hipError_t status = check(cu().MemAlloc(&pointer, bytes));
  if (status != hipSuccess || flags == hipDeviceMallocDefault) return status;
  const std::uint64_t base = graph::address_of(pointer);
  // If there is no room to remember it, the allocation stands all the same.
  static_cast<void>(
      current_device().advice.set_coherency({base, bytes, base, bytes}, hipcore::coherency_of_device(flags)));
  return hipSuccess;
}

hipError_t Backend::allocate_managed(void*& pointer, std::size_t bytes, unsigned flags) {
  return check(cu().MemAllocManaged(&pointer, bytes, flags));
}

hipError_t Backend::allocate_variable(void*& pointer, std::size_t bytes) {
  return check(cu().MemAllocManaged(&pointer, bytes, hipMemAttachGlobal));
}

void Backend::release_variable(void* pointer, std::size_t) { static_cast<void>(cu().MemFree(pointer)); }

hipError_t Backend::allocate_pitched(void*& pointer, std::size_t& pitch, std::size_t width,
                                     std::size_t rows) {
  return check(cu().MemAllocPitch(&pointer, &pitch, width, rows, kPitchElement_bytes));
}

// Takes every kind of memory, as free_host() does. Each tries the likely kind first.
hipError_t Backend::free(void* pointer) {
  if (is_managed_variable(pointer)) return hipErrorInvalidValue;
  Runtime::get().forget_advice(pointer);
  const driver::Result result = cu().MemFree(pointer);
  if (result != driver::Result::INVALID_VALUE) return check(result);
  if (cu().MemFreeHost(pointer) != driver::Result::SUCCESS) return hip_error(result);
  Runtime::get().host_memory.remove(pointer);
  return hipSuccess;
}

hipError_t Backend::memory_info(std::size_t& free_bytes, std::size_t& total_bytes) {
  return check(cu().MemGetInfo(&free_bytes, &total_bytes));
}

hipError_t Backend::address_range(void* pointer, void*& base, std::size_t& bytes) {
  const driver::Result result = cu().MemGetAddressRange(&base, &bytes, pointer);
  return result == driver::Result::INVALID_VALUE ? hipErrorNotFound : check(result);
}

hipError_t Backend::allocated_bytes(void* pointer, std::size_t& bytes) {
  void* base = nullptr;
  std::size_t found_bytes = 0;
  if (address_range(pointer, base, found_bytes) != hipSuccess) return hipErrorInvalidValue;
  bytes = found_bytes;
  return hipSuccess;
}

}  // namespace tf::cuda
