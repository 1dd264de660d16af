// SPDX-License-Identifier: Apache-2.0
// What a session does about host memory that devices use: the transport is told of it, since it may pay to
// register it with a device of its own, and it goes when nobody uses it any more.
#include <cstddef>
#include <span>

#include "proxy/session/session.h"

namespace tf::proxy {
namespace {

std::span<std::byte> memory_of(const HostRange& range) {
  return {reinterpret_cast<std::byte*>(range.base), range.bytes};
}

}  // namespace

hipError_t Session::allocate_host(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags,
                                  void*& pointer) {
  const hipError_t error = host_memory_.allocate(kind, device, bytes, flags, pointer);
  if (error == hipSuccess) endpoint_->bulk().remember({static_cast<std::byte*>(pointer), bytes});
  return error;
}

hipError_t Session::register_host(int device, void* pointer, std::uint64_t bytes, unsigned flags) {
  const hipError_t error = host_memory_.add(device, pointer, bytes, flags);
  if (error == hipSuccess) endpoint_->bulk().remember({static_cast<std::byte*>(pointer), bytes});
  return error;
}

// What went wrong on a device is not the business of who frees: the next call that waits for the program
// tells.
hipError_t Session::wait_for_devices() {
  for (int device = 0; device < device_count(); ++device) {
    const hipError_t left = settle_device(device, drain(device));
    if (left == kLostError) return left;
  }
  return hipSuccess;
}

hipError_t Session::unregister_host(void* pointer) {
  const auto range = host_memory_.find(pointer);
  const bool shared = range && range->kind == HostRange::Kind::kRegistered && range->other != 0;
  const hipError_t error = shared ? wait_for_devices() : hipSuccess;
  transfers_.await_through(UINT64_MAX);
  if (range) endpoint_->bulk().forget(memory_of(*range));
  const hipError_t removed = host_memory_.remove(pointer);
  return error != hipSuccess ? error : removed;
}

hipError_t Session::free_host(const HostRange& range) {
  const hipError_t error = range.reachable ? wait_for_devices() : hipSuccess;
  // Copies may still read or write what only we reach.
  if (!range.reachable) transfers_.await_through(UINT64_MAX);
  mirror_.remove(range.base);
  endpoint_->bulk().forget(memory_of(range));
  const hipError_t released = host_memory_.release(reinterpret_cast<void*>(range.base));
  return error != hipSuccess ? error : released;
}

}  // namespace tf::proxy
