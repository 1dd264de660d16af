// SPDX-License-Identifier: Apache-2.0
// PendingWork: whether anything that this process has started may still be running, known without asking.
//
// A few words, each for the streams whose handles end alike, say which of them has work that nobody has seen
// finished: none, one, or several. Whoever posts work marks its stream afterwards, before its call returns;
// whoever waits for a stream puts a proof of his own in the word's place beforehand and, having waited, turns
// it into "none". Posts in between spoil the proof, since they find something else in the word than their
// mark. So a word may say too much, never too little: work whose call had returned before the wait ended was
// either waited for or has left a mark. With more streams than words some share one, which then only a wait
// for the whole device empties.
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
  kWork,     // on its stream
  kNothing,  // but perhaps word of its failure
  kSilence,
};
struct Trace {
  Leaves leaves = Leaves::kNothing;
  std::uint64_t stream = 0;
};

template <typename Request>
Trace trace_of(const Request& request) {
  constexpr protocol::OpTraits what = protocol::kTraits<Request>;
  if constexpr (what.has(protocol::Trait::kSilent)) return {Leaves::kSilence, 0};
  if constexpr (!what.has(protocol::Trait::kWork)) return {};
  return {Leaves::kWork, what.stream_of(std::as_bytes(std::span(&request, 1)))};
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
    Word& word = words_[word_of(mark)];
    // Acquire: who finds a mark finds it counted (pairs with change()).
    const std::uint64_t now = word.load(std::memory_order_acquire);
    if (now != mark) change(word, now, mark);
  }
  // A call has posted something that leaves no work behind, and may yet fail.
  void posted() {
    if (!unheard_.load(std::memory_order_relaxed)) unheard_.store(true, std::memory_order_release);
  }

  // No work is left. Acquire: what the wait has shown to its thread is shown to this one (pairs with end()).
  bool idle() const { return marked_.load(std::memory_order_acquire) == 0; }
  // Besides, there is nothing that could still be heard to have failed.
  bool quiet() const { return idle() && !unheard_.load(std::memory_order_acquire); }

  static constexpr std::size_t kStreamWords = 16;  // programs rarely keep more streams busy
  struct Proof {
    std::uint64_t ticket = 0;                              // 0: this wait proves nothing
    std::array<std::uint64_t, kStreamWords + 1> before{};  // of the words that hold the ticket
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
  using Word = std::atomic<std::uint64_t>;

  // Handles of streams that live at the same time differ in their last bits; null streams have the last word.
  static constexpr std::size_t word_of(std::uint64_t mark) {
    return (mark & kNullStream) != 0 ? kStreamWords : mark % kStreamWords;
  }
  void change(Word& word, std::uint64_t now, std::uint64_t mark);
  void claim(Proof& proof, std::size_t word);

  alignas(64) std::array<Word, kStreamWords + 1> words_{};
  // Words that are not kNone, or more: counted before a word is marked, and taken back after it says "none".
  std::atomic<std::uint32_t> marked_{0};
  std::atomic<std::uint64_t> proofs_{0};
  std::atomic<bool> unheard_{false};
};

}  // namespace tf::proxy
