// SPDX-License-Identifier: Apache-2.0
// SlotTable: a table that grows and never moves its slots, so they can be read without a lock.
//
// Slots are allocated in chunks that live as long as the table. find() from any thread; grow() from one
// thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace tf::proxy {

template <typename Slot, std::size_t kSlotsMax>
class SlotTable {
 public:
  SlotTable() = default;
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable() {
    for (const auto& chunk : chunks_)
      std::unique_ptr<Chunk>(chunk.load(std::memory_order_relaxed));  // no reader is left
  }

  // Null if the table never grew to this slot.
  Slot* find(std::size_t index) const {
    if (index >= kSlotsMax) return nullptr;
    Chunk* const chunk = chunks_[index / kChunkSlots].load(std::memory_order_acquire);  // pairs with grow()
    return chunk == nullptr ? nullptr : &(*chunk)[index % kChunkSlots];
  }
  // REQUIRES: index < kSlotsMax
  Slot& grow(std::size_t index) {
    std::atomic<Chunk*>& place = chunks_[index / kChunkSlots];
    Chunk* chunk = place.load(std::memory_order_relaxed);  // growing threads see each other's stores
    if (chunk == nullptr) {
      chunk = std::make_unique<Chunk>().release();
      place.store(chunk, std::memory_order_release);  // pairs with find()
    }
    return (*chunk)[index % kChunkSlots];
  }

 private:
  static constexpr std::size_t kChunkSlots = 1024;
  using Chunk = std::array<Slot, kChunkSlots>;
  std::array<std::atomic<Chunk*>, (kSlotsMax + kChunkSlots - 1) / kChunkSlots> chunks_{};
};

}  // namespace tf::proxy
