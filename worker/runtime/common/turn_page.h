// SPDX-License-Identifier: Apache-2.0
// TurnPage: memory by which the session processes of one worker share the host's processors, where these are
// the device. The supervisor makes it, gives each process a slot and clears the slot when the process is gone
// (worker/supervisor/turn_table.h); the CPU runtime takes turns by it (worker/runtime/cpu/kernel/turns.h).
//
// Every process can write all of it, and one may run a hostile program. So nobody relies on what it says:
// numbers are hints, each wait for a turn has a limit, and the worst that false ones do is that threads run
// beside each other as the system's scheduler lets them, and that threads that wait sleep sooner.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tf::runtime {

inline constexpr std::uint32_t kTurnSlots = 4096;  // session processes at a time
inline constexpr std::uint32_t kSeatsMax = 256;    // processors that are shared by turns

// A set of slots. Each operation can be repeated, and one that a dying process leaves half done is mended by
// the next on the same slots; a count would stay wrong for ever. Any thread of any process.
class SlotSet {
 public:
  // REQUIRES for these: slot < kTurnSlots.
  void insert(std::uint32_t slot) {
    words_[slot / kBits].fetch_or(bit(slot % kBits));
    used_.fetch_or(bit(slot / kBits));
  }
  void erase(std::uint32_t slot) {
    const std::uint32_t word = slot / kBits;
    if ((words_[word].fetch_and(~bit(slot % kBits)) & ~bit(slot % kBits)) != 0) return;
    used_.fetch_and(~bit(word));
    if (words_[word].load() != 0) used_.fetch_or(bit(word));  // another one came in between
  }
  // relaxed: a thread that looks too early looks again before its next block.
  bool has_others_than(std::uint32_t slot) const {
    const std::uint64_t used = used_.load(std::memory_order_relaxed);
    if ((used & ~bit(slot / kBits)) != 0) return true;
    return (words_[slot / kBits].load(std::memory_order_relaxed) & ~bit(slot % kBits)) != 0;
  }
  // Calls visit(slot) for each.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t used = used_.load(); used != 0; used &= used - 1) {
      const auto word = static_cast<std::uint32_t>(std::countr_zero(used));
      for (std::uint64_t slots = words_[word].load(); slots != 0; slots &= slots - 1)
        visit(word * kBits + static_cast<std::uint32_t>(std::countr_zero(slots)));
    }
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  static_assert(kTurnSlots == kBits * kBits, "one word tells which words are in use");
  static std::uint64_t bit(std::uint32_t index) { return std::uint64_t{1} << index; }

  alignas(64) std::atomic<std::uint64_t> used_;  // words that are not zero; a word more does no harm
  std::array<std::atomic<std::uint64_t>, kBits> words_;
};

// All zero is a page without sessions. No process ever shortens it (worker/supervisor/turn_table.h seals it).
struct TurnPage {
  // What a session tells the others.
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> used_ns;  // time that it had seats, divided by its weight
    std::atomic<std::uint32_t> weight;   // 1 to kTurnWeightMax
    std::atomic<std::uint32_t> bell;     // a futex: counts up when a seat may be free for it
    std::atomic<std::uint32_t> threads;  // that run kernels or want to; counts while it is in `running`
  };

  // Whether threads of sessions other than that of `slot` fill the processors with kernels.
  bool others_fill(std::uint32_t slot) const {
    if (!running.has_others_than(slot)) return false;
    std::uint64_t threads = 0;
    running.for_each([&](std::uint32_t other) {
      if (other != slot) threads += slots[other].threads.load(std::memory_order_relaxed);
    });
    return threads >= seats.load(std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t> seats;  // how many; at most kSeatsMax
  SlotSet running;                   // sessions with threads that run kernels, or want to
  SlotSet waiting;                   // sessions with threads that wait for a seat
  // Who has the seat and since when, see turns.h; 0: nobody.
  alignas(64) std::array<std::atomic<std::uint64_t>, kSeatsMax> seat;
  std::array<Slot, kTurnSlots> slots;
};
inline constexpr std::uint32_t kTurnWeightMax = 100;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share them");

}  // namespace tf::runtime
