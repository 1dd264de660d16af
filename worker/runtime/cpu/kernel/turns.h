// SPDX-License-Identifier: Apache-2.0
// Turns: how threads that run kernels share the host's processors with those of other sessions. Clients of
// one worker are processes of their own; the system's scheduler alone would let a small kernel wait for a
// slice of every other session's threads.
//
// There are as many seats as processors. While several sessions run kernels, a thread runs blocks on a seat.
// Who has had the least time, by weight, comes first: before each block a thread leaves its seat to one that
// waits and has had less by kSlice. One that has had less than who has a seat by kHeadStart, as who comes
// with a small kernel, is a guest: it runs without a seat for at most kVisit, and the system's
// scheduler divides the processor. (If it took the seat, the other would run without one to the end of its
// block, and the next one that waits would run beside it.) So a session that wants little waits for nobody's
// queue, and those that fill theirs get equal parts. A session that is alone needs no seats.
//
// The page belongs to all sessions, and any of them can write nonsense there (turn_page.h). So no wait is
// longer than kWaitMost, and after kPatience such waits a session takes no turns any more.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "worker/runtime/common/turn_page.h"
#include "worker/runtime/cpu/kernel/breaks.h"

namespace tf::cpu {

class Turns {
 public:
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC: one for all processes

  static constexpr std::chrono::microseconds kSlice{1000};
  static constexpr std::chrono::microseconds kHeadStart{10000};
  // What one that comes back is ahead of the others, or behind, at most: time without work is not saved.
  static constexpr std::chrono::microseconds kCredit{13000};
  // How long one is a guest until it rests. Without an end both would run beside each other for ever.
  static constexpr std::chrono::microseconds kVisit{3000};
  static constexpr std::chrono::milliseconds kLinger{5};  // see come()
  static constexpr std::chrono::milliseconds kLease{50};  // a seat that was not kept for so long is free
  static constexpr std::chrono::milliseconds kWaitMost{1000};
  static constexpr unsigned kPatience = 4;

  // `page` outlives this. REQUIRES: slot < kTurnSlots, and no other session's.
  Turns(runtime::TurnPage& page, std::uint32_t slot, std::uint32_t weight);
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // The process's own; null: it shares its processors with nobody that it knows of. Acquire, pairs with
  // share_processors().
  static Turns* of_process() { return of_process_.load(std::memory_order_acquire); }
  static void share_processors(Turns& turns) { of_process_.store(&turns, std::memory_order_release); }

  // As many threads as this can run blocks at a time; 1 to kSeatsMax.
  std::uint32_t seats() const;

  // A grid has work for so many threads of this session.
  void want(std::uint32_t threads);

  // Whether threads of other sessions that run kernels fill the processors: whoever else waits should sleep.
  bool crowded() const { return page_.others_fill(slot_); }

  // Whether there is anybody to share with.
  bool contended() const {
    return page_.running.has_others_than(slot_) && overtimes_.load(std::memory_order_relaxed) < kPatience;
  }

 private:
  friend class Seat;
  // A seat, and what somebody has put there.
  struct Place {
    std::uint32_t index;
    std::uint64_t word;
  };
  struct Look;
  // What a thread may run by; neither: it waited too long.
  struct Leave {
    std::optional<Place> place;
    bool guest = false;
  };

  void come();
  void go();
  void catch_up();
  void use(std::uint64_t time_ns);
  std::uint64_t now() const;
  std::uint64_t word(std::uint64_t now_ns) const;
  Look look(std::uint64_t now_ns) const;
  Leave take(bool as_guest, std::uint64_t& wait_ns) const;
  Leave wait_for_leave(bool as_guest);
  bool put(const Place& ours, std::uint64_t word) const;
  void leave(const Place& ours) const;
  bool gives_way() const;
  void ring_the_next() const;
  runtime::TurnPage::Slot& own() const { return page_.slots[slot_]; }

  static std::atomic<Turns*> of_process_;

  runtime::TurnPage& page_;
  const std::uint32_t slot_;
  const std::uint32_t weight_;
  std::atomic<std::uint64_t> used_ns_{0};    // what we have told the page, which others could change
  std::atomic<std::uint32_t> threads_{0};    // with a Seat that has begun
  std::atomic<std::uint64_t> gone_ns_{0};    // when there was the last one
  std::atomic<std::uint32_t> waiting_{0};    // of these
  std::atomic<std::uint32_t> overtimes_{0};  // waits in a row that were too long; relaxed, a count
};

// One thread's part in it. Belongs to that thread.
class Seat {
 public:
  Seat() = default;
  ~Seat() { end(); }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // The thread comes to a grid of so many blocks.
  void come_to(std::uint64_t blocks) { breaks_.come_to(blocks); }
  // Before the first block of a grid, and before each further one: waits until it is the thread's turn.
  void keep() {
    Turns* const turns = Turns::of_process();
    if (turns != nullptr) [[unlikely]]
      keep(*turns);
  }
  void keep(Turns& turns);
  // The thread runs no blocks for now.
  void end() {
    if (turns_ != nullptr) leave();
  }

 private:
  void take_break();
  void contend();
  bool keep_place(std::uint64_t now_ns);
  void give_leave();
  void leave();

  Turns* turns_ = nullptr;  // null: it has not begun
  std::optional<Turns::Place> place_;
  bool guest_ = false;          // it runs without a place, and its use counts
  std::uint64_t visit_ns_ = 0;  // it has been a guest for so long since it rested
  std::uint64_t since_ns_ = 0;  // its use is not counted yet
  Breaks breaks_;
};

}  // namespace tf::cpu
