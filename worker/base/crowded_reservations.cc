// SPDX-License-Identifier: Apache-2.0
// Gives each lease a reservation.
#include "worker/base/crowded_reservations.h"

#include <cstddef>

#include "worker/base/runtime_version.h"

namespace tf::worker {
namespace {

VmmFunctions below;  // the runtime's own

// The runtime says whether there is room. Nobody else maps there: the worker's ranges are far from what a
// system chooses by itself (worker/memory/lease.cc).
hipError_t reserve(void** address, std::size_t bytes, std::size_t alignment, void* wanted,
                   unsigned long long flags) {
  const hipError_t error = below.address_reserve(address, bytes, alignment, wanted, flags);
  return error == hipSuccess ? below.address_free(*address, bytes) : error;
}

hipError_t free_range(void*, std::size_t) { return hipSuccess; }  // it has none

hipError_t reserve_exactly(void* address, std::size_t bytes) {
  void* got = nullptr;
  const hipError_t error = below.address_reserve(&got, bytes, 0, address, 0);
  if (error != hipSuccess || got == address) return error;
  const hipError_t freed = below.address_free(got, bytes);
  return freed != hipSuccess ? freed : hipErrorOutOfMemory;
}

hipError_t map(void* address, std::size_t bytes, std::size_t offset, hipMemGenericAllocationHandle_t handle,
               unsigned long long flags) {
  if (const hipError_t error = reserve_exactly(address, bytes); error != hipSuccess) return error;
  const hipError_t error = below.map(address, bytes, offset, handle, flags);
  if (error == hipSuccess) return error;
  const hipError_t freed = below.address_free(address, bytes);
  return freed != hipSuccess ? freed : error;
}

// REQUIRES: one mapping
hipError_t unmap(void* address, std::size_t bytes) {
  const hipError_t error = below.unmap(address, bytes);
  return error == hipSuccess ? below.address_free(address, bytes) : error;
}

}  // namespace

void mend_crowded_reservations(const protocol::HipTable& hip, VmmFunctions& vmm) {
  if (!vmm.complete() || is_older_than(kRocm70, hip)) return;
  below = vmm;
  vmm.address_reserve = reserve;
  vmm.address_free = free_range;
  vmm.map = map;
  vmm.unmap = unmap;
  vmm.ranges_apart = true;
}

}  // namespace tf::worker
