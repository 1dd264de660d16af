// SPDX-License-Identifier: Apache-2.0
// The settings and accounts of memory pools.
#include "proxy/memory/pools.h"

#include <algorithm>
#include <cstring>

#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

std::size_t rule_index(hipMemPoolAttr attribute) {
  return static_cast<std::size_t>(attribute - hipMemPoolReuseFollowEventDependencies);
}

}  // namespace

std::uint64_t Pools::create(int device, Kind kind) {
  auto facts = std::make_shared<PoolFacts>();
  facts->device = device;
  facts->is_shareable = kind == Kind::kShareable;
  facts->is_imported = kind == Kind::kImported;
  any_.store(true, std::memory_order_relaxed);
  auto handle = handles_.create(device, std::move(facts));
  return handle ? handle->raw() : 0;
}

hipError_t Pools::destroy(std::uint64_t pool) {
  auto facts = find(pool);
  if (facts == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  if (facts->used != 0) return hipErrorIllegalState;
  if (!handles_.remove(pool)) return hipErrorInvalidValue;  // a default pool stays
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
  if (pool.reserved > keep_bytes) pool.reserved = std::max(pool.used, keep_bytes);
}

void Pools::trim(PoolFacts& pool, std::uint64_t keep_bytes) {
  const MutexLock lock(mutex_);
  trim_locked(pool, keep_bytes);
}

void Pools::allocated(const std::shared_ptr<PoolFacts>& pool, std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t rounded = (bytes + kPoolBlockBytes - 1) / kPoolBlockBytes * kPoolBlockBytes;
  const MutexLock lock(mutex_);
  blocks_.insert_or_assign(address, Block{pool, rounded});
  pool->used += rounded;
  pool->used_high = std::max(pool->used_high, pool->used);
  pool->reserved = std::max(pool->reserved, pool->used);
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
}

void Pools::freed(std::uint64_t address) {
  const MutexLock lock(mutex_);
  auto found = blocks_.find(address);
  if (found == blocks_.end()) return;
  found->second.pool->used -= found->second.bytes;
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

void Pools::synchronized(int device) {
  if (!any_.load(std::memory_order_relaxed)) return;
  const MutexLock lock(mutex_);
  for (std::uint64_t pool : handles_.all()) {
    auto facts = std::dynamic_pointer_cast<PoolFacts>(handles_.facts(pool));
    if (facts != nullptr && facts->device == device) trim_locked(*facts, facts->threshold);
  }
}

}  // namespace tf::proxy
