// SPDX-License-Identifier: Apache-2.0
// How a lost peer ends the endpoint. Everything it had published is delivered first, on both planes. Each
// role takes what is its own; whoever finds its own plane empty looks at the other plane (reading atomics
// only), and the endpoint fails when neither plane has anything left that can be delivered: a chunk that
// nobody receives does not count. Until then a role with nothing of its own to do sleeps. Should the other
// role never come, the endpoint fails after kDrainPatience without progress.
#include "shm/endpoint.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "shm/bulk.h"
#include "transport/base/mutex.h"
#include "transport/base/pause.h"
#include "transport/base/spin.h"
#include "transport/base/sticky_failure.h"

namespace tf::shm {
namespace {

using Clock = Deadline::Clock;

// After this long a sleeper checks whether the peer is alive; the longer it sleeps, the less often.
constexpr std::chrono::milliseconds kNapFirst{100};
constexpr std::chrono::milliseconds kNapMax{1000};
constexpr std::chrono::seconds kDrainPatience{5};
constexpr std::uint32_t kEmptyPollsPerCheck = 4096;  // for callers that poll and never wait
constexpr std::uint32_t kSpinsPerClock = 16;
constexpr std::uint32_t kLooksBeforePause = 256;  // a pause takes as long as moving a line between caches
constexpr std::uint32_t kSpinsBeforeClock = 64;   // most answers of a busy peer come sooner

// Room for a message wakes everybody: a thread that waits for room may wait for anything else too.
Ringing ringing(Interest interest) {
  return (wants(interest, Interest::kMessages) ? kRingMessages : 0) |
         (wants(interest, Interest::kBulk) ? kRingBulk : 0);
}

bool offer_barriers(const Doorbell& own) {
  if (!register_for_barriers()) return false;
  own.offer_barriers();
  return true;
}

class ShmEndpoint final : public tf::Endpoint, private BulkOwner {
 public:
  ShmEndpoint(Segment segment, net::OwnedFd socket, const Rings& rings)
      : segment_(std::move(segment)),
        socket_(std::move(socket)),
        rings_(rings),
        out_(rings.messages_out),
        in_(rings.messages_in),
        ringer_(rings.peer, offer_barriers(rings.own)),
        bulk_(rings, *this) {}

  ~ShmEndpoint() override {
    ::shutdown(socket_.get(), SHUT_RDWR);
    rings_.peer.wake(kRingAll);
    bulk_.fail_all({Code::kClosed, "the endpoint was closed with this bulk transfer pending"});
  }

  std::string_view transport() const override { return "shm"; }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<Slot> reserve(std::size_t bytes) override;
  Slot try_reserve(std::size_t bytes) override {
    const bool usual = !failure_.is_set() && bytes >= kFrameHeaderBytes && bytes <= kMessageBytesMax &&
                       blocked_at_.load(std::memory_order_relaxed) == kNotBlocked;
    return usual ? Slot{out_.reserve(bytes), 0} : Slot{};
  }
  void publish(Slot) override {
    out_.publish();
    ringer_.ring();
  }
  void abandon(Slot) override { out_.abandon(); }
  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override;
  BulkPlane& bulk() override { return bulk_; }
  Status wait(Interest interest, Deadline deadline) override;
  void fail(Status reason) override;
  Status status() const override { return failure_.get(); }

 private:
  // One for the waits of a consumer, one for those of a mover.
  struct Waiter {
    SpinBudget spin;
    // The refusal (a value of blocked_at_) for which this waiter was told that there is room again.
    std::atomic<std::uint64_t> told{kNotBlocked};
    std::atomic<std::chrono::milliseconds> nap{kNapFirst};  // the next; relaxed, races only cost accuracy
  };
  static constexpr std::uint64_t kNotBlocked = ~std::uint64_t{0};

  Waiter& waiter(Interest interest) { return waiters_[interest == Interest::kBulk ? 1 : 0]; }
  bool ready(Interest interest, const Waiter& waiter) const;
  std::uint64_t refusal_to_tell(const Waiter& waiter) const;
  bool spin_without_clock(Interest interest, const Waiter& waiter) const;
  bool spin(Interest interest, Waiter& waiter, Clock::time_point start, Deadline deadline) const;
  Status sleep(Interest interest, Waiter& waiter, Deadline deadline);
  std::span<std::byte> reserve_when_full(std::size_t bytes, std::uint64_t consumed);
  Result<std::size_t> deliver_all(MessageSink& sink, std::size_t limit);
  Status deliver(std::span<const std::byte> message, MessageSink& sink);
  Status look_for_loss();
  Status settle_loss();
  bool peer_gone() const override { return peer_gone_.load(std::memory_order_relaxed); }
  Status look_now_and_then() override;

  Segment segment_;
  net::OwnedFd socket_;
  Rings rings_;
  const Capabilities capabilities_;
  RingProducer out_;
  RingConsumer in_;
  MessageRinger ringer_;
  Bulk bulk_;
  std::array<Waiter, 2> waiters_;
  // Position of the peer's consumer when a reserve() found no room; kNotBlocked otherwise. Written by the
  // producer, read by waiters; relaxed: fences order what matters, see reserve_when_full().
  std::atomic<std::uint64_t> blocked_at_{kNotBlocked};
  std::uint32_t empty_polls_ = 0;       // consumer's
  std::uint32_t empty_bulk_polls_ = 0;  // mover only
  std::atomic<bool> peer_gone_{false};
  StickyFailure failure_;
  Mutex loss_mutex_;
  std::uint64_t loss_taken_ TF_GUARDED_BY(loss_mutex_) = kNotBlocked;  // how far both planes had been read...
  Clock::time_point loss_since_ TF_GUARDED_BY(loss_mutex_);            // ... since when
};

void ShmEndpoint::fail(Status reason) {
  if (!failure_.set(std::move(reason))) return;
  bulk_.fail_all(status());
  rings_.own.wake(kRingAll);
}

// --- Messages -------------------------------------------------------------------------------------------

Result<Slot> ShmEndpoint::reserve(std::size_t bytes) {
  if (failure_.is_set()) return status();
  if (bytes < kFrameHeaderBytes || bytes > capabilities_.max_message_bytes)
    return Status{Code::kInvalidArgument, "a message has 24 bytes to max_message_bytes"};
  std::span<std::byte> slot = out_.reserve(bytes);
  if (slot.empty())
    slot = reserve_when_full(bytes, rings_.messages_out.consumed().load(std::memory_order_relaxed));
  if (!slot.empty()) {
    if (blocked_at_.load(std::memory_order_relaxed) != kNotBlocked)
      blocked_at_.store(kNotBlocked, std::memory_order_relaxed);
    return Slot{slot, 0};
  }
  if (out_.broken()) {
    fail({Code::kProtocol, "shm: message ring: the consumer's position is impossible"});
    return status();
  }
  if (peer_gone()) return Status{Code::kPeerLost, "shm: the peer has gone"};
  return would_block();
}

// Leaves a note for the waiters, then looks once more: if room had appeared before they could read the note,
// nobody would wake them. The fence pairs with the one in the peer's doorbell, between its release of room
// and its check for sleepers.
std::span<std::byte> ShmEndpoint::reserve_when_full(std::size_t bytes, std::uint64_t consumed) {
  if (out_.broken()) return {};
  blocked_at_.store(consumed, std::memory_order_relaxed);
  full_fence();
  return out_.reserve(bytes);
}

// The ring's word occupies the place of a frame's payload length, which the record also gives.
Status ShmEndpoint::deliver(std::span<const std::byte> message, MessageSink& sink) {
  static_assert(offsetof(FrameHeader, payload_length) == kRingWordOffset);
  static_assert(kFrameHeaderBytes == kRingMessageMin);
  FrameHeader header;
  std::memcpy(&header, message.data(), sizeof header);
  header.payload_length = message.size() - kFrameHeaderBytes;
  constexpr std::uint64_t kPayloadMax = kMessageBytesMax - kFrameHeaderBytes;
  if (!is_valid(header, kPayloadMax)) [[unlikely]]
    return validate(header, kPayloadMax);
  return sink.on_message(header, message.subspan(kFrameHeaderBytes));
}

Result<std::size_t> ShmEndpoint::deliver_all(MessageSink& sink, std::size_t limit) {
  std::size_t delivered = 0;
  for (; delivered < limit; ++delivered) {
    if (failure_.is_set()) {
      if (delivered != 0) break;
      return status();
    }
    const std::span<const std::byte> record = in_.peek();
    if (record.empty()) break;
    if (Status taken = deliver(record, sink); !taken.is_ok()) {
      fail(taken);
      return taken;
    }
    in_.consume();
  }
  if (!in_.broken() || delivered != 0) return delivered;  // a broken ring is reported at the next poll
  fail({Code::kProtocol, "shm: message ring: a record's length is impossible"});
  return status();
}

Result<std::size_t> ShmEndpoint::poll(MessageSink& sink, std::size_t limit) {
  Result<std::size_t> delivered = deliver_all(sink, limit);
  if (in_.take_released()) rings_.peer.ring(kRingAll);  // a producer of the peer may wait for room
  if (!delivered || delivered.value() != 0) return delivered;
  if (peer_gone() || ++empty_polls_ % kEmptyPollsPerCheck == 0) TF_RETURN_IF_ERROR(look_for_loss());
  return std::size_t{0};
}

// --- Loss -----------------------------------------------------------------------------------------------

Status ShmEndpoint::look_now_and_then() {
  if (!peer_gone() && ++empty_bulk_polls_ % kEmptyPollsPerCheck != 0) return Status::ok();
  return look_for_loss();
}

// A closed socket means that the peer closed its endpoint or died. What it had published stays readable.
// Returns the endpoint's failure, if it has one now.
Status ShmEndpoint::look_for_loss() {
  if (peer_gone()) return settle_loss();
  char byte = 0;
  const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Status::ok();
  if (got > 0) {
    fail({Code::kProtocol, "shm: unexpected bytes on the lane's socket"});
    return status();
  }
  peer_gone_.store(true, std::memory_order_relaxed);
  return settle_loss();
}

// REQUIRES: the peer is gone. Consumer and mover.
Status ShmEndpoint::settle_loss() {
  // In this order: the handler of a message may post the receive that lets a chunk move, and the message
  // counts until its handler has returned.
  const bool has_message = in_.has_record();
  if (has_message || bulk_.can_deliver()) {
    const MutexLock lock(loss_mutex_);
    const std::uint64_t taken = in_.position() + bulk_.position();
    const Clock::time_point now = Clock::now();
    if (taken != loss_taken_) {
      loss_taken_ = taken;
      loss_since_ = now;
    }
    if (now - loss_since_ < kDrainPatience) return Status::ok();
  }
  fail({Code::kPeerLost, "shm: the peer closed the endpoint or died"});
  return status();
}

// --- Waiting --------------------------------------------------------------------------------------------

// The refusal after which room has appeared, if this waiter was not told yet: once per refusal, or a producer
// that gave up would keep the waiters awake. Else kNotBlocked.
std::uint64_t ShmEndpoint::refusal_to_tell(const Waiter& waiter) const {
  const std::uint64_t blocked = blocked_at_.load(std::memory_order_relaxed);
  if (blocked == kNotBlocked || waiter.told.load(std::memory_order_relaxed) == blocked) return kNotBlocked;
  const bool has_moved = rings_.messages_out.consumed().load(std::memory_order_acquire) != blocked;
  return has_moved ? blocked : kNotBlocked;
}

bool ShmEndpoint::ready(Interest interest, const Waiter& waiter) const {
  if (failure_.is_set()) return true;
  if (wants(interest, Interest::kMessages) && in_.has_record()) return true;
  if (wants(interest, Interest::kBulk) && bulk_.ready()) return true;
  return refusal_to_tell(waiter) != kNotBlocked;
}

bool ShmEndpoint::spin_without_clock(Interest interest, const Waiter& waiter) const {
  if (ready(interest, waiter)) return true;
  if (waiter.spin.current().count() == 0 || waiter.spin.crowded()) return false;
  for (std::uint32_t look = 0; look < kLooksBeforePause; ++look)
    if (ready(interest, waiter)) return true;
  for (std::uint32_t turn = 0; turn < kSpinsBeforeClock; ++turn) {
    spin_pause();
    if (ready(interest, waiter)) return true;
  }
  return false;
}

// True when something is ready before it is time to sleep.
bool ShmEndpoint::spin(Interest interest, Waiter& waiter, Clock::time_point start, Deadline deadline) const {
  Spin spin(waiter.spin, start);
  for (Clock::time_point now = start; spin.go_on(now) && !deadline.passed(); now = Clock::now()) {
    for (std::uint32_t turn = 0; turn < kSpinsPerClock; ++turn) {
      if (ready(interest, waiter)) return true;
      spin_pause();
    }
  }
  return ready(interest, waiter);
}

// Sleeps until something is ready, or kTimeout.
Status ShmEndpoint::sleep(Interest interest, Waiter& waiter, Deadline deadline) {
  const Ringing what = ringing(interest);
  while (!ready(interest, waiter)) {
    if (deadline.passed()) return {Code::kTimeout, "shm: the deadline passed"};
    TF_RETURN_IF_ERROR(look_for_loss());
    const std::uint32_t seen = rings_.own.prepare(what);
    // Everything that a lost peer published is here by now, and what can be delivered is found here.
    if (ready(interest, waiter)) {
      rings_.own.cancel(what);
      break;
    }
    const std::chrono::milliseconds nap = waiter.nap.load(std::memory_order_relaxed);
    rings_.own.sleep(seen, Deadline::after(nap).sooner(deadline).remaining(), what);
    waiter.nap.store(std::min(2 * nap, kNapMax), std::memory_order_relaxed);
  }
  waiter.nap.store(kNapFirst, std::memory_order_relaxed);
  return Status::ok();
}

Status ShmEndpoint::wait(Interest interest, Deadline deadline) {
  Waiter& own = waiter(interest);
  if (!spin_without_clock(interest, own)) {
    const Clock::time_point start = Clock::now();
    Status slept;
    if (!spin(interest, own, start, deadline)) slept = sleep(interest, own, deadline);
    own.spin.learn(Clock::now() - start);  // also if nothing came: an idle end must not spin
    TF_RETURN_IF_ERROR(slept);
  }
  if (const std::uint64_t refusal = refusal_to_tell(own); refusal != kNotBlocked)
    own.told.store(refusal, std::memory_order_relaxed);
  return status();
}

}  // namespace

Result<std::unique_ptr<tf::Endpoint>> make_endpoint(Segment segment, net::OwnedFd socket, Side side) {
  Result<Rings> rings = segment.rings(side);
  if (!rings) return rings.status();
  return std::unique_ptr<tf::Endpoint>(
      std::make_unique<ShmEndpoint>(std::move(segment), std::move(socket), *rings));
}

}  // namespace tf::shm
