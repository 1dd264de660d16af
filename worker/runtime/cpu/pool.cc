// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

constexpr std::size_t kBlock_bytes = std::size_t{64} << 10;  // blocks are multiples of this

}  // namespace

Pool::~Pool() {
  for (auto& [bytes, block] : free_) {
    block.freed.wait();
    unmap_pages(block.base, bytes);
    device_.give_memory(bytes);
  }
}

// Called with mutex_ held.
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

// Called with mutex_ held.
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

hipError_t Pool::allocate(std::size_t bytes, Stream& stream, void** pointer) {
  if (bytes > device_.total_bytes()) return hipErrorOutOfMemory;
  const std::size_t block_bytes = round_up(bytes, kBlock_bytes);
  void* base = nullptr;
  {
    const std::lock_guard lock(mutex_);
    base = reuse(block_bytes, stream);
    if (!base) base = reserve(block_bytes);
  }
  if (!base) {
    trim(0);
    const std::lock_guard lock(mutex_);
    base = reserve(block_bytes);
  }
  if (!base) return hipErrorOutOfMemory;
  Allocation allocation;
  allocation.base = reinterpret_cast<std::uintptr_t>(base);
  allocation.bytes = bytes;
  allocation.mapped_bytes = block_bytes;
  allocation.device = device_.ordinal();
  allocation.pool = this;
  {
    const std::lock_guard lock(mutex_);
    used_bytes_ += block_bytes;
    used_high_bytes_ = std::max(used_high_bytes_, used_bytes_);
  }
  if (!Runtime::get().memory.add(allocation)) {
    give_back(allocation, Marker{});
    return hipErrorOutOfMemory;
  }
  *pointer = base;
  return hipSuccess;
}

void Pool::give_back(const Allocation& allocation, Marker freed) {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= allocation.mapped_bytes;
  free_.emplace(allocation.mapped_bytes,
                FreeBlock{reinterpret_cast<void*>(allocation.base), std::move(freed)});
}

void Pool::trim(std::size_t keep_bytes) {
  const std::lock_guard lock(mutex_);
  for (auto block = free_.begin(); block != free_.end() && reserved_bytes_ > keep_bytes;) {
    if (!block->second.freed.done()) {
      ++block;
      continue;
    }
    unmap_pages(block->second.base, block->first);
    reserved_bytes_ -= block->first;
    device_.give_memory(block->first);
    block = free_.erase(block);
  }
}

void Pool::trim_to_threshold() {
  std::uint64_t keep = 0;
  {
    const std::lock_guard lock(mutex_);
    keep = threshold_bytes_;
    if (free_.empty()) return;
  }
  trim(keep);
}

bool Pool::unused() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_ == 0;
}

hipError_t Pool::set_attribute(hipMemPoolAttr attribute, const void* value) {
  std::uint64_t wide = 0;
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
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

namespace {

// The handle of a device's default pool is its address; it is in no table, so it cannot be destroyed.
Pool* find_pool(hipMemPool_t handle, std::shared_ptr<Pool>& keep) {
  keep = Runtime::get().pools.find(handle);
  if (keep) return keep.get();
  for (int ordinal = 0; ordinal < Runtime::get().device_count(); ++ordinal) {
    Pool& pool = Runtime::get().device(ordinal).default_pool();
    if (reinterpret_cast<hipMemPool_t>(&pool) == handle) return &pool;
  }
  return nullptr;
}

hipError_t allocate_async(void** pointer, std::size_t bytes, Pool* pool, hipStream_t stream_handle) {
  if (!pointer) return hipErrorInvalidValue;
  std::shared_ptr<Stream> stream;
  if (const hipError_t status = find_stream(stream_handle, stream)) return status;
  if (const hipError_t refused = refuse_captured(*stream)) return refused;
  if (bytes == 0) {
    *pointer = nullptr;
    return hipSuccess;
  }
  return (pool ? pool : stream->device().current_pool())->allocate(bytes, *stream, pointer);
}

hipError_t free_async(void* pointer, hipStream_t stream_handle) {
  if (!pointer) return hipErrorInvalidValue;
  std::shared_ptr<Stream> stream;
  if (const hipError_t status = find_stream(stream_handle, stream)) return status;
  if (const hipError_t refused = refuse_captured(*stream)) return refused;
  Runtime& runtime = Runtime::get();
  const auto known = runtime.memory.find(pointer);
  if (!known || known->base != reinterpret_cast<std::uintptr_t>(pointer)) return hipErrorInvalidValue;
  if (known->kind != MemoryKind::kDevice) return hipErrorInvalidValue;
  if (!known->pool) return hipFree(pointer);
  const auto removed = runtime.memory.remove(pointer);
  if (!removed) return hipErrorInvalidValue;  // another thread freed it meanwhile
  removed->pool->give_back(*removed, stream->at(stream->submit([] { return hipSuccess; }, Where::kAtOnce)));
  return hipSuccess;
}

hipError_t create_pool(hipMemPool_t* handle, const hipMemPoolProps* props) {
  if (!handle || !props || props->allocType != hipMemAllocationTypePinned) return hipErrorInvalidValue;
  if (props->location.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
  if (props->handleTypes != hipMemHandleTypeNone) return hipErrorNotSupported;
  Runtime& runtime = Runtime::get();
  if (!runtime.valid_device(props->location.id)) return hipErrorInvalidValue;
  *handle = runtime.pools.add(std::make_shared<Pool>(runtime.device(props->location.id)));
  return *handle ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t destroy_pool(hipMemPool_t handle) {
  Runtime& runtime = Runtime::get();
  const auto pool = runtime.pools.find(handle);
  if (!pool) return hipErrorInvalidValue;
  if (!pool->unused()) return hipErrorIllegalState;  // its blocks still point to it
  if (!runtime.pools.remove(handle)) return hipErrorInvalidValue;
  Device& device = pool->device();
  if (device.current_pool() == pool.get()) device.set_current_pool(&device.default_pool());
  return hipSuccess;
}

template <typename Body>
hipError_t with_pool(hipMemPool_t handle, Body&& body) {
  return api([&]() -> hipError_t {
    std::shared_ptr<Pool> keep;
    Pool* const pool = find_pool(handle, keep);
    return pool ? body(*pool) : hipErrorInvalidValue;
  });
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream) {
  return api([&] { return allocate_async(pointer, bytes, nullptr, stream); });
}

hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return with_pool(pool, [&](Pool& found) { return allocate_async(pointer, bytes, &found, stream); });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return api([&] { return free_async(pointer, stream); });
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* props) {
  return api([&] { return create_pool(pool, props); });
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return api([&] { return destroy_pool(pool); });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep_bytes) {
  return with_pool(pool, [&](Pool& found) {
    found.trim(keep_bytes);
    return hipSuccess;
  });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](Pool& found) {
    return value ? found.set_attribute(attribute, value) : hipErrorInvalidValue;
  });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](Pool& found) {
    return value ? found.get_attribute(attribute, value) : hipErrorInvalidValue;
  });
}

// Every device can reach all memory here; only taking the owner's access away is refused.
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* descriptors, size_t count) {
  return with_pool(pool, [&](Pool& found) {
    if (!descriptors || count == 0 || count > kMaxDevices) return hipErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      const hipMemLocation& where = descriptors[i].location;
      if (where.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
      if (!Runtime::get().valid_device(where.id)) return hipErrorInvalidDevice;
      if (where.id == found.device().ordinal() && descriptors[i].flags == hipMemAccessFlagsProtNone)
        return hipErrorInvalidDevice;
    }
    return hipSuccess;
  });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation* location) {
  return with_pool(pool, [&](Pool&) {
    if (!flags || !location || location->type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
    if (!Runtime::get().valid_device(location->id)) return hipErrorInvalidValue;
    *flags = hipMemAccessFlagsProtReadWrite;
    return hipSuccess;
  });
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return api([&] {
    if (!pool) return hipErrorInvalidValue;
    if (!Runtime::get().valid_device(device)) return hipErrorInvalidDevice;
    *pool = reinterpret_cast<hipMemPool_t>(&Runtime::get().device(device).default_pool());
    return hipSuccess;
  });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return api([&] {
    if (!pool) return hipErrorInvalidValue;
    if (!Runtime::get().valid_device(device)) return hipErrorInvalidDevice;
    *pool = reinterpret_cast<hipMemPool_t>(Runtime::get().device(device).current_pool());
    return hipSuccess;
  });
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return with_pool(pool, [&](Pool& found) {
    if (!Runtime::get().valid_device(device)) return hipErrorInvalidDevice;
    if (found.device().ordinal() != device) return hipErrorInvalidDevice;
    Runtime::get().device(device).set_current_pool(&found);
    return hipSuccess;
  });
}

}  // extern "C"
