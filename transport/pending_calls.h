// SPDX-License-Identifier: Apache-2.0
// PendingCalls: the calls that wait for replies, found by request id without a lock.
//
// One slot per waiting call, at its id modulo the number of slots. The thread that numbers requests enters a
// call, the thread that reads replies completes it, and the caller may give it up at any moment. Whoever
// changes a slot's state away from the id owns the call's memory from then on, so a late reply never touches
// the stack of a caller that has left.
//   state 0: free. state id: waiting, `call` is valid (release on entering, acquire on completing).
//   state kBusy: being completed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include "transport/base/status.h"
#include "transport/frame.h"

namespace tf {

inline constexpr std::size_t kWaitersMax = 1024;  // threads waiting for replies at the same time

struct Reply {
  FrameHeader header;
  std::size_t bytes = 0;  // payload bytes copied into the caller's buffer
};

// A call in flight. Lives on the caller's stack from before its publish until it is done or given up.
struct PendingCall {
  std::uint16_t opcode = 0;
  std::uint32_t id = 0;
  std::span<std::byte> target;
  Reply reply;
  Status status;
  std::atomic<bool> is_done{false};

  bool done() const {
    return is_done.load(std::memory_order_acquire);
  }  // pairs with PendingCalls::complete()
};

class PendingCalls {
 public:
  // Enters `call` under `id` or the next id whose slot is free; both are ids from 1 on. False: kWaitersMax
  // calls are waiting already. One thread at a time.
  bool enter(PendingCall& call, std::uint32_t& id) {
    for (std::size_t tries = 0; tries < kWaitersMax; ++tries, id = after(id)) {
      Slot& slot = slots_[id % kWaitersMax];
      if (slot.state.load(std::memory_order_acquire) != 0) continue;  // pairs with complete() and give_up()
      call.id = id;
      slot.call = &call;
      slot.state.store(id, std::memory_order_release);  // pairs with complete()
      return true;
    }
    return false;
  }

  // Calls answer(call), then releases the caller. False: nobody waits under this id (any more). One thread at
  // a time.
  template <typename Answer>
  bool complete(std::uint32_t id, Answer answer) {
    Slot& slot = slots_[id % kWaitersMax];
    std::uint64_t expected = id;
    if (id == 0 || !slot.state.compare_exchange_strong(expected, kBusy, std::memory_order_acquire))
      return false;
    PendingCall& call = *slot.call;
    answer(call);
    slot.state.store(0, std::memory_order_release);       // pairs with enter()
    call.is_done.store(true, std::memory_order_release);  // pairs with done(); the caller may be gone now
    return true;
  }

  // The caller leaves without an answer. False: the answer came after all, and the call is done.
  bool give_up(PendingCall& call) {
    std::uint64_t expected = call.id;
    Slot& slot = slots_[call.id % kWaitersMax];
    given_up_.fetch_add(1, std::memory_order_relaxed);  // before the slot is free: pairs with forgive_late()
    if (!call.done() && slot.state.compare_exchange_strong(expected, 0, std::memory_order_acq_rel))
      return true;
    given_up_.fetch_sub(1, std::memory_order_relaxed);
    while (!call.done()) std::this_thread::yield();  // it is being copied
    return false;
  }

  // An answer that nobody waits for may belong to a call that was given up; each such call excuses one
  // answer. False: no such call is left, so nobody asked for this answer. Call it when complete() returned
  // false; one thread at a time.
  bool forgive_late() {
    if (given_up_.load(std::memory_order_relaxed) == 0) return false;
    given_up_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  static std::uint32_t after(std::uint32_t id) { return id == UINT32_MAX ? 1 : id + 1; }

 private:
  static constexpr std::uint64_t kBusy = ~std::uint64_t{0};
  struct Slot {
    std::atomic<std::uint64_t> state{0};
    PendingCall* call = nullptr;
  };
  std::array<Slot, kWaitersMax> slots_;
  std::atomic<std::uint64_t> given_up_{0};  // given up, answer still to come
};

}  // namespace tf
