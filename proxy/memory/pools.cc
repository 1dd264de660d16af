// SPDX-License-Identifier: Apache-2.0
// The settings and accounts of memory pools.
#include "proxy/memory/pools.h"

#include <algorithm>
#include <cstring>

#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

std::uint64_t block_bytes(std::uint64_t bytes) {
  return (bytes + kPoolBlockBytes - 1) / kPoolBlockBytes * kPoolBlockBytes;
}

std::size_t rule_index(hipMemPoolAttr attribute) {
  return static_cast<std::size_t>(attribute - hipMemPoolReuseFollowEventDependencies);
}

}  // namespace

std::uint64_t Pools::create(int device, Kind kind, std::uint64_t limit) {
  auto facts = std::make_shared<PoolFacts>();
  facts->device = device;
  facts->is_shareable = kind == Kind::kShareable;
  facts->is_imported = kind == Kind::kImported;
  facts->limit = limit;
  any_.store(true, std::memory_order_relaxed);
  auto handle = handles_.create(device, std::move(facts));
  return handle ? handle->raw() : 0;
}

hipError_t Pools::destroy(std::uint64_t pool) {
  auto facts = find(pool);
  if (facts == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  if (handles_.is_permanent(pool)) return hipErrorInvalidValue;  // a default pool
  if (!handles_.remove(pool)) return hipErrorInvalidValue;
  std::uint64_t& current = current_[static_cast<std::size_t>(facts->device)];
  if (current == pool) current = 0;
  return hipSuccess;
}

std::shared_ptr<PoolFacts> Pools::find(std::uint64_t pool) const {
  return std::dynamic_pointer_cast<PoolFacts>(handles_.facts(pool));
}

std::shared_ptr<PoolFacts> Pools::enter(std::uint64_t pool, int device) {
  const MutexLock lock(mutex_);
  if (auto known = find(pool)) return known;  // another thread was first
  auto facts = std::make_shared<PoolFacts>();
  facts->device = device;
  any_.store(true, std::memory_order_relaxed);
  return handles_.set_facts(pool, facts) ? facts : nullptr;
}

std::uint64_t Pools::current(int device) const {
  const MutexLock lock(mutex_);
  return current_[static_cast<std::size_t>(device)];
}

void Pools::set_current(int device, std::uint64_t pool) {
  const MutexLock lock(mutex_);
  current_[static_cast<std::size_t>(device)] = pool;
}

hipError_t Pools::set_attribute(PoolFacts& pool, hipMemPoolAttr attribute, const void* value) {
  const MutexLock lock(mutex_);
  std::uint64_t wide = 0;
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      std::memcpy(&pool.reuse_rules[rule_index(attribute)], value, sizeof(int));
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold:
      std::memcpy(&pool.threshold, value, sizeof pool.threshold);
      return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      std::memcpy(&wide, value, sizeof wide);
      if (wide != 0) return hipErrorInvalidValue;  // only a reset
      if (attribute == hipMemPoolAttrUsedMemHigh) pool.used_high = pool.used;
      if (attribute == hipMemPoolAttrReservedMemHigh) pool.reserved_high = pool.reserved;
      return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}

hipError_t Pools::get_attribute(const PoolFacts& pool, hipMemPoolAttr attribute, void* value) const {
  const MutexLock lock(mutex_);
  const auto answer = [value](std::uint64_t number) {
    std::memcpy(value, &number, sizeof number);
    return hipSuccess;
  };
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      std::memcpy(value, &pool.reuse_rules[rule_index(attribute)], sizeof(int));
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold: return answer(pool.threshold);
    case hipMemPoolAttrReservedMemCurrent: return answer(pool.reserved);
    case hipMemPoolAttrReservedMemHigh: return answer(pool.reserved_high);
    case hipMemPoolAttrUsedMemCurrent: return answer(pool.used);
    case hipMemPoolAttrUsedMemHigh: return answer(pool.used_high);
    default: return hipErrorInvalidValue;
  }
}

void Pools::trim_locked(PoolFacts& pool, std::uint64_t keep_bytes) {
  for (auto block = pool.free.begin(); block != pool.free.end() && pool.reserved > keep_bytes;) {
    if (!block->second.is_reached) {
      ++block;
      continue;
    }
    pool.reserved -= block->first;
    block = pool.free.erase(block);
  }
}

void Pools::trim(PoolFacts& pool, std::uint64_t keep_bytes) {
  const MutexLock lock(mutex_);
  trim_locked(pool, keep_bytes);
}

std::vector<PoolOrder> Pools::pending(const PoolFacts& pool) const {
  const MutexLock lock(mutex_);
  std::vector<PoolOrder> streams;
  for (const auto& [bytes, block] : pool.free)
    if (!block.is_reached && std::find(streams.begin(), streams.end(), block.freed) == streams.end())
      streams.push_back(block.freed);
  return streams;
}

void Pools::reached(PoolFacts& pool, const PoolOrder& stream) {
  const MutexLock lock(mutex_);
  for (auto& [bytes, block] : pool.free)
    if (block.freed == stream) block.is_reached = true;
}

bool Pools::book(PoolFacts& pool, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const std::uint64_t taken = pool.used + pool.booked;
  if (pool.limit != 0 && (taken > pool.limit || bytes > pool.limit - taken)) return false;
  pool.booked += bytes;
  return true;
}

void Pools::cancel(PoolFacts& pool, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  pool.booked -= bytes;
}

// A free block of the size is used again, if it is free for this stream.
void Pools::allocated(const std::shared_ptr<PoolFacts>& pool, std::uint64_t address, std::uint64_t bytes,
                      const PoolOrder& order) {
  const MutexLock lock(mutex_);
  blocks_.insert_or_assign(address, Block{pool, bytes});
  pool->booked -= bytes;
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  const auto [first, last] = pool->free.equal_range(block_bytes(bytes));
  const auto again = std::find_if(
      first, last, [&](const auto& block) { return block.second.is_reached || block.second.freed == order; });
  if (again != last) {
    pool->free.erase(again);
    return;
  }
  pool->reserved += block_bytes(bytes);
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
}

void Pools::freed(std::uint64_t address) { take_back(address, {{}, true}); }

void Pools::freed(std::uint64_t address, const PoolOrder& order) { take_back(address, {order, false}); }

void Pools::take_back(std::uint64_t address, const PoolFacts::FreeBlock& free) {
  const MutexLock lock(mutex_);
  auto found = blocks_.find(address);
  if (found == blocks_.end()) return;
  PoolFacts& pool = *found->second.pool;
  pool.used -= found->second.bytes;
  pool.free.emplace(block_bytes(found->second.bytes), free);
  blocks_.erase(found);
}

bool Pools::may_share(std::uint64_t address) const {
  const MutexLock lock(mutex_);
  const auto found = blocks_.find(address);
  return found != blocks_.end() && found->second.pool->is_shareable;
}

bool Pools::owns(std::uint64_t address) const {
  const MutexLock lock(mutex_);
  return blocks_.contains(address);
}

void Pools::synchronized(int device, const IsDone& is_done) {
  if (!any()) return;
  const MutexLock lock(mutex_);
  for (std::uint64_t pool : handles_.all()) {
    auto facts = std::dynamic_pointer_cast<PoolFacts>(handles_.facts(pool));
    if (facts == nullptr) continue;
    for (auto& [bytes, block] : facts->free) block.is_reached = block.is_reached || is_done(block.freed);
    if (facts->device == device) trim_locked(*facts, facts->threshold);
  }
}

}  // namespace tf::proxy
