// SPDX-License-Identifier: Apache-2.0
// Binds and finds the session's objects by handle.
#include "worker/base/object_table.h"

namespace tf::worker {

using protocol::Handle;
using protocol::HandleKind;

bool ObjectTable::bind(HandleKind kind, std::uint64_t raw, Object object) {
  const Handle handle(raw);
  if (handle.is_constant() || handle.kind() != kind || handle.index() >= protocol::kHandleSlotsMax)
    return false;
  Kind& table = kinds_[index_of(kind)];
  if (handle.index() >= table.slots.size()) table.slots.resize(std::size_t{handle.index()} + 1);
  Slot& slot = table.slots[handle.index()];
  if (slot.used) return false;
  slot = {object, handle.generation(), true};
  ++table.used;
  return true;
}

const Object* ObjectTable::find(HandleKind kind, std::uint64_t raw) const {
  const Handle handle(raw);
  if (handle.is_constant() || handle.kind() != kind) return nullptr;
  const Kind& table = kinds_[index_of(kind)];
  if (handle.index() >= table.slots.size()) return nullptr;
  const Slot& slot = table.slots[handle.index()];
  return slot.used && slot.generation == handle.generation() ? &slot.object : nullptr;
}

bool ObjectTable::unbind(HandleKind kind, std::uint64_t raw, Object& object) {
  const Object* found = find(kind, raw);
  if (found == nullptr) return false;
  object = *found;
  Kind& table = kinds_[index_of(kind)];
  table.slots[Handle(raw).index()].used = false;
  --table.used;
  return true;
}

}  // namespace tf::worker
