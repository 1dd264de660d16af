// SPDX-License-Identifier: Apache-2.0
// PendingWork: whether anything that this process has started may still be running, known without asking.
//
// One word says which stream has work that nobody has seen finished: none, one, or several. Whoever posts work
// marks its stream afterwards, before its call returns; whoever waits for a stream puts a proof of his own in
// the word's place beforehand and, having waited, turns it into "none". Posts in between spoil the proof, since
// they find something else in the word than their mark. So the word may say too much, never too little: work
// whose call had returned before the wait ended was either waited for or has left a mark.
//
// Posting to the same stream again costs a load and a comparison. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "protocol/gen/messages.h"

namespace tf::proxy {

// What a posted request leaves behind.
enum class Leaves : std::uint8_t {
  kWork,     // on its stream
  kNothing,  // but perhaps word of its failure
  kSilence,
};
struct Trace {
  Leaves leaves = Leaves::kNothing;
  std::uint64_t stream = 0;
};

// The fills without a stream: the null stream does them, behind the call.
template <typename Request>
inline constexpr bool kFillsOnNullStream =
    std::is_same_v<Request, protocol::MemsetRequest> || std::is_same_v<Request, protocol::MemsetD8Request> ||
    std::is_same_v<Request, protocol::MemsetD16Request> ||
    std::is_same_v<Request, protocol::MemsetD32Request> ||
    std::is_same_v<Request, protocol::Memset2DRequest> || std::is_same_v<Request, protocol::Memset3DRequest>;

template <typename Request>
Trace trace_of(const Request& request) {
  if constexpr (requires { request.stream; })
    return {Leaves::kWork, request.stream};
  else if constexpr (kFillsOnNullStream<Request>)
    return {Leaves::kWork, 0};
  else if constexpr (std::is_same_v<Request, protocol::CallbackDoneRequest>)
    return {Leaves::kSilence, 0};
  else
    return {};
}

class PendingWork {
 public:
  // What the word says of one stream; of the null streams every device has its own.
  static constexpr std::uint64_t mark_of(int device, std::uint64_t stream) {
    return stream > 2 ? stream : kNullStream | static_cast<std::uint32_t>(device);
  }

  // A call has posted a request, of which `trace` says what it leaves.
  void note(int device, const Trace& trace) {
    if (trace.leaves == Leaves::kWork)
      started(mark_of(device, trace.stream));
    else if (trace.leaves == Leaves::kNothing)
      posted();
  }
  // A call has posted work to the stream of this mark.
  void started(std::uint64_t mark) {
    const std::uint64_t now = word_.load(std::memory_order_relaxed);
    if (now != mark) change(now, mark);
  }
  // A call has posted something that leaves no work behind, and may yet fail.
  void posted() {
    if (!unheard_.load(std::memory_order_relaxed)) unheard_.store(true, std::memory_order_release);
  }

  // No work is left. Acquire: what the wait has shown to its thread is shown to this one (pairs with end()).
  bool idle() const { return word_.load(std::memory_order_acquire) == kNone; }
  // Besides, there is nothing that could still be heard to have failed.
  bool quiet() const { return idle() && !unheard_.load(std::memory_order_acquire); }

  struct Proof {
    std::uint64_t ticket = 0;  // 0: this wait proves nothing
    std::uint64_t before = 0;
  };
  // Before waiting for the stream of this mark. `all`: it stands for every other stream too.
  Proof begin(std::uint64_t mark, bool all);
  // After the wait. `waited`: it ended because the work had.
  void end(const Proof& proof, bool waited);

 private:
  static constexpr std::uint64_t kNone = 0;
  static constexpr std::uint64_t kSeveral = ~std::uint64_t{0};
  static constexpr std::uint64_t kProof = std::uint64_t{1} << 63;       // | a number; handles have less
  static constexpr std::uint64_t kNullStream = std::uint64_t{1} << 62;  // | device

  void change(std::uint64_t now, std::uint64_t mark);

  std::atomic<std::uint64_t> word_{kNone};
  std::atomic<std::uint64_t> proofs_{0};
  std::atomic<bool> unheard_{false};
};

}  // namespace tf::proxy
