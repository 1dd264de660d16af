// SPDX-License-Identifier: Apache-2.0
// BulkQueue: the bookkeeping behind a BulkPlane, the same for every transport. It moves no bytes.
//
// Users post sends, receives and aborts from any thread (the functions of BulkPlane forward here). The
// transport's mover asks what to send next (next_send) and where incoming bytes go (find_receive). One mutex,
// never held while bytes move.
//
// Pinning. Memory returned by next_send() and find_receive() may be touched by the mover, the kernel or a
// device until the matching advance_*(), or, if it was handed over, until the matching finish_*(). fail_all()
// does not complete a pinned transfer; the call that unpins it does. So no completion ever frees memory that
// is still being copied.
//
// Order. Sends and aborts leave in the order of the calls, and each tag's receives are filled in that order.
// An aborted tag is not reused on the same endpoint: later receives for it complete with the abort.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "transport/base/mutex.h"
#include "transport/endpoint.h"

namespace tf {

// Limit on aborted tags whose receive has not been posted yet. One more fails the endpoint.
inline constexpr std::size_t kBulkAbortsMax = 4096;

class BulkQueue {
 public:
  BulkQueue() = default;
  BulkQueue(const BulkQueue&) = delete;
  BulkQueue& operator=(const BulkQueue&) = delete;
  // Completes what is left with kClosed. REQUIRES: neither mover nor kernel touches pinned memory any more.
  ~BulkQueue();

  // --- Users, any thread: see BulkPlane. Transfers of zero bytes complete at once. -----------------------
  // `filling`: of send_filling(); the transport looks at it, the queue does not.
  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion,
              const Filling* filling = nullptr);
  Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion);
  Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion);
  Status abort(std::uint64_t tag, std::uint32_t reason);
  void refuse_unasked();
  void keep_open(std::uint64_t tag, bool open);

  // --- Mover, outgoing ------------------------------------------------------------------------------------
  struct Outgoing {
    std::uint64_t tag = 0;
    std::span<const std::byte> source;  // what is left of the oldest send; empty for an abort
    bool is_abort = false;
    std::uint32_t reason = 0;          // of the abort
    std::uint64_t id = 0;              // of the send, never 0; no two are alike
    const Filling* filling = nullptr;  // until the send ends; null: all of it is there
  };
  // The oldest send or abort that is not entirely handed over. Pins it until the advance_send() or
  // hand_over_send() that must follow (0 bytes: nothing could be sent now).
  std::optional<Outgoing> next_send();
  // `bytes` of it are on the wire, and their memory is no longer needed. sent_abort() removes an abort.
  void advance_send(std::size_t bytes);
  void sent_abort();
  // Zero-copy sends. hand_over_send(): the kernel holds `bytes` more of the current send; next_send() goes on
  // after them. finish_send(): the oldest `bytes` handed over are free again.
  void hand_over_send(std::size_t bytes);
  void finish_send(std::size_t bytes);
  // The same for `bytes` that were handed over of the send `id`, where sends end in another order. Whether
  // that ended a transfer.
  bool finish_send(std::uint64_t id, std::size_t bytes);

  // Cheap hint, any thread: something waits to be handed over.
  bool has_send() const { return to_send_.load(std::memory_order_acquire) != 0; }  // pairs with count_sends()

  // --- Mover, incoming ------------------------------------------------------------------------------------
  struct Incoming {
    std::span<std::byte> target;  // what is left of the oldest receive for the tag; empty for a discard
    std::uint64_t bytes = 0;      // how many bytes it still takes
    bool is_discard = false;
    std::uint64_t id = 0;  // of the receive; no two of a tag are alike
  };
  // The oldest receive of `tag` that is not entirely handed over. None: stop reading this direction until one
  // is posted. Pins it until the advance_receive() or hand_over_receive() that must follow (0 bytes: nothing
  // came).
  std::optional<Incoming> find_receive(std::uint64_t tag);
  // Why find_receive() found none. Ok: wait until one is posted. kProtocol: nobody asked the peer for this
  // payload (BulkPlane::refuse_unasked).
  Status judge_early(std::uint64_t tag) const;
  // REQUIRES: bytes <= Incoming::bytes
  void advance_receive(std::uint64_t tag, std::uint64_t bytes);
  // hand_over_receive(): a device writes the next `bytes` to where find_receive() said; the following ones go
  // after them. finish_receive(): the tag's oldest `bytes` handed over have arrived and belong to their owner
  // again.
  void hand_over_receive(std::uint64_t tag, std::uint64_t bytes);
  void finish_receive(std::uint64_t tag, std::uint64_t bytes);
  // The same for `bytes` that were handed over of the receive `id`, where they arrive in another order.
  // Whether that ended a transfer.
  bool finish_receive(std::uint64_t tag, std::uint64_t id, std::uint64_t bytes);
  // Like find_receive(), without pinning. Also true after a failure, so that nobody waits for a receive in
  // vain.
  bool has_receive(std::uint64_t tag) const;
  // The peer gave up on `tag`: its receives, posted or yet to come, complete with bulk_aborted(reason).
  // REQUIRES: no receive of the tag is pinned. If this fails, so must the endpoint.
  Status abort_receive(std::uint64_t tag, std::uint32_t reason);

  // --- Any thread ------------------------------------------------------------------------------------------
  // Hint: some transfers have not ended yet.
  bool has_pending() const {
    return send_count_.load(std::memory_order_relaxed) != 0 ||
           receive_count_.load(std::memory_order_relaxed) != 0;
  }
  // Completes everything that is not pinned with `status`, and refuses later calls. Only the first call
  // counts.
  void fail_all(const Status& status);
  // Nobody touches handed-over memory any more: completes it with the failure. REQUIRES: fail_all() came
  // before
  void let_go();

 private:
  struct Send {
    std::uint64_t tag = 0;
    std::span<const std::byte> source;
    BulkCompletion* completion = nullptr;  // null: an abort
    std::uint32_t reason = 0;
    std::size_t handed_over = 0;  // bytes given to the wire or the kernel
    std::size_t finished = 0;     // of these, bytes that are free again
    std::uint64_t id = 0;
    const Filling* filling = nullptr;
    bool wholly_handed_over() const { return completion != nullptr && handed_over == source.size(); }
  };
  struct Receive {
    std::byte* target = nullptr;  // null: discard
    std::uint64_t bytes = 0;
    BulkCompletion* completion = nullptr;
    std::uint64_t handed_over = 0;  // bytes that arrived, or that a device is writing
    std::uint64_t finished = 0;     // of these, bytes that arrived
    bool pinned = false;            // between find_receive() and what follows
    std::uint64_t id = 0;
    bool wholly_handed_over() const { return handed_over == bytes; }
    bool held() const { return pinned || handed_over != finished; }
  };
  using Receives = std::unordered_map<std::uint64_t, std::deque<Receive>>;
  struct Aborted {
    std::uint32_t reason = 0;
    bool claimed = false;  // a receive met it: may be dropped to make room
  };

  Status post_receive(std::uint64_t tag, Receive receive);
  void advance_locked(std::size_t bytes) TF_REQUIRES(mutex_);
  void finish_locked(std::size_t bytes) TF_REQUIRES(mutex_);
  void complete_send(std::size_t index) TF_REQUIRES(mutex_);
  std::uint64_t hand_over_locked(std::deque<Receive>& queue, std::uint64_t bytes) TF_REQUIRES(mutex_);
  void finish_locked(Receives::iterator tag, std::uint64_t id, std::uint64_t bytes) TF_REQUIRES(mutex_);
  void finish_locked(Receives::iterator tag, std::uint64_t bytes) TF_REQUIRES(mutex_);
  Receives::iterator drop_ended(Receives::iterator tag) TF_REQUIRES(mutex_);
  void count_sends() TF_REQUIRES(mutex_);
  void drop_failed_sends() TF_REQUIRES(mutex_);
  Status remember_abort(std::uint64_t tag, Aborted aborted) TF_REQUIRES(mutex_);
  Status judge_early_locked(std::uint64_t tag) const TF_REQUIRES(mutex_);

  mutable BriefMutex mutex_;
  Status failure_ TF_GUARDED_BY(mutex_);  // sticky
  std::uint64_t last_id_ TF_GUARDED_BY(mutex_) = 0;
  std::deque<Send> sends_
      TF_GUARDED_BY(mutex_);  // oldest first; those before cursor_ are entirely handed over
  std::size_t cursor_ TF_GUARDED_BY(mutex_) = 0;
  std::size_t aborts_to_send_ TF_GUARDED_BY(mutex_) = 0;
  bool send_pinned_ TF_GUARDED_BY(mutex_) = false;  // sends_[cursor_] is between next_send() and its advance
  std::atomic<std::size_t> to_send_{0};             // sends_.size() - cursor_, or 0 once failed
  std::atomic<std::size_t> send_count_{0};          // sends_.size()
  Receives receives_ TF_GUARDED_BY(mutex_);         // no empty queues
  std::atomic<std::size_t> receive_count_{0};       // written under the mutex
  bool refuses_unasked_ TF_GUARDED_BY(mutex_) = false;
  std::unordered_set<std::uint64_t> open_ TF_GUARDED_BY(mutex_);  // tags whose receives are posted one by one
  std::unordered_map<std::uint64_t, Aborted> aborted_ TF_GUARDED_BY(mutex_);
  std::deque<std::uint64_t> aborted_order_ TF_GUARDED_BY(mutex_);  // the keys of aborted_, oldest first
};

// A bulk plane whose users' side is a BulkQueue. Forwards every call to it, then tells the transport.
class QueuedBulkPlane : public BulkPlane {
 public:
  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) override {
    return posted(bulk_queue().send(tag, source, completion));
  }
  Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) override {
    return posted(bulk_queue().receive(tag, target, completion));
  }
  Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) override {
    return posted(bulk_queue().discard(tag, bytes, completion));
  }
  Status abort(std::uint64_t tag, std::uint32_t reason) override {
    return posted(bulk_queue().abort(tag, reason));
  }
  void refuse_unasked() override { bulk_queue().refuse_unasked(); }
  void keep_open(std::uint64_t tag, bool open) override { bulk_queue().keep_open(tag, open); }

 private:
  virtual BulkQueue& bulk_queue() = 0;
  // Called with the queue's result, when there may be work for a mover that is asleep. Returns what the user
  // gets.
  virtual Status posted(Status result) = 0;
};

}  // namespace tf
