// SPDX-License-Identifier: Apache-2.0
// Creates, retires and recycles handles.
#include "proxy/base/handles.h"

#include "transport/base/mutex.h"

namespace tf::proxy {

using protocol::Handle;
using protocol::HandleKind;

std::optional<Handle> HandleTable::create(int device, std::shared_ptr<Facts> facts) {
  const MutexLock lock(mutex_);
  std::uint32_t index = 0;
  if (!free_.empty()) {
    index = free_.front();
    free_.pop_front();
  } else {
    if (slot_count_ >= protocol::kHandleSlotsMax) return std::nullopt;
    index = slot_count_++;
  }
  Slot& slot = slots_.grow(index);
  slot.device.store(device, std::memory_order_relaxed);
  const Handle handle(kind_, slot.generation, index);
  const MutexLock facts_lock(slot.facts_mutex);
  slot.first_facts.store(facts.get(), std::memory_order_relaxed);
  slot.facts = std::move(facts);
  slot.live.store(handle.raw(), std::memory_order_release);  // pairs with find()
  return handle;
}

std::shared_ptr<Facts> HandleTable::facts(std::uint64_t raw) const {
  Slot* slot = find(raw);
  if (slot == nullptr) return nullptr;
  const MutexLock lock(slot->facts_mutex);
  // Looked up again under the lock: by now the slot, and its facts, may belong to another handle.
  return slot->live.load(std::memory_order_relaxed) == raw ? slot->facts : nullptr;
}

void HandleTable::set_device(std::uint64_t raw, int device) {
  const MutexLock lock(mutex_);
  if (Slot* slot = find(raw)) slot->device.store(device, std::memory_order_relaxed);
}

bool HandleTable::set_facts(std::uint64_t raw, std::shared_ptr<Facts> facts) {
  const MutexLock lock(mutex_);
  Slot* slot = find(raw);
  if (slot == nullptr) return false;
  const MutexLock facts_lock(slot->facts_mutex);
  slot->facts.swap(facts);  // the old ones are freed after the locks
  return true;
}

bool HandleTable::remove(std::uint64_t raw) {
  if (!retire(raw)) return false;
  recycle(raw);
  return true;
}

bool HandleTable::retire(std::uint64_t raw) {
  std::shared_ptr<Facts> dying;  // destroyed after the lock: facts may own other handles
  const MutexLock lock(mutex_);
  Slot* slot = find(raw);
  if (slot == nullptr || slot->permanent) return false;
  const MutexLock facts_lock(slot->facts_mutex);
  dying = std::move(slot->facts);
  slot->live.store(0, std::memory_order_relaxed);  // nothing is read because of it
  return true;
}

void HandleTable::recycle(std::uint64_t retired) {
  const MutexLock lock(mutex_);
  std::uint32_t index = Handle(retired).index();
  Slot& slot = slots_.grow(index);
  if (slot.generation >= generations_) return;  // used up: its next handle would equal an old one
  ++slot.generation;
  free_.push_back(index);
}

void HandleTable::make_permanent(std::uint64_t raw) {
  const MutexLock lock(mutex_);
  if (Slot* slot = find(raw)) slot->permanent = true;
}

bool HandleTable::is_permanent(std::uint64_t raw) const {
  const SharedLock lock(mutex_);
  const Slot* slot = find(raw);
  return slot != nullptr && slot->permanent;
}

std::vector<std::uint64_t> HandleTable::all() const {
  const SharedLock lock(mutex_);
  std::vector<std::uint64_t> handles;
  for (std::uint32_t i = 0; i < slot_count_; ++i) {
    const std::uint64_t live = slots_.find(i)->live.load(std::memory_order_relaxed);  // under the lock
    if (live != 0) handles.push_back(live);
  }
  return handles;
}

Handles::Handles() {
  for (unsigned kind = 0; kind < protocol::kHandleKinds; ++kind)
    tables_[kind] = std::make_unique<HandleTable>(static_cast<HandleKind>(kind));
}

}  // namespace tf::proxy
