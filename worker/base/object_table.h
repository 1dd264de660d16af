// SPDX-License-Identifier: Apache-2.0
// ObjectTable: the session's objects of every kind, under the handles that the client chose.
//
// A handle is valid only if kind, slot and generation match what was bound. Slots are limited to
// protocol::kHandleSlotsMax; memory grows with the highest slot in use. Belongs to the executor thread.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "hipcore/wire/handle.h"

namespace tf::worker {

struct Object {
  void* object = nullptr;        // owned by the runtime, and destroyed through it
  std::int32_t device = 0;       // current when it was created
  std::uint64_t fills_seen = 0;  // of a stream: LateFills::precede()
};

class ObjectTable {
 public:
  // False if the handle is malformed or of another kind, or its slot is taken.
  bool bind(protocol::HandleKind kind, std::uint64_t raw, Object object);
  // Null if nothing is bound under exactly this handle. Valid until the next bind() or unbind().
  const Object* find(protocol::HandleKind kind, std::uint64_t raw) const;
  Object* find(protocol::HandleKind kind, std::uint64_t raw) {
    return const_cast<Object*>(std::as_const(*this).find(kind, raw));
  }
  bool unbind(protocol::HandleKind kind, std::uint64_t raw, Object& object);

  std::size_t count(protocol::HandleKind kind) const { return kinds_[index_of(kind)].used; }
  // Calls visit(raw handle, object) for every bound object of a kind.
  template <typename Visit>
  void for_each(protocol::HandleKind kind, Visit visit) const {
    const Kind& table = kinds_[index_of(kind)];
    for (std::uint32_t index = 0; index < table.slots.size(); ++index) {
      const Slot& slot = table.slots[index];
      if (slot.used) visit(protocol::Handle(kind, slot.generation, index).raw(), slot.object);
    }
  }

 private:
  struct Slot {
    Object object;
    std::uint32_t generation = 0;
    bool used = false;
  };
  struct Kind {
    std::vector<Slot> slots;
    std::size_t used = 0;
  };

  static std::size_t index_of(protocol::HandleKind kind) {
    return static_cast<std::size_t>(kind) % protocol::kHandleKinds;
  }

  std::array<Kind, protocol::kHandleKinds> kinds_;
};

}  // namespace tf::worker
