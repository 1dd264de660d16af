// SPDX-License-Identifier: Apache-2.0
// DeviceHeap: the memory behind malloc() and free() in kernels. One heap belongs to one device.
//
// Sizes up to kSlotMaxBytes come in slots of a few sizes, of which each unit of memory has one; larger ones
// are runs of units. What is said about a unit lies outside the memory that is handed out. So a kernel that
// writes beyond its allocation, or frees what is not its own, harms other kernels' data only. The process's
// own heap is not used for it. Thread-safe; no call waits for a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/base/mutex.h"

namespace tf::cpu {

// What a heap takes its memory from. Any thread.
class HeapMemory {
 public:
  virtual ~HeapMemory() = default;
  // How much the kernels' allocations may have together (hipLimitMallocHeapSize).
  virtual std::size_t heap_limit_bytes() const = 0;
  // False: there is not enough left.
  virtual bool take_memory(std::size_t bytes) = 0;
  virtual void give_memory(std::size_t bytes) = 0;
};

class DeviceHeap {
 public:
  static constexpr std::size_t kUnitBytes = 64 << 10;
  static constexpr std::size_t kSlotMaxBytes = 16 << 10;
  static constexpr std::size_t kAlignmentBytes = 16;

  // `memory` outlives the heap. Never more than `reach_bytes`, whatever the limit is.
  DeviceHeap(HeapMemory& memory, std::size_t reach_bytes);
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // Aligned to kAlignmentBytes, with any content. Null: 0 bytes, more than the limit leaves, or no memory.
  void* allocate(std::size_t bytes);
  // Null is nothing to free. False: this is not the start of an allocation (any more).
  [[nodiscard]] bool free(void* pointer);
  // Frees everything. A kernel that still runs loses what it has: it reads zeros there, and cannot free it.
  void clear();

 private:
  // Sizes up to 128 bytes are 16 apart, then there are four for each doubling.
  static constexpr std::size_t kSizes = 36;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A unit that is cut into slots. Those with free slots form a list.
  struct Slots {
    std::uint32_t size_index = 0;
    std::uint32_t count = 0;
    std::uint32_t used = 0;
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
    std::vector<std::uint64_t> taken;  // bit n: slot n is an allocation
  };
  struct Unit {
    enum class Use : std::uint8_t { kFree, kSlots, kRunStart, kRunRest } use = Use::kFree;
    std::uint32_t length = 0;  // of a run, in units
    std::unique_ptr<Slots> slots;
  };

  static std::size_t size_index_of(std::size_t bytes);
  static std::size_t size_of(std::size_t index);
  bool within_limit(std::size_t bytes) const TF_REQUIRES(mutex_);
  std::byte* at(std::uint32_t unit) const TF_REQUIRES(mutex_) { return base_ + unit * kUnitBytes; }
  void* take_slot(std::size_t size_index) TF_REQUIRES(mutex_);
  void* take_run(std::size_t bytes) TF_REQUIRES(mutex_);
  bool free_slot(std::uint32_t unit, std::size_t offset) TF_REQUIRES(mutex_);
  // Free units in a row, as kRunStart and kRunRest; kNone: there is no memory for them.
  std::uint32_t take_units(std::uint32_t count) TF_REQUIRES(mutex_);
  std::uint32_t find_units(std::uint32_t count) TF_REQUIRES(mutex_);
  bool open_units(std::uint32_t end) TF_REQUIRES(mutex_);
  void give_units(std::uint32_t first, std::uint32_t count) TF_REQUIRES(mutex_);
  std::uint32_t make_slots(std::size_t size_index) TF_REQUIRES(mutex_);
  void enlist(std::uint32_t unit) TF_REQUIRES(mutex_);
  void delist(std::uint32_t unit) TF_REQUIRES(mutex_);

  HeapMemory& memory_;
  const std::uint32_t reach_units_;
  Mutex mutex_;
  std::byte* base_ TF_GUARDED_BY(mutex_) = nullptr;     // reach_units_ of addresses, reserved at first use
  std::size_t used_bytes_ TF_GUARDED_BY(mutex_) = 0;    // of allocations, as rounded up
  std::vector<Unit> units_ TF_GUARDED_BY(mutex_);       // those that may be read and written
  std::uint32_t first_free_ TF_GUARDED_BY(mutex_) = 0;  // no unit before it is free
  std::array<std::uint32_t, kSizes> listed_ TF_GUARDED_BY(mutex_);  // the first of each size's list
};

}  // namespace tf::cpu
