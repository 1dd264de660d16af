// SPDX-License-Identifier: Apache-2.0
// Memory that graphs allocate and free: nodes, captured calls, what launches do to it, and its accounts.
#include <algorithm>
#include <cstring>
#include <utility>

#include "hipcore/graph/library.h"
#include "transport/base/mutex.h"

namespace tf::graph {
namespace {

bool on_device(const hipMemLocation& location, int devices) {
  return location.type == hipMemLocationTypeDevice && location.id >= 0 && location.id < devices;
}

bool is_sound(const hipMemAllocNodeParams& wish, int devices) {
  if (wish.bytesize == 0 || wish.poolProps.allocType != hipMemAllocationTypePinned) return false;
  if (!on_device(wish.poolProps.location, devices)) return false;
  if (wish.accessDescCount == 0) return true;
  if (wish.accessDescs == nullptr || wish.accessDescCount > static_cast<std::size_t>(devices)) return false;
  return std::all_of(wish.accessDescs, wish.accessDescs + wish.accessDescCount,
                     [devices](const hipMemAccessDesc& one) { return on_device(one.location, devices); });
}

std::uintptr_t key_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

Block::Block(Side& source, std::atomic<std::size_t>& all, int device_ordinal, std::byte* base,
             std::size_t size)
    : side(source), count(all), device(device_ordinal), address(base), bytes(size) {
  count.fetch_add(1, std::memory_order_relaxed);
}

Block::~Block() {
  side.release(device, address);
  count.fetch_sub(1, std::memory_order_relaxed);
}

hipError_t Library::make_block(int device, std::size_t bytes, std::shared_ptr<Block>& block) {
  std::byte* address = nullptr;
  const hipError_t error = side_.allocate(device, bytes, address);
  if (error != hipSuccess) return error;
  block = std::make_shared<Block>(side_, block_count_, device, address, bytes);
  const MutexLock lock(mutex_);
  if (blocks_.size() >= 2 * blocks_swept_ + 1024) {
    std::erase_if(blocks_, [](const auto& entry) { return entry.second.expired(); });
    blocks_swept_ = blocks_.size();
  }
  blocks_.insert_or_assign(key_of(address), block);
  return hipSuccess;
}

std::shared_ptr<Block> Library::find_block(const void* pointer) const {
  const auto found = blocks_.find(key_of(pointer));
  return found == blocks_.end() ? nullptr : found->second.lock();
}

// --- nodes ----------------------------------------------------------------------------------------------

hipError_t Library::add_allocation(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   std::size_t count, hipMemAllocNodeParams* parameters) {
  if (parameters == nullptr || node == nullptr) return hipErrorInvalidValue;
  parameters->dptr = nullptr;
  if (!is_sound(*parameters, side_.device_count())) return hipErrorInvalidValue;
  AllocationWork work;
  work.properties = parameters->poolProps;
  work.access.assign(parameters->accessDescs, parameters->accessDescs + parameters->accessDescCount);
  hipError_t error = make_block(parameters->poolProps.location.id, parameters->bytesize, work.block);
  if (error != hipSuccess) return error;
  std::byte* const address = work.block->address;
  error = add(node, graph, dependencies, count, std::move(work));
  if (error == hipSuccess) parameters->dptr = address;
  return error;
}

hipError_t Library::add_release(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                std::size_t count, void* pointer) {
  if (node == nullptr) return hipErrorInvalidValue;
  ReleaseWork work;
  work.mark = std::make_shared<char>();
  {
    const MutexLock lock(mutex_);
    work.block = find_block(pointer);
    if (work.block == nullptr || !work.block->free_node.expired()) return hipErrorInvalidValue;
    work.block->free_node = work.mark;
  }
  return add(node, graph, dependencies, count, std::move(work));
}

hipError_t Library::get_allocation(hipGraphNode_t node, hipMemAllocNodeParams* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  return get<AllocationWork>(node, [&](const AllocationWork& work) {
    parameters->poolProps = work.properties;
    parameters->accessDescs = work.access.empty() ? nullptr : work.access.data();
    parameters->accessDescCount = work.access.size();
    parameters->bytesize = work.block->bytes;
    parameters->dptr = work.block->address;
    return hipSuccess;
  });
}

hipError_t Library::get_release(hipGraphNode_t node, void* pointer) {
  if (pointer == nullptr) return hipErrorInvalidValue;
  return get<ReleaseWork>(node, [&](const ReleaseWork& work) {
    std::memcpy(pointer, &work.block->address, sizeof work.block->address);
    return hipSuccess;
  });
}

// --- captured -------------------------------------------------------------------------------------------

Library::Verdict Library::capture_allocation(const StreamRef& stream, int device, std::size_t bytes,
                                             void** pointer) {
  {
    const MutexLock lock(mutex_);
    const hipStreamCaptureStatus status = captures_.info(stream).status;
    if (status == hipStreamCaptureStatusNone) return captures_.refuse(stream);
    if (status == hipStreamCaptureStatusInvalidated) return hipErrorStreamCaptureInvalidated;
  }
  AllocationWork work;
  work.properties.allocType = hipMemAllocationTypePinned;
  work.properties.location = {hipMemLocationTypeDevice, device};
  if (const hipError_t error = make_block(device, bytes, work.block); error != hipSuccess) return error;
  std::byte* const address = work.block->address;
  const auto shared = std::make_shared<const Work>(std::move(work));  // destroyed after the lock
  const MutexLock lock(mutex_);
  const Verdict verdict = captures_.append(stream, shared);
  if (verdict == hipSuccess) *pointer = address;
  return verdict;
}

Library::Verdict Library::capture_release(const StreamRef& stream, void* pointer) {
  ReleaseWork work;
  work.mark = std::make_shared<char>();
  SharedWork shared;
  const MutexLock lock(mutex_);
  const hipStreamCaptureStatus status = captures_.info(stream).status;
  if (status == hipStreamCaptureStatusInvalidated) return hipErrorStreamCaptureInvalidated;
  work.block = status == hipStreamCaptureStatusActive ? find_block(pointer) : nullptr;
  // What no graph has allocated, no graph can free.
  if (work.block == nullptr) return captures_.refuse(stream);
  if (!work.block->free_node.expired()) return hipErrorInvalidValue;
  work.block->free_node = work.mark;
  shared = std::make_shared<const Work>(std::move(work));
  return captures_.append(stream, shared);
}

// --- launches -------------------------------------------------------------------------------------------

// Memory has one address, so only one executable graph at a time may allocate it, and one free it.
hipError_t Library::claim_blocks(Exec& exec) {
  exec.memory = memory_steps(exec.plan);
  if (exec.memory.empty()) return hipSuccess;
  exec.mark = std::make_shared<char>();
  const auto claim = [](const MemoryStep& step) -> std::weak_ptr<const void>& {
    return step.allocates ? step.block->allocators : step.block->freers;
  };
  for (const MemoryStep& step : exec.memory)
    if (!claim(step).expired()) return hipErrorNotSupported;
  for (const MemoryStep& step : exec.memory) claim(step) = exec.mark;
  return hipSuccess;
}

void Library::set_allocated(const std::shared_ptr<Block>& block, bool allocated, Remains& remains) {
  if (block->allocated == allocated) return;
  block->allocated = allocated;
  MemoryAccount& account = accounts_[block->device];
  if (allocated) {
    allocated_.emplace(key_of(block->address), block);
    account.used += block->bytes;
    account.used_high = std::max(account.used_high, account.used);
    account.reserved_high = std::max(account.reserved_high, account.used);
    return;
  }
  account.used -= block->bytes;
  const auto held = allocated_.find(key_of(block->address));
  if (held == allocated_.end()) return;
  remains.emplace_back(std::move(held->second));
  allocated_.erase(held);
}

// Memory that the launch before has left allocated is freed first, or the launch fails.
hipError_t Library::run_memory(const Exec& exec, Bookings& bookings, Remains& remains) {
  const auto book = [&](const MemoryStep& step, bool allocated) TF_REQUIRES(mutex_) {
    if (step.block->allocated != allocated) bookings.emplace_back(step.block, !allocated);
    set_allocated(step.block, allocated, remains);
  };
  const bool frees_first = (exec.flags & hipGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  for (const MemoryStep& step : exec.memory)
    if (step.allocates && step.block->allocated && !frees_first) return hipErrorInvalidValue;
  for (const MemoryStep& step : exec.memory)
    if (step.allocates) book(step, false);
  for (const MemoryStep& step : exec.memory) book(step, step.allocates);
  return hipSuccess;
}

void Library::undo_memory(const Bookings& bookings, Remains& remains) {
  for (auto booked = bookings.rbegin(); booked != bookings.rend(); ++booked)
    set_allocated(booked->first, booked->second, remains);
}

Library::Verdict Library::free_block(void* pointer) {
  std::shared_ptr<Block> block;
  Remains remains;
  const MutexLock lock(mutex_);
  block = find_block(pointer);
  if (block == nullptr) return std::nullopt;
  if (!block->allocated) return hipErrorInvalidValue;
  set_allocated(block, false, remains);
  return hipSuccess;
}

// --- accounts -------------------------------------------------------------------------------------------

hipError_t Library::get_memory_attribute(int device, hipGraphMemAttributeType attribute, void* value) {
  if (device < 0 || device >= side_.device_count()) return hipErrorInvalidDevice;
  if (value == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  const MemoryAccount& account = accounts_[device];
  std::uint64_t answer = account.used;  // reserved: what is allocated, too
  switch (attribute) {
    case hipGraphMemAttrUsedMemCurrent:
    case hipGraphMemAttrReservedMemCurrent: break;
    case hipGraphMemAttrUsedMemHigh: answer = account.used_high; break;
    case hipGraphMemAttrReservedMemHigh: answer = account.reserved_high; break;
    default: return hipErrorInvalidValue;
  }
  std::memcpy(value, &answer, sizeof answer);
  return hipSuccess;
}

// High-water marks can only be reset.
hipError_t Library::set_memory_attribute(int device, hipGraphMemAttributeType attribute, void* value) {
  if (device < 0 || device >= side_.device_count()) return hipErrorInvalidDevice;
  const bool used = attribute == hipGraphMemAttrUsedMemHigh;
  if (!used && attribute != hipGraphMemAttrReservedMemHigh) return hipErrorInvalidValue;
  if (value == nullptr) return hipErrorInvalidValue;
  std::uint64_t wish = 0;
  std::memcpy(&wish, value, sizeof wish);
  if (wish != 0) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  MemoryAccount& account = accounts_[device];
  (used ? account.used_high : account.reserved_high) = account.used;
  return hipSuccess;
}

hipError_t Library::trim_memory(int device) {
  return device >= 0 && device < side_.device_count() ? hipSuccess : hipErrorInvalidDevice;
}

}  // namespace tf::graph
