// SPDX-License-Identifier: Apache-2.0
// What goes with allocating and freeing host memory.
#include "proxy/client/host_allocations.h"

#include <cstddef>
#include <cstring>
#include <span>

#include "hipcore/memory/host_flags.h"
#include "proxy/memory/shared_file.h"

namespace tf::proxy {
namespace {

constexpr unsigned kMappedFlags = hipHostMallocMapped | hipHostMallocCoherent | hipcore::kHostMallocUncached;

std::span<std::byte> memory_of(const HostRange& range) {
  return {reinterpret_cast<std::byte*>(range.base), range.bytes};
}

}  // namespace

hipError_t HostAllocations::allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags,
                                     void*& pointer) {
  const hipError_t error = memory_.allocate(kind, device, bytes, flags, pointer);
  if (error != hipSuccess) return error;
  connection_.bulk().remember({static_cast<std::byte*>(pointer), bytes});
  const auto range = memory_.find(pointer);
  if (!range) return hipSuccess;
  if (range->home == HostRange::Home::kBlock && memory_.copies_blocks()) mirror_block(*range);
  // The program says that kernels use it: it may hide the pointer in a structure.
  const bool mapped = kind == HostRange::Kind::kPinned && (flags & kMappedFlags) != 0;
  if (mapped) static_cast<void>(wake(range->base));
  update_care();
  return hipSuccess;
}

hipError_t HostAllocations::allocate_variable(int device, std::uint64_t bytes, void*& pointer) {
  const hipError_t error = allocate(HostRange::Kind::kManaged, device, bytes, hipMemAttachGlobal, pointer);
  if (error == hipSuccess) memory_.keep_for_variable(pointer);
  return error;
}

hipError_t HostAllocations::add(int device, void* pointer, std::uint64_t bytes, unsigned flags) {
  const hipError_t error = memory_.add(device, pointer, bytes, flags);
  if (error == hipSuccess) connection_.bulk().remember({static_cast<std::byte*>(pointer), bytes});
  update_care();
  return error;
}

// Managed memory is not touched while work runs; to fine-grained memory the host may write at any time.
void HostAllocations::mirror_block(const HostRange& range) {
  Mirror::Memory memory;
  memory.host = {range.base, range.bytes};
  memory.device = range.base;
  memory.any_time = range.kind != HostRange::Kind::kManaged;
  mirror_.add(memory);
}

void HostAllocations::update_care() {
  const MutexLock lock(caring_);
  connection_.take_care(Care::kMirroring, mirror_.any() || memory_.has_dormant());
}

// From then on copies name its address at the worker, so earlier ones must have arrived here.
hipError_t HostAllocations::wake(std::uint64_t address) {
  if (!memory_.has_dormant() || !memory_.find_dormant(address)) return hipSuccess;
  const MutexLock lock(waking_);
  const auto range = memory_.find_dormant(address);
  if (!range) return hipSuccess;
  const bool pinned = range->kind == HostRange::Kind::kPinned;
  Mirror::Memory memory;
  memory.host = {pinned ? range->base : range->other, range->bytes};
  memory.device = range->base;
  memory.any_time = true;
  memory.whole_pages = pinned;
  memory.watched = pinned || is_private_memory(memory.host.address, memory.host.bytes);
  Transfers& transfers = connection_.streams().transfers();
  if (transfers.writes(memory.host.address, memory.host.bytes)) transfers.await_through(UINT64_MAX);
  const hipError_t error = memory_.open(range->base);
  if (error != hipSuccess) return error;
  mirror_.add(memory);
  memory_.wake(range->base);
  update_care();
  return hipSuccess;
}

hipError_t HostAllocations::wake_named(std::span<const std::byte> message) {
  if (!memory_.has_dormant()) return hipSuccess;
  const protocol::AddressWindow window = memory_.window();
  for (; message.size() >= sizeof(std::uint64_t); message = message.subspan(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, message.data(), sizeof word);
    if (word - window.base >= window.bytes) continue;
    if (const hipError_t error = wake(word); error != hipSuccess) return error;
  }
  return hipSuccess;
}

hipError_t HostAllocations::wait_for_devices() {
  for (int device = 0; device < connection_.device_count(); ++device) {
    const hipError_t left = connection_.finish_device(device, connection_.drain(device));
    if (left == kLostError) return left;
  }
  return hipSuccess;
}

hipError_t HostAllocations::remove(void* pointer) {
  const auto range = memory_.find(pointer);
  const bool shared =
      range && range->kind == HostRange::Kind::kRegistered && range->other != 0 && !range->dormant;
  const hipError_t error = shared ? wait_for_devices() : hipSuccess;
  connection_.streams().transfers().await_through(UINT64_MAX);
  if (range) connection_.bulk().forget(memory_of(*range));
  if (range && range->kind == HostRange::Kind::kRegistered && range->base == to_raw(pointer)) {
    advice_.forget(range->base, range->bytes);
    if (range->other != 0) advice_.forget(range->other, range->bytes);  // by its other address
  }
  if (shared) mirror_.remove(range->base);
  const hipError_t removed = memory_.remove(pointer);
  update_care();
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
  update_care();
  return error != hipSuccess ? error : released;
}

}  // namespace tf::proxy
