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
// There are two sets of words: one for work that may read or write the program's memory, one for other work.
// The second also says whether a stream's work is arrivals and nothing else (Leaves::kArrival).
//
// A synchronous copy to the device waits natively for what is before it. Here it may return earlier, if the
// program can only find out by asking (owe()). What was pending then is marked as owed until more work is
// posted to its stream: who asks for it before that has to wait for it.
//
// Posting to the same stream again costs a load and a comparison. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hipcore/wire/gen/op_traits.h"

namespace tf::proxy {

// What a posted request leaves behind.
enum class Leaves : std::uint8_t {
  kNothing,   // no work, but it may fail
  kWork,      // work on its stream, which leaves the program's memory alone
  kArrival,   // the same: a copy to device memory whose bytes have been read. Fails only if the device does
  kHostWork,  // work on its stream that may read or write memory of the program's
};
struct Trace {
  Leaves leaves = Leaves::kNothing;
  std::uint64_t stream = 0;
};

template <typename Request>
Trace trace_of(const Request& request) {
  constexpr protocol::OpTraits what = protocol::kTraits<Request>;
  if constexpr (!what.has(protocol::Trait::kWork)) return {};
  return {what.has(protocol::Trait::kReachesHost) ? Leaves::kHostWork : Leaves::kWork,
          what.stream_of(std::as_bytes(std::span(&request, 1)))};
}

class PendingWork {
 public:
  // The word's value for one stream. Each device has its own null stream.
  static constexpr std::uint64_t mark_of(int device, std::uint64_t stream) {
    return stream > 2 ? stream : kNullStream | static_cast<std::uint32_t>(device);
  }
  static constexpr bool is_null_stream(std::uint64_t mark) { return (mark & kNullStream) != 0; }

  // A call has posted a request, of which `trace` says what it leaves.
  void note(int device, const Trace& trace) {
    if (trace.leaves != Leaves::kNothing)
      started(mark_of(device, trace.stream), trace.leaves);
    else
      posted();
  }
  // A call has posted work to the stream of this mark. REQUIRES: it leaves work
  void started(std::uint64_t mark, Leaves leaves = Leaves::kHostWork) {
    const std::size_t index = word_of(mark) + (leaves == Leaves::kHostWork ? 0 : kWords);
    // Acquire: a thread that finds a mark finds it counted (pairs with change()).
    const std::uint64_t now = words_[index].load(std::memory_order_acquire);
    if (leaves == Leaves::kArrival) mark |= kArrivals;
    // What is on the stream beside arrivals stays marked.
    if (now != mark && now != (mark & ~kArrivals)) change(index, now, mark);
  }
  // A call has posted something that leaves no work behind, and may yet fail.
  void posted() {
    if (!unheard_.load(std::memory_order_relaxed)) unheard_.store(true, std::memory_order_release);
  }

  // No work is left. Acquire: what the wait made visible to its thread becomes visible to this one (pairs
  // with end()).
  bool idle() const { return marked_.load(std::memory_order_acquire) == 0; }
  // Of the work that is left, some may read or write the program's memory.
  bool any_host_work() const {
    const std::uint64_t marked = marked_.load(std::memory_order_relaxed);  // the thread sees its own
    return static_cast<std::uint32_t>(marked) != 0;
  }
  // Work of the stream of this mark may be left that does not touch the program's memory.
  bool may_have_device_work(std::uint64_t mark) const {
    return words_[word_of(mark) + kWords].load(std::memory_order_relaxed) != kNone;  // the thread's own
  }
  // Work of the stream of this mark may be left.
  bool may_have_work(std::uint64_t mark) const {
    return may_have_device_work(mark) || words_[word_of(mark)].load(std::memory_order_relaxed) != kNone;
  }
  // All work that is left of the stream of this mark is arrivals, or there is none, and no failure can still
  // be reported.
  bool only_arrivals(std::uint64_t mark) const {
    if (unheard_.load(std::memory_order_acquire)) return false;
    const std::size_t index = word_of(mark);  // the words are the thread's own
    const std::uint64_t arriving = words_[index + kWords].load(std::memory_order_relaxed);
    return words_[index].load(std::memory_order_relaxed) == kNone &&
           (arriving == kNone || arriving == (mark | kArrivals));
  }
  // The same of all streams.
  bool only_arrivals() const {
    const auto is_light = [](const Word& word) {
      const std::uint64_t now = word.load(std::memory_order_relaxed);
      return now == kNone || (is_mark(now) && (now & kArrivals) != 0);
    };
    return !unheard_.load(std::memory_order_acquire) && !any_host_work() &&
           std::all_of(words_.begin() + kWords, words_.end(), is_light);
  }
  // Also, no failure can still be reported.
  bool quiet() const { return idle() && !unheard_.load(std::memory_order_acquire); }

  static constexpr std::size_t kStreamWords = 16;  // programs rarely keep more streams busy
  static constexpr std::size_t kWords = kStreamWords + 1;
  struct Proof {
    std::uint64_t ticket = 0;
    std::uint64_t words = 0;                       // those that hold the ticket: a bit for each
    std::array<std::uint64_t, 2 * kWords> before;  // what they held before
  };
  // Call it before waiting for the stream of this mark. `all`: the wait covers every other stream too.
  Proof begin(std::uint64_t mark, bool all);
  // Call it after the wait. `waited`: the wait ended because the work had.
  void end(const Proof& proof, bool waited);

  // A synchronous copy has returned while work of streams for whose marks `is_before` is true was left.
  template <typename IsBefore>
  void owe(IsBefore is_before) {
    for (Word& word : words_) {
      std::uint64_t now = word.load(std::memory_order_relaxed);
      // A word that changes meanwhile has later work, or is waited for.
      if (is_mark(now) && (now & kOwed) == 0 && is_before(now & ~kFlags))
        word.compare_exchange_strong(now, (now & ~kFlags) | kOwed, std::memory_order_relaxed);
    }
  }
  // Some work is left, and all of it is owed: of the stream of this mark, or of streams for whose marks
  // `is_asked` is true.
  bool owes(std::uint64_t mark) const {
    const auto is_asked = [mark](std::uint64_t of) { return of == mark; };
    Left left;
    look(words_[word_of(mark)], is_asked, left);
    look(words_[word_of(mark) + kWords], is_asked, left);
    return left.owed && !left.later;
  }
  template <typename IsAsked>
  bool owes_all(IsAsked is_asked) const {
    Left left;
    for (const Word& word : words_) look(word, is_asked, left);
    return left.owed && !left.later;
  }

 private:
  static constexpr std::uint64_t kNone = 0;
  static constexpr std::uint64_t kSeveral = ~std::uint64_t{0};
  static constexpr std::uint64_t kProof = std::uint64_t{1} << 63;       // | a number; handles have less
  static constexpr std::uint64_t kNullStream = std::uint64_t{1} << 62;  // | device
  static constexpr std::uint64_t kOwed = std::uint64_t{1} << 61;        // | a mark
  static constexpr std::uint64_t kArrivals = std::uint64_t{1} << 60;    // | a mark, of arrivals alone
  static constexpr std::uint64_t kFlags = kOwed | kArrivals;            // no mark has both
  using Word = std::atomic<std::uint64_t>;

  // Of one stream, not "none", "several", or a proof.
  static constexpr bool is_mark(std::uint64_t now) { return now != kNone && (now & kProof) == 0; }

  // Handles of streams that exist at the same time differ in their last bits; null streams use the last word.
  static constexpr std::size_t word_of(std::uint64_t mark) {
    return is_null_stream(mark) ? kStreamWords : mark % kStreamWords;
  }
  static constexpr std::uint64_t unit_of(std::size_t index) {
    return index < kWords ? 1 : std::uint64_t{1} << 32;
  }
  // What is left of some streams' work: such that is owed, and such that came later or may have.
  struct Left {
    bool owed = false;
    bool later = false;
  };
  template <typename IsAsked>
  static void look(const Word& word, IsAsked is_asked, Left& left) {
    const std::uint64_t now = word.load(std::memory_order_relaxed);
    if (now == kNone || (is_mark(now) && !is_asked(now & ~kFlags))) return;
    ((is_mark(now) && (now & kOwed) != 0) ? left.owed : left.later) = true;
  }
  void change(std::size_t index, std::uint64_t now, std::uint64_t mark);
  void claim(Proof& proof, std::size_t index);

  // First those of work that reads or writes the program's memory, then those of other work.
  alignas(64) std::array<Word, 2 * kWords> words_{};
  // The numbers of words that are not kNone, or more: of the first set in the lower half, of the other in the
  // upper. Incremented before a word is marked, decremented after it says "none".
  std::atomic<std::uint64_t> marked_{0};
  std::atomic<std::uint64_t> proofs_{0};
  std::atomic<bool> unheard_{false};
};

}  // namespace tf::proxy
