// SPDX-License-Identifier: Apache-2.0
// The client's side of protocol::Handle: which handles exist, and what the client knows about them.
//
// A slot's generation changes with every reuse and a slot whose generations are used up is retired, so a
// handle that was destroyed is recognised however long ago. Any thread; asking whether a handle exists, and
// of which device it is, takes no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "hipcore/wire/handle.h"
#include "proxy/base/slot_table.h"

namespace tf::proxy {

// Facts about an object that the client keeps beside its handle. Immutable or guarded by itself.
class Facts {
 public:
  virtual ~Facts() = default;
};

// Handles of one kind.
class HandleTable {
 public:
  // `generations`: how often a slot is used (tests use fewer than the handle has room for).
  explicit HandleTable(protocol::HandleKind kind, std::uint32_t generations = protocol::kGenerationMask)
      : kind_(kind), generations_(generations) {}

  // Nothing when kHandleSlotsMax slots are in use or retired.
  std::optional<protocol::Handle> create(int device, std::shared_ptr<Facts> facts = nullptr);
  bool contains(std::uint64_t raw) const { return find(raw) != nullptr; }
  // The device that was current when the handle was made; -1 for unknown handles.
  int device(std::uint64_t raw) const {
    const Slot* slot = find(raw);
    return slot == nullptr ? -1 : slot->device.load(std::memory_order_relaxed);
  }
  // For objects whose device is known only once they are made.
  void set_device(std::uint64_t raw, int device);
  std::shared_ptr<Facts> facts(std::uint64_t raw) const;
  // The same without taking part in owning them: theirs to keep alive who retires the handle. Those given to
  // create(), whatever was set later.
  const Facts* borrow_facts(std::uint64_t raw) const {
    const Slot* slot = find(raw);
    return slot == nullptr ? nullptr : slot->first_facts.load(std::memory_order_relaxed);
  }
  // False: unknown handle.
  bool set_facts(std::uint64_t raw, std::shared_ptr<Facts> facts);
  // False: unknown handle. Afterwards it is.
  bool remove(std::uint64_t raw);
  // remove() in two steps, for handles that the worker knows: from retire() on the handle is unknown here,
  // and only after recycle() its slot is used again. In between the message that destroys the object is
  // queued; otherwise another thread's creation in the same slot could overtake it, and the worker would
  // refuse it.
  bool retire(std::uint64_t raw);
  void recycle(std::uint64_t retired);
  // The object belongs to the runtime, the application only looks at it: remove() refuses it from now on.
  void make_permanent(std::uint64_t raw);
  bool is_permanent(std::uint64_t raw) const;
  std::vector<std::uint64_t> all() const;

 private:
  struct Slot {
    // The handle in use, or 0.
    std::atomic<std::uint64_t> live{0};
    std::atomic<int> device{-1};  // relaxed: set before `live`, or by who tells of it otherwise
    std::atomic<const Facts*> first_facts{nullptr};  // likewise
    // Under the table's lock:
    std::uint32_t generation = 1;
    bool permanent = false;
    // Under a lock of its own, which is taken after the table's: launches look at their function's.
    std::mutex facts_mutex;
    std::shared_ptr<Facts> facts;
  };
  Slot* find(std::uint64_t raw) const {
    const protocol::Handle handle(raw);
    if (raw == 0 || handle.kind() != kind_) return nullptr;
    Slot* slot = slots_.find(handle.index());
    // Acquire pairs with create().
    return slot != nullptr && slot->live.load(std::memory_order_acquire) == raw ? slot : nullptr;
  }

  protocol::HandleKind kind_;
  std::uint32_t generations_;
  mutable std::shared_mutex mutex_;
  SlotTable<Slot, protocol::kHandleSlotsMax> slots_;
  std::uint32_t slot_count_ = 0;
  std::deque<std::uint32_t> free_;  // oldest first, so that generations wear evenly
};

class Handles {
 public:
  Handles();
  HandleTable& of(protocol::HandleKind kind) {
    return *tables_[static_cast<std::size_t>(kind) % protocol::kHandleKinds];
  }

 private:
  std::array<std::unique_ptr<HandleTable>, protocol::kHandleKinds> tables_;
};

// Handle <-> the pointer the application holds.
inline void* to_pointer(protocol::Handle handle) { return reinterpret_cast<void*>(handle.raw()); }
inline std::uint64_t to_raw(const void* value) { return reinterpret_cast<std::uint64_t>(value); }

}  // namespace tf::proxy
