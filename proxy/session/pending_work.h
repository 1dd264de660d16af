// SPDX-License-Identifier: Apache-2.0
// PendingWork: whether anything that this process started may still be running, known without asking the
// worker.
//
// A few words, each for the streams whose handles end alike, say which of these streams has work that nobody
// has seen finished: none, one, or several. A thread that posts work marks its stream afterwards, before its
// call returns. A thread that waits for a stream first puts its own proof in place of the word, and after the
// wait turns the proof into "none". A post in between destroys the proof, since it finds something other than
// its mark in the word. So a word may claim too much work, never too little: work whose call returned before
// the wait ended was either waited for, or has left a mark. With more streams than words some share one, and
// only a wait for the whole device empties a shared word.
//
// Posting to the same stream again costs a load and a comparison. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hipcore/wire/gen/op_traits.h"

namespace tf::proxy {

// What a posted request leaves behind.
enum class Leaves : std::uint8_t {
  kWork,     // work on its stream
  kNothing,  // no work, but it may fail
};
struct Trace {
  Leaves leaves = Leaves::kNothing;
  std::uint64_t stream = 0;
};

template <typename Request>
Trace trace_of(const Request& request) {
  constexpr protocol::OpTraits what = protocol::kTraits<Request>;
  if constexpr (!what.has(protocol::Trait::kWork)) return {};
  return {Leaves::kWork, what.stream_of(std::as_bytes(std::span(&request, 1)))};
}

class PendingWork {
 public:
  // The word's value for one stream. Each device has its own null stream.
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
    Word& word = words_[word_of(mark)];
    // Acquire: a thread that finds a mark finds it counted (pairs with change()).
    const std::uint64_t now = word.load(std::memory_order_acquire);
    if (now != mark) change(word, now, mark);
  }
  // A call has posted something that leaves no work behind, and may yet fail.
  void posted() {
    if (!unheard_.load(std::memory_order_relaxed)) unheard_.store(true, std::memory_order_release);
  }

  // No work is left. Acquire: what the wait made visible to its thread becomes visible to this one (pairs
  // with end()).
  bool idle() const { return marked_.load(std::memory_order_acquire) == 0; }
  // Also, no failure can still be reported.
  bool quiet() const { return idle() && !unheard_.load(std::memory_order_acquire); }

  static constexpr std::size_t kStreamWords = 16;  // programs rarely keep more streams busy
  struct Proof {
    std::uint64_t ticket = 0;                              // 0: this wait proves nothing
    std::array<std::uint64_t, kStreamWords + 1> before{};  // of the words that hold the ticket
  };
  // Call it before waiting for the stream of this mark. `all`: the wait covers every other stream too.
  Proof begin(std::uint64_t mark, bool all);
  // Call it after the wait. `waited`: the wait ended because the work had.
  void end(const Proof& proof, bool waited);

 private:
  static constexpr std::uint64_t kNone = 0;
  static constexpr std::uint64_t kSeveral = ~std::uint64_t{0};
  static constexpr std::uint64_t kProof = std::uint64_t{1} << 63;       // | a number; handles have less
  static constexpr std::uint64_t kNullStream = std::uint64_t{1} << 62;  // | device
  using Word = std::atomic<std::uint64_t>;

  // Handles of streams that exist at the same time differ in their last bits; null streams use the last word.
  static constexpr std::size_t word_of(std::uint64_t mark) {
    return (mark & kNullStream) != 0 ? kStreamWords : mark % kStreamWords;
  }
  void change(Word& word, std::uint64_t now, std::uint64_t mark);
  void claim(Proof& proof, std::size_t word);

  alignas(64) std::array<Word, kStreamWords + 1> words_{};
  // The number of words that are not kNone, or more: incremented before a word is marked, decremented after
  // it says "none".
  std::atomic<std::uint32_t> marked_{0};
  std::atomic<std::uint64_t> proofs_{0};
  std::atomic<bool> unheard_{false};
};

}  // namespace tf::proxy
