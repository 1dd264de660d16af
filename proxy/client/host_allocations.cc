// SPDX-License-Identifier: Apache-2.0
// What goes with allocating and freeing host memory.
#include "proxy/client/host_allocations.h"

#include <cstddef>
#include <span>

namespace tf::proxy {
namespace {

std::span<std::byte> memory_of(const HostRange& range) {
  return {reinterpret_cast<std::byte*>(range.base), range.bytes};
}

}  // namespace

hipError_t HostAllocations::allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags,
                                     void*& pointer) {
  const hipError_t error = memory_.allocate(kind, device, bytes, flags, pointer);
  if (error == hipSuccess) connection_.bulk().remember({static_cast<std::byte*>(pointer), bytes});
  return error;
}

hipError_t HostAllocations::add(int device, void* pointer, std::uint64_t bytes, unsigned flags) {
  const hipError_t error = memory_.add(device, pointer, bytes, flags);
  if (error == hipSuccess) connection_.bulk().remember({static_cast<std::byte*>(pointer), bytes});
  return error;
}

// A call that frees memory does not report failures of a device: the program's next waiting call does.
hipError_t HostAllocations::wait_for_devices() {
  for (int device = 0; device < connection_.device_count(); ++device) {
    const hipError_t left = connection_.finish_device(device, connection_.drain(device));
    if (left == kLostError) return left;
  }
  return hipSuccess;
}

hipError_t HostAllocations::remove(void* pointer) {
  const auto range = memory_.find(pointer);
  const bool shared = range && range->kind == HostRange::Kind::kRegistered && range->other != 0;
  const hipError_t error = shared ? wait_for_devices() : hipSuccess;
  connection_.streams().transfers().await_through(UINT64_MAX);
  if (range) connection_.bulk().forget(memory_of(*range));
  if (range && range->kind == HostRange::Kind::kRegistered && range->base == to_raw(pointer)) {
    advice_.forget(range->base, range->bytes);
    if (range->other != 0) advice_.forget(range->other, range->bytes);  // by its other address
  }
  const hipError_t removed = memory_.remove(pointer);
  return error != hipSuccess ? error : removed;
}

hipError_t HostAllocations::free(const HostRange& range) {
  const hipError_t error = range.reachable ? wait_for_devices() : hipSuccess;
  // Copies may still read or write what only we reach.
  if (!range.reachable) connection_.streams().transfers().await_through(UINT64_MAX);
  mirror_.remove(range.base);
  connection_.bulk().forget(memory_of(range));
  advice_.forget(range.base, range.bytes);
  const hipError_t released = memory_.release(reinterpret_cast<void*>(range.base));
  return error != hipSuccess ? error : released;
}

}  // namespace tf::proxy
