// SPDX-License-Identifier: Apache-2.0
// The client's side of protocol::Handle: which handles exist, and what the client knows about them.
//
// A slot's generation changes with every reuse, and a slot whose generations are used up is retired. So a
// destroyed handle is recognised, however long ago it was destroyed. Any thread. Asking whether a handle
// exists, and for its device, takes no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "hipcore/wire/handle.h"
#include "proxy/base/slot_table.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

// What the client knows about an object, kept with its handle. Immutable or thread-safe.
class Facts {
 public:
  virtual ~Facts() = default;
};

// Handles of one kind.
class HandleTable {
 public:
  // `generations`: how often a slot may be used (tests use fewer than a handle has room for).
  explicit HandleTable(protocol::HandleKind kind, std::uint32_t generations = protocol::kGenerationMask)
      : kind_(kind), generations_(generations) {}

  // Nothing if kHandleSlotsMax slots are in use or retired.
  std::optional<protocol::Handle> create(int device, std::shared_ptr<Facts> facts = nullptr);
  bool contains(std::uint64_t raw) const { return find(raw) != nullptr; }
  // The device that was current when the handle was created; -1 for unknown handles.
  int device(std::uint64_t raw) const {
    const Slot* slot = find(raw);
    return slot == nullptr ? -1 : slot->device.load(std::memory_order_relaxed);
  }
  // For objects whose device is known only after they were created.
  void set_device(std::uint64_t raw, int device);
  std::shared_ptr<Facts> facts(std::uint64_t raw) const;
  // The same without shared ownership: whoever retires the handle keeps them alive. Returns those given to
  // create(), whatever was set later.
  const Facts* borrow_facts(std::uint64_t raw) const {
    const Slot* slot = find(raw);
    return slot == nullptr ? nullptr : slot->first_facts.load(std::memory_order_relaxed);
  }
  // False: unknown handle.
  bool set_facts(std::uint64_t raw, std::shared_ptr<Facts> facts);
  // False: unknown handle. Afterwards it is unknown.
  bool remove(std::uint64_t raw);
  // remove() in two steps, for handles that the worker knows. After retire() the handle is unknown here; only
  // after recycle() is its slot used again. The message that destroys the object is queued in between.
  // Otherwise another thread's creation in the same slot could overtake it, and the worker would refuse that.
  bool retire(std::uint64_t raw);
  void recycle(std::uint64_t retired);
  // The object belongs to the runtime and the application only uses it: remove() refuses it from now on.
  void make_permanent(std::uint64_t raw);
  bool is_permanent(std::uint64_t raw) const;
  std::vector<std::uint64_t> all() const;

 private:
  struct Slot {
    // The handle in use, or 0.
    std::atomic<std::uint64_t> live{0};
    std::atomic<int> device{-1};  // relaxed: set before `live`, or published by other means
    std::atomic<const Facts*> first_facts{nullptr};  // likewise
    // Under the table's lock:
    std::uint32_t generation = 1;
    bool permanent = false;
    // Under its own lock, which is taken after the table's: launches read their function's facts.
    Mutex facts_mutex;
    std::shared_ptr<Facts> facts TF_GUARDED_BY(facts_mutex);
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
  mutable SharedMutex mutex_;
  SlotTable<Slot, protocol::kHandleSlotsMax> slots_;
  std::uint32_t slot_count_ TF_GUARDED_BY(mutex_) = 0;
  std::deque<std::uint32_t> free_ TF_GUARDED_BY(mutex_);  // oldest first, so that generations wear evenly
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
