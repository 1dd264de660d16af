// SPDX-License-Identifier: Apache-2.0
// Gives each lease a reservation.
#include "worker/base/crowded_reservations.h"

#include <cstddef>

#include "worker/base/runtime_version.h"

namespace tf::worker {
namespace {

// The functions that are replaced.
struct Below {
  protocol::HipTable hip;
  VmmFunctions vmm;
};
Below below;

bool are_apart() {
  static const bool apart = !is_older_than(kRocm70, below.hip);
  return apart;
}

// The runtime says whether there is room. Nobody else maps there: the worker's ranges are far from what a
// system chooses by itself (worker/memory/lease.cc).
hipError_t reserve(void** address, std::size_t bytes, std::size_t alignment, void* wanted,
                   unsigned long long flags) {
  const hipError_t error = below.vmm.address_reserve(address, bytes, alignment, wanted, flags);
  return error == hipSuccess && are_apart() ? below.vmm.address_free(*address, bytes) : error;
}

hipError_t free_range(void* address, std::size_t bytes) {
  return are_apart() ? hipSuccess : below.vmm.address_free(address, bytes);
}

hipError_t reserve_exactly(void* address, std::size_t bytes) {
  void* got = nullptr;
  const hipError_t error = below.vmm.address_reserve(&got, bytes, 0, address, 0);
  if (error != hipSuccess || got == address) return error;
  const hipError_t freed = below.vmm.address_free(got, bytes);
  return freed != hipSuccess ? freed : hipErrorOutOfMemory;
}

hipError_t map(void* address, std::size_t bytes, std::size_t offset, hipMemGenericAllocationHandle_t handle,
               unsigned long long flags) {
  if (!are_apart()) return below.vmm.map(address, bytes, offset, handle, flags);
  if (const hipError_t error = reserve_exactly(address, bytes); error != hipSuccess) return error;
  const hipError_t error = below.vmm.map(address, bytes, offset, handle, flags);
  if (error == hipSuccess) return error;
  const hipError_t freed = below.vmm.address_free(address, bytes);
  return freed != hipSuccess ? freed : error;
}

// REQUIRES: one mapping
hipError_t unmap(void* address, std::size_t bytes) {
  const hipError_t error = below.vmm.unmap(address, bytes);
  return error == hipSuccess && are_apart() ? below.vmm.address_free(address, bytes) : error;
}

}  // namespace

void mend_crowded_reservations(const protocol::HipTable& hip, VmmFunctions& vmm) {
  if (!vmm.complete()) return;
  below = {.hip = hip, .vmm = vmm};
  vmm.address_reserve = reserve;
  vmm.address_free = free_range;
  vmm.map = map;
  vmm.unmap = unmap;
}

}  // namespace tf::worker
