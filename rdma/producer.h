// SPDX-License-Identifier: Apache-2.0
// Producer: the sending half of a stream (stream.h). Functions are for the thread that has the producer role,
// one at a time, unless they say otherwise.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "rdma/queue_pair.h"
#include "rdma/stream.h"
#include "transport/base/deadline.h"
#include "transport/base/mutex.h"
#include "transport/base/status.h"

namespace tf::rdma {

class Producer {
 public:
  struct Queues {
    QueuePair* pair = nullptr;
    ibv_cq* sends = nullptr;  // the producer's alone
    ibv_cq* kicks = nullptr;  // where the pair's receives complete
  };
  // `opposite`: the progress reported with every push. All arguments outlive the producer.
  Producer(const Verbs& verbs, const Queues& queues, const ProducerMemory& memory, Progress& opposite);

  // Space for a record of `bytes`, header included. Empty: call reserve_slowly(), which succeeds or says why.
  // REQUIRES: at most a quarter of the ring.
  std::span<std::byte> reserve(std::size_t bytes);
  // Empty: no room. has_news() and a completion in the queue of kicks tell a waiter when there may be.
  Result<std::span<std::byte>> reserve_slowly(std::size_t bytes);
  // Sends the record, or holds it. A failure here is the endpoint's.
  Status publish();
  void abandon() {}

  // Waits until the peer has everything that was published, or for the deadline. Publish nothing afterwards.
  Status finish(Deadline deadline);
  // Takes completions of the send queue. That frees room for requests, and the memory they hold. A failure is
  // returned by every later call too.
  Status reap();

  // --- Payload of the bulk plane, on the same queue pair (completed in take_payload()) ----------------

  bool may_post_payload() const { return queues_.pair->room() > kPayloadReserve; }
  Status post_payload(ibv_send_wr request);
  bool has_payload() const { return payload_done_ != 0; }
  unsigned take_payload() { return std::exchange(payload_done_, 0); }

  // --- Any thread -------------------------------------------------------------------------------------

  // The peer's consumer reported this in an immediate or a stamp. One thread at a time.
  Status note_told(std::uint64_t consumed) {
    if (consumed > position()) return told_too_much();
    if (consumed > told_.load(std::memory_order_relaxed))
      told_.store(consumed, std::memory_order_release);  // pairs with peer_consumed()
    return Status::ok();
  }
  // There may be room again after reserve_slowly() found none: returns the number of that refusal, else
  // kNotRefused.
  static constexpr std::uint64_t kNotRefused = ~std::uint64_t{0};
  std::uint64_t refusal_to_tell() const;
  std::uint64_t refusal() const { return refused_at_.load(std::memory_order_relaxed); }
  bool refused() const { return refused_at_.load(std::memory_order_relaxed) != kNotRefused; }
  // The refusal was for lack of our own completions, which wake nobody: look again soon.
  bool short_of_sends() const { return short_of_sends_.load(std::memory_order_relaxed); }
  bool take_short_of_sends() {
    return short_of_sends() && short_of_sends_.exchange(false, std::memory_order_relaxed);
  }
  Status take_kicks();
  // An event says that a request may have failed. Returns the failure, if one did.
  Status find_failure();
  std::uint64_t position() const { return position_.load(std::memory_order_acquire); }
  bool holding() const { return holding_; }  // producer only; for tests

 private:
  static constexpr unsigned kRoomMin = 4;          // requests: a push in two pieces, a hold
  static constexpr unsigned kReapAt = 24;          // slots left
  static constexpr unsigned kRefreshAt = 8;        // pushes not yet known to be consumed
  static constexpr unsigned kPayloadReserve = 24;  // slots that payload leaves free for records

  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
  };

  std::size_t capacity() const { return memory_.mirror.size(); }
  std::size_t offset(std::uint64_t position) const { return position & (capacity() - 1); }
  std::span<std::byte> place(std::size_t bytes);
  std::uint64_t peer_consumed() const;
  std::uint64_t signs() const;
  std::uint64_t reusable_to() const;
  bool is_granted() const;
  bool is_watched() const {
    return word_at(memory_.credit + kWatchOffset).load(std::memory_order_acquire) != 0;
  }
  Status refresh();
  void stamp();
  Status push_slot(bool stamped);
  Status push_quietly();
  Status push(std::span<const Range> ranges, bool hold, bool signal);
  ibv_send_wr& add_request(std::uint64_t position);
  void add_write(const Range& range);
  void aim(ibv_send_wr& request, const Range& range) const;
  Status post(bool signal);
  void note_push(unsigned requests, std::uint64_t needed);
  void note_told_by_push(std::uint64_t consumed);
  Status keep(Status posted);
  static Status told_too_much();
  Status take_completion(const ibv_wc& completion);
  Status find_cause(const char* what, ibv_wc_status otherwise);
  void ask();
  void stop_asking();

  const Verbs& verbs_;
  const Queues queues_;
  const ProducerMemory memory_;
  Progress& opposite_;

  std::atomic<std::uint64_t> position_{0};  // published; written by the producer, read by others
  std::uint64_t limit_ = 0;                 // cached: everything before this may be overwritten
  std::uint64_t slot_begin_ = 0;            // of the reserved slot: its pad, if any,
  std::uint64_t slot_start_ = 0;            // the record,
  std::uint64_t slot_bytes_ = 0;            // its length
  std::uint64_t stamped_told_ = 0;          // reported by its stamp
  bool holding_ = false;
  std::uint16_t epoch_ = 0;
  // Ends of the pushes not yet known to be consumed, oldest first.
  static constexpr unsigned kBatchesMax = 32;
  static_assert(kBatchesMax >= kPushedMax + 2);
  std::array<std::uint64_t, kBatchesMax> batches_{};
  unsigned first_batch_ = 0;
  unsigned batch_count_ = 0;
  std::array<std::uint64_t, kSendDepth> begins_{};  // per request: the first byte of the mirror it needs
  // Requests of the push being assembled, and the one of a quiet push. Fields that never change are set once:
  // clearing them each time would cost as much as everything else.
  static constexpr unsigned kRequestsMax = 3;
  std::array<ibv_send_wr, kRequestsMax> requests_{};
  std::array<ibv_sge, kRequestsMax> pieces_{};
  ibv_sge quiet_piece_{.addr = 0, .length = 0, .lkey = memory_.mirror_key};
  ibv_send_wr quiet_{.wr_id = 0,
                     .next = nullptr,
                     .sg_list = &quiet_piece_,
                     .num_sge = 1,
                     .opcode = IBV_WR_RDMA_WRITE,
                     .send_flags = 0,
                     .imm_data = 0,
                     .wr = {.rdma = {.remote_addr = 0, .rkey = memory_.ring.key}},
                     .qp_type = {},
                     .bind_mw = {}};
  unsigned request_count_ = 0;
  std::uint64_t first_needed_ = 0;        // first byte of the mirror that they need
  std::uint64_t told_in_immediates_ = 0;  // of the opposite stream
  unsigned payload_done_ = 0;
  Status failure_;  // of a request; sticky

  std::atomic<std::uint64_t> told_{0};  // consumed by the peer, as reported; set by note_told()

  std::atomic<std::uint64_t> refused_at_{kNotRefused};  // signs() when there was no room
  std::atomic<bool> short_of_sends_{false};
  Mutex ask_mutex_;                                     // also guards Line::waiting and the receives
  std::uint64_t asked_ TF_GUARDED_BY(ask_mutex_) = 0;   // the number in our last question
  std::uint64_t kicked_ TF_GUARDED_BY(ask_mutex_) = 0;  // kicks received
};

}  // namespace tf::rdma
