// SPDX-License-Identifier: Apache-2.0
#include "proxy/handles.h"

#include <mutex>

namespace tf::proxy {

using protocol::Handle;
using protocol::HandleKind;

const HandleTable::Slot* HandleTable::find(std::uint64_t raw) const {
  Handle handle(raw);
  if (handle.kind() != kind_ || handle.index() >= slots_.size()) return nullptr;
  const Slot& slot = slots_[handle.index()];
  return slot.used && slot.generation == handle.generation() ? &slot : nullptr;
}

std::optional<Handle> HandleTable::create(int device, std::shared_ptr<Facts> facts) {
  std::unique_lock lock(mutex_);
  std::uint32_t index = 0;
  if (!free_.empty()) {
    index = free_.front();
    free_.pop_front();
  } else {
    if (slots_.size() >= protocol::kHandleSlotsMax) return std::nullopt;
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  Slot& slot = slots_[index];
  slot.used = true;
  slot.device = device;
  slot.facts = std::move(facts);
  return Handle(kind_, slot.generation, index);
}

bool HandleTable::contains(std::uint64_t raw) const {
  std::shared_lock lock(mutex_);
  return find(raw) != nullptr;
}

int HandleTable::device(std::uint64_t raw) const {
  std::shared_lock lock(mutex_);
  const Slot* slot = find(raw);
  return slot == nullptr ? -1 : slot->device;
}

std::shared_ptr<Facts> HandleTable::facts(std::uint64_t raw) const {
  std::shared_lock lock(mutex_);
  const Slot* slot = find(raw);
  return slot == nullptr ? nullptr : slot->facts;
}

void HandleTable::set_device(std::uint64_t raw, int device) {
  std::unique_lock lock(mutex_);
  if (find(raw) != nullptr) slots_[Handle(raw).index()].device = device;
}

bool HandleTable::set_facts(std::uint64_t raw, std::shared_ptr<Facts> facts) {
  std::unique_lock lock(mutex_);
  const Slot* slot = find(raw);
  if (slot == nullptr) return false;
  slots_[Handle(raw).index()].facts = std::move(facts);
  return true;
}

bool HandleTable::remove(std::uint64_t raw) {
  if (!retire(raw)) return false;
  recycle(raw);
  return true;
}

bool HandleTable::retire(std::uint64_t raw) {
  std::shared_ptr<Facts> dying;  // destroyed after the lock: facts may own other handles
  std::unique_lock lock(mutex_);
  const Slot* found = find(raw);
  if (found == nullptr || found->permanent) return false;
  std::uint32_t index = Handle(raw).index();
  Slot& slot = slots_[index];
  dying = std::move(slot.facts);
  slot.used = false;
  return true;
}

void HandleTable::recycle(std::uint64_t retired) {
  std::unique_lock lock(mutex_);
  std::uint32_t index = Handle(retired).index();
  Slot& slot = slots_[index];
  if (slot.generation >= generations_) return;  // used up: its next handle would look like an old one
  ++slot.generation;
  free_.push_back(index);
}

void HandleTable::make_permanent(std::uint64_t raw) {
  std::unique_lock lock(mutex_);
  if (find(raw) != nullptr) slots_[Handle(raw).index()].permanent = true;
}

bool HandleTable::is_permanent(std::uint64_t raw) const {
  std::shared_lock lock(mutex_);
  const Slot* slot = find(raw);
  return slot != nullptr && slot->permanent;
}

std::vector<std::uint64_t> HandleTable::all() const {
  std::shared_lock lock(mutex_);
  std::vector<std::uint64_t> handles;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].used) handles.push_back(Handle(kind_, slots_[i].generation, i).raw());
  }
  return handles;
}

Handles::Handles() {
  for (unsigned kind = 0; kind < protocol::kHandleKinds; ++kind)
    tables_.push_back(std::make_unique<HandleTable>(static_cast<HandleKind>(kind)));
}

}  // namespace tf::proxy
