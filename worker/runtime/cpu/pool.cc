// SPDX-License-Identifier: Apache-2.0
// Pools of stream-ordered memory.
#include "worker/runtime/cpu/pool.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hipcore/abi/pool_limit.h"
#include "hipcore/abi/rules.h"
#include "transport/base/mutex.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/ipc.h"
#include "worker/runtime/cpu/memory.h"

namespace tf::cpu {
namespace {

constexpr std::size_t kBlock_bytes = std::size_t{64} << 10;  // blocks are multiples of this

}  // namespace

Pool::~Pool() {
  free_.merge(retired_);
  for (auto& [bytes, block] : free_) {
    block.freed.wait();
    unmap_pages(block.base, bytes);
    device_.give_memory(bytes);
  }
}

void* Pool::reuse(std::size_t bytes, const Stream& stream) {
  const auto [first, last] = free_.equal_range(bytes);
  for (auto block = first; block != last; ++block) {
    const Marker& freed = block->second.freed;
    if (freed.stream.get() != &stream && !freed.done()) continue;
    void* const base = block->second.base;
    free_.erase(block);
    return base;
  }
  return nullptr;
}

void* Pool::reserve(std::size_t bytes) {
  if (!device_.take_memory(bytes)) return nullptr;
  void* const base = map_pages(bytes);
  if (!base) {
    device_.give_memory(bytes);
    return nullptr;
  }
  reserved_bytes_ += bytes;
  reserved_high_bytes_ = std::max(reserved_high_bytes_, reserved_bytes_);
  return base;
}

void Pool::unreserve(void* base, std::size_t bytes) {
  unmap_pages(base, bytes);
  reserved_bytes_ -= bytes;
  device_.give_memory(bytes);
}

bool Pool::book(std::size_t bytes) {
  const MutexLock lock(mutex_);
  if (limit_bytes_ != 0 && (used_bytes_ > limit_bytes_ || bytes > limit_bytes_ - used_bytes_)) return false;
  used_bytes_ += bytes;
  return true;
}

void Pool::unbook(std::size_t bytes) {
  const MutexLock lock(mutex_);
  used_bytes_ -= bytes;
}

void* Pool::find_block(std::size_t block_bytes, const Stream& stream) {
  {
    const MutexLock lock(mutex_);
    void* base = reuse(block_bytes, stream);
    if (!base) base = reserve(block_bytes);
    if (base) return base;
  }
  trim(0);
  const MutexLock lock(mutex_);
  return reserve(block_bytes);
}

hipError_t Pool::allocate(std::size_t bytes, Stream& stream, void** pointer) {
  if (kind_ == Kind::kImported) return hipErrorInvalidValue;
  if (bytes > device_.total_bytes() || !book(bytes)) return hipErrorOutOfMemory;
  const std::size_t block_bytes = round_up(bytes, kBlock_bytes);
  void* const base = find_block(block_bytes, stream);
  if (!base) {
    unbook(bytes);
    return hipErrorOutOfMemory;
  }
  Allocation allocation;
  allocation.base = reinterpret_cast<std::uintptr_t>(base);
  allocation.bytes = bytes;
  allocation.mapped_bytes = block_bytes;
  allocation.device = device_.ordinal();
  allocation.pool = this;
  {
    const MutexLock lock(mutex_);
    used_high_bytes_ = std::max(used_high_bytes_, used_bytes_);
  }
  if (!Runtime::get().begin_memory(allocation)) {
    give_back(allocation, Marker{});
    return hipErrorOutOfMemory;
  }
  *pointer = base;
  return hipSuccess;
}

void Pool::give_back(const Allocation& allocation, Marker freed) {
  const bool shared = allocation.descriptor >= 0;
  if (shared) ::close(allocation.descriptor);
  std::shared_ptr<Pool> last;  // goes after the lock
  const MutexLock lock(mutex_);
  used_bytes_ -= allocation.bytes;
  auto& blocks = shared ? retired_ : free_;
  blocks.emplace(allocation.mapped_bytes,
                 FreeBlock{reinterpret_cast<void*>(allocation.base), std::move(freed)});
  if (!self_ || used_bytes_ != 0) return;
  device_.default_pool().adopt(std::exchange(free_, {}), std::exchange(retired_, {}));
  last = std::move(self_);
}

void Pool::trim(std::size_t keep_bytes) {
  const MutexLock lock(mutex_);
  const auto release = [this](auto& blocks, auto block) TF_REQUIRES(mutex_) {
    if (!block->second.freed.done()) return ++block;
    unreserve(block->second.base, block->first);
    return blocks.erase(block);
  };
  for (auto block = retired_.begin(); block != retired_.end();) block = release(retired_, block);
  for (auto block = free_.begin(); block != free_.end() && reserved_bytes_ > keep_bytes;)
    block = release(free_, block);
}

void Pool::trim_to_threshold() {
  std::uint64_t keep = 0;
  {
    const MutexLock lock(mutex_);
    keep = threshold_bytes_;
    if (free_.empty() && retired_.empty()) return;
  }
  trim(keep);
}

void Pool::outlive(const std::shared_ptr<Pool>& self) {
  const MutexLock lock(mutex_);
  if (used_bytes_ != 0) self_ = self;
}

// No call waits for the blocks of a pool that ends with its last memory.
void Pool::adopt(Blocks blocks, Blocks retired) {
  const MutexLock lock(mutex_);
  for (const Blocks* const more : {&blocks, &retired})
    for (const auto& [bytes, block] : *more) reserved_bytes_ += bytes;
  reserved_high_bytes_ = std::max(reserved_high_bytes_, reserved_bytes_);
  free_.merge(blocks);
  retired_.merge(retired);
}

hipError_t Pool::set_attribute(hipMemPoolAttr attribute, const void* value) {
  std::uint64_t wide = 0;
  const MutexLock lock(mutex_);
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      std::memcpy(&reuse_rules_[attribute - hipMemPoolReuseFollowEventDependencies], value, sizeof(int));
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold:
      std::memcpy(&threshold_bytes_, value, sizeof threshold_bytes_);
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      std::memcpy(&wide, value, sizeof wide);
      if (wide != 0) return hipErrorInvalidValue;  // only a reset
      if (attribute == hipMemPoolAttrUsedMemHigh) used_high_bytes_ = used_bytes_;
      if (attribute == hipMemPoolAttrReservedMemHigh) reserved_high_bytes_ = reserved_bytes_;
      return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}

hipError_t Pool::get_attribute(hipMemPoolAttr attribute, void* value) const {
  const MutexLock lock(mutex_);
  const auto answer = [value](std::uint64_t number) {
    std::memcpy(value, &number, sizeof number);
    return hipSuccess;
  };
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      std::memcpy(value, &reuse_rules_[attribute - hipMemPoolReuseFollowEventDependencies], sizeof(int));
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold: return answer(threshold_bytes_);
    case hipMemPoolAttrReservedMemCurrent: return answer(reserved_bytes_);
    case hipMemPoolAttrReservedMemHigh: return answer(reserved_high_bytes_);
    case hipMemPoolAttrUsedMemCurrent: return answer(used_bytes_);
    case hipMemPoolAttrUsedMemHigh: return answer(used_high_bytes_);
    default: return hipErrorInvalidValue;
  }
}

void release_unused_memory(Device& device) {
  device.default_pool().trim_to_threshold();
  for (const auto& pool : Runtime::get().pools.all())
    if (&pool->device() == &device) pool->trim_to_threshold();
}

// The handle of a device's default pool is its address; it is in no table, so it cannot be destroyed.
Backend::Pool Backend::find_pool(hipMemPool_t handle) {
  if (auto pool = Runtime::get().pools.find(handle)) return Pool(std::move(pool));
  for (int ordinal = 0; ordinal < device_count(); ++ordinal) {
    cpu::Pool& pool = Runtime::get().device(ordinal).default_pool();
    if (reinterpret_cast<hipMemPool_t>(&pool) == handle) return Pool(&pool);
  }
  return {};
}

hipError_t Backend::allocate_async(void** pointer, std::size_t bytes, const Stream& stream) {
  return stream->device().current_pool()->allocate(bytes, *stream, pointer);
}

hipError_t Backend::allocate_from_pool(void** pointer, std::size_t bytes, const Pool& pool,
                                       const Stream& stream) {
  return pool->allocate(bytes, *stream, pointer);
}

hipError_t Backend::free_async(void* pointer, const Stream& stream) {
  Runtime& runtime = Runtime::get();
  const auto known = runtime.memory.find(pointer);
  if (known && known->kind == MemoryKind::kImported) return close_imported(pointer, *stream);
  if (!known || known->base != address_of(pointer)) return hipErrorInvalidValue;
  if (known->kind != MemoryKind::kDevice) return hipErrorInvalidValue;
  if (!known->pool) return release(pointer);
  const auto removed = runtime.end_memory(pointer);
  if (!removed) return hipErrorInvalidValue;  // another thread freed it meanwhile
  removed->pool->give_back(*removed, stream->at(stream->submit([] { return hipSuccess; }, Where::kAtOnce)));
  return hipSuccess;
}

hipError_t Backend::create_pool(hipMemPool_t& handle, const hipMemPoolProps& wish) {
  const bool shareable = wish.handleTypes == hipMemHandleTypePosixFileDescriptor;
  if (!shareable && wish.handleTypes != hipMemHandleTypeNone) return hipErrorNotSupported;
  Runtime& runtime = Runtime::get();
  const auto kind = shareable ? cpu::Pool::Kind::kShareable : cpu::Pool::Kind::kPlain;
  const std::uint64_t limit = abi::pool_limit(abi::kRules.major, wish);
  handle = runtime.pools.add(std::make_shared<cpu::Pool>(runtime.device(wish.location.id), kind, limit));
  return handle ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t Backend::destroy_pool(hipMemPool_t handle) {
  Runtime& runtime = Runtime::get();
  const auto pool = runtime.pools.find(handle);
  if (!pool) return hipErrorInvalidValue;
  if (!runtime.pools.remove(handle)) return hipErrorInvalidValue;
  Device& device = pool->device();
  if (device.current_pool() == pool.get()) device.set_current_pool(&device.default_pool());
  pool->outlive(pool);
  return hipSuccess;
}

hipError_t Backend::trim_pool(const Pool& pool, std::size_t keep_bytes) {
  pool->trim(keep_bytes);
  return hipSuccess;
}

hipError_t Backend::set_pool_attribute(const Pool& pool, hipMemPoolAttr attribute, void* value) {
  return pool->set_attribute(attribute, value);
}

hipError_t Backend::pool_attribute(const Pool& pool, hipMemPoolAttr attribute, void* value) {
  return pool->get_attribute(attribute, value);
}

// Every device can reach all memory here.
hipError_t Backend::set_pool_access(const Pool&, std::span<const hipMemAccessDesc>) { return hipSuccess; }

hipError_t Backend::pool_access(const Pool&, const hipMemLocation&, hipMemAccessFlags& flags) {
  flags = hipMemAccessFlagsProtReadWrite;
  return hipSuccess;
}

hipError_t Backend::default_pool(int device, hipMemPool_t& pool) {
  pool = reinterpret_cast<hipMemPool_t>(&Runtime::get().device(device).default_pool());
  return hipSuccess;
}

hipError_t Backend::current_pool(int device, hipMemPool_t& pool) {
  pool = reinterpret_cast<hipMemPool_t>(Runtime::get().device(device).current_pool());
  return hipSuccess;
}

hipError_t Backend::set_current_pool(int device, const Pool& pool) {
  if (pool->kind() == cpu::Pool::Kind::kImported) return hipErrorInvalidValue;
  if (pool->device().ordinal() != device) return hipErrorInvalidDevice;
  Runtime::get().device(device).set_current_pool(&*pool);
  return hipSuccess;
}

}  // namespace tf::cpu
