// SPDX-License-Identifier: Apache-2.0
// Consumer: the receiving half of a stream (stream.h). Functions are for the thread that has the consumer
// role, one at a time, unless they say otherwise.
//
// While the producer holds, at most one chain of READs is in flight. It fetches what the last Line announced,
// and the Line once more. Records that arrived before are handled meanwhile.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "rdma/queue_pair.h"
#include "rdma/stamp.h"
#include "rdma/stream.h"
#include "transport/base/status.h"

namespace tf::rdma {

struct Record {
  FrameHeader header;  // a copy, validated
  std::span<const std::byte> payload;
};

class Consumer {
 public:
  struct Queues {
    QueuePair* pair = nullptr;
    ibv_cq* completions = nullptr;  // for sends and receives
  };
  Consumer(const Verbs& verbs, const Queues& queues, const ConsumerMemory& memory);

  // Takes completions and posts the requests they call for. A failure here is the endpoint's; peek() still
  // returns what arrived before it.
  Status poll();
  // The same in two steps, for polling loops: has_news() says whether there may be something to take or to
  // post, take_news() does it.
  bool has_news() {
    if (marked_ != 0 || find_mark()) return true;
    if (came_ == 0) came_ = verbs_.poll_cq(queues_.completions, kCompletionsAtOnce, completions_.data());
    return came_ != 0 || !settled_;
  }
  Status take_news();
  // Fast path, if has_news() found a record in memory and nothing else. False: call take_news().
  bool take_marked() { return marked_ != 0 && came_ == 0 && take_stamped(std::exchange(marked_, 0)); }
  bool has_record() const { return own_consumed() != known_; }
  // The oldest record, valid until the next call. Null: there is none, or it is malformed, and `failure` says
  // how. `payload_max`: longer ones are kProtocol.
  const Record* peek(std::uint64_t payload_max, Status& failure);
  // The record was handled. REQUIRES: peek() returned it.
  void consume() {
    progress_.consumed.store(next_, std::memory_order_release);
    settled_ = false;
  }
  // Call it after some records were handled: tells the producer, and fetches more.
  Status advance() {
    settled_ = failure_.is_ok() && request_count_ == 0 && watching_ == wants_to_watch_ && !settling_ &&
               !is_fetching() && !should_tell();
    return settled_ ? Status::ok() : post_what_is_due();
  }

  // The peer closed, and said that everything it published, up to `position`, is in the ring. False: the push
  // that ends it has not arrived yet.
  bool finish(std::uint64_t position);

  // Whether to look for records in memory as well, where they appear sooner; takes effect at the next poll().
  // Such a record wakes nobody. So before anybody sleeps, take this back and let poll() settle it.
  void watch(bool wanted) {
    settled_ = settled_ && wanted == wants_to_watch_;
    wants_to_watch_ = wanted;
  }
  bool is_watching() const { return wants_to_watch_ || watching_; }
  bool is_settling() const { return watching_ || settling_; }

  // What immediates and stamps said about the opposite stream, if anything new.
  bool has_told() const { return has_told_; }
  std::optional<std::uint64_t> take_told() {
    return std::exchange(has_told_, false) ? std::optional(opposite_lines_ * kLineBytes) : std::nullopt;
  }

  // --- Payload of the bulk plane, on the same queue pair ----------------------------------------------

  bool may_post_payload() const { return queues_.pair->room() > kPayloadReserve; }
  Status post_payload(ibv_send_wr request);
  bool has_payload() const { return payload_done_ != 0; }
  unsigned take_payload() { return std::exchange(payload_done_, 0); }

  // For the producer of the opposite stream. Any thread.
  Progress& progress() { return progress_; }
  std::uint64_t consumed() const { return progress_.consumed.load(std::memory_order_acquire); }
  // The producer holds, as far as we know. Consumer only.
  bool is_fetching() const { return seen_ != granted_; }

 private:
  static constexpr int kLooksPerPoll = 4;          // polls of memory; together cheaper than one poll_cq()
  static constexpr unsigned kRoomMin = 8;          // requests: a chain of READs, a credit and a kick
  static constexpr unsigned kPayloadReserve = 24;  // slots that payload leaves free for the above

  std::size_t capacity() const { return memory_.ring.size(); }
  std::size_t offset(std::uint64_t position) const { return position & (capacity() - 1); }
  std::uint64_t own_consumed() const { return progress_.consumed.load(std::memory_order_relaxed); }
  bool fits(std::uint64_t end) const { return end - own_consumed() <= capacity(); }
  Status keep(Status posted);
  Status take_completion(const ibv_wc& completion);
  Status take_immediate(std::uint32_t immediate);
  // Whether the next record may come without an immediate.
  bool looks_into_memory() const {
    return watching_ && !reading_ && known_ == own_consumed() && !is_fetching();
  }
  bool find_mark() {
    if (!looks_into_memory()) return false;
    const std::span<const std::byte> place = memory_.ring.subspan(offset(known_));
    for (int looks = 0; looks < kLooksPerPoll && marked_ == 0; ++looks)
      marked_ = StampedCopy::find(place, memory_.ring_secret, known_);
    return marked_ != 0;
  }
  // False: the record is incomplete, or invalid (then failure_ is set). REQUIRES: `bytes` are marked at
  // known_.
  bool take_stamped(std::size_t bytes);
  void note_told(std::uint64_t lines);
  bool count_push(std::uint64_t end);
  Status take_chain();
  Status take_line();
  void settle();
  bool should_tell() const {
    const std::uint64_t untold = own_consumed() - progress_.told.load(std::memory_order_relaxed);
    if (static_cast<std::int64_t>(untold) <= 0) return false;  // our producer may have told more
    return untold >= capacity() / 4 || (batch_count_ >= kTellBatches && have_told_too_little());
  }
  bool have_told_too_little() const;
  Status post_what_is_due();
  ibv_send_wr& add_request(ibv_wr_opcode opcode, const RemoteMemory& remote, std::size_t offset);
  static void add_piece(ibv_send_wr& request, std::byte* memory, std::size_t bytes, std::uint32_t key);
  void add_word(std::uint64_t word, std::size_t place);
  void add_credit();
  void add_kick();
  void add_read(std::uint64_t begin, std::uint64_t end);
  Status post_chain(std::uint64_t end, bool with_line);

  const Verbs& verbs_;
  const Queues queues_;
  const ConsumerMemory memory_;

  Progress progress_;
  Record record_;                 // that peek() gave
  std::uint64_t next_ = 0;        // end of the record that peek() returned
  std::uint64_t known_ = 0;       // complete in the ring up to here
  std::uint64_t pushed_end_ = 0;  // announced by immediates up to here

  std::uint16_t seen_ = 0;     // hold epochs that have begun
  std::uint16_t granted_ = 0;  // and ended
  bool settling_ = false;      // granted, or watch taken back; the READ after that is not settled yet
  bool wants_to_watch_ = false;
  bool watching_ = false;   // the watch word says so
  std::size_t marked_ = 0;  // bytes that has_news() found marked at known_
  StampedCopy stamped_;
  std::uint64_t stamped_at_ = UINT64_MAX;  // the position of the record in stamped_
  bool reading_ = false;                   // a chain is in flight
  bool chain_has_line_ = false;
  std::uint64_t chain_end_ = 0;
  bool look_again_ = false;  // READ the Line (once more)

  std::uint64_t waiting_ = 0;     // the producer's last question known to us
  std::uint64_t kicked_ = 0;      // the last question answered
  bool told_since_kick_ = false;  // the credit was written and no kick followed yet

  // Ends of pushes that the credit has not reported yet, oldest first.
  std::array<std::uint64_t, kConsumerReceives> batches_{};
  unsigned first_batch_ = 0;
  unsigned batch_count_ = 0;
  std::uint64_t told_in_immediates_ = 0;  // lines of the opposite stream, by immediates,
  std::uint64_t opposite_lines_ = 0;      // and by stamps as well
  bool has_told_ = false;
  unsigned spent_receives_ = 0;  // not posted again yet
  // Requests being assembled, at most kRequestsMax.
  static constexpr unsigned kRequestsMax = 6;
  std::array<ibv_send_wr, kRequestsMax> requests_{};
  std::array<ibv_sge, kRequestsMax> pieces_{};
  unsigned request_count_ = 0;
  static constexpr int kCompletionsAtOnce = 16;
  std::array<ibv_wc, kCompletionsAtOnce> completions_;  // found by has_news(),
  int came_ = 0;                                        // this many; negative: the queue failed
  bool settled_ = false;  // advance() has no work until a completion or a consume()
  Status failure_;        // of a request or the queue; nothing is posted after that
  unsigned payload_done_ = 0;
};

}  // namespace tf::rdma
