// SPDX-License-Identifier: Apache-2.0
#include "shm/endpoint.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "shm/bulk.h"

namespace tf::shm {
namespace {

constexpr std::chrono::milliseconds kSleepMax{100};  // then look whether the peer still lives
constexpr std::uint32_t kEmptyPollsPerCheck = 4096;  // for callers that poll and never wait
constexpr std::uint32_t kSpinsPerClock = 16;

class ShmEndpoint final : public tf::Endpoint {
 public:
  ShmEndpoint(Segment segment, net::OwnedFd socket, const Rings& rings)
      : segment_(std::move(segment)),
        socket_(std::move(socket)),
        rings_(rings),
        out_(rings.messages_out),
        in_(rings.messages_in),
        bulk_(
            rings, [this] { return status(); }, [this](Status reason) { fail(std::move(reason)); }) {}

  ~ShmEndpoint() override {
    ::shutdown(socket_.get(), SHUT_RDWR);
    rings_.peer.wake();
    bulk_.fail_all({Code::kClosed, "the endpoint was closed with this bulk transfer pending"});
  }

  std::string_view transport() const override { return "shm"; }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<Slot> reserve(std::size_t bytes) override;
  void publish(Slot) override {
    out_.publish();
    rings_.peer.ring();
  }
  void abandon(Slot) override { out_.abandon(); }
  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override;
  BulkPlane& bulk() override { return bulk_; }
  Status wait(Interest interest, Deadline deadline) override;
  void fail(Status reason) override;
  Status status() const override;

 private:
  bool ready(Interest interest) const;
  bool spin(Interest interest, Deadline deadline);
  Status check_peer();
  Status deliver(std::span<const std::byte> message, MessageSink& sink);

  Segment segment_;
  net::OwnedFd socket_;
  Rings rings_;
  Capabilities capabilities_{.max_message_bytes = kMessageBytesMax,
                             .bulk_chunk_bytes = kChunkBytes,
                             .shared_memory = true,
                             .one_sided = false};
  RingProducer out_;
  RingConsumer in_;
  Bulk bulk_;
  SpinBudget spin_messages_;
  SpinBudget spin_bulk_;
  // Position of the peer's consumer that left no room for a reserve(); kNotBlocked otherwise. Written by the
  // producer, read by waiters; relaxed: the doorbell orders what matters.
  static constexpr std::uint64_t kNotBlocked = ~std::uint64_t{0};
  std::atomic<std::uint64_t> blocked_at_{kNotBlocked};
  std::uint32_t empty_polls_ = 0;  // consumer's
  std::atomic<bool> peer_gone_{false};
  std::atomic<bool> failed_{false};  // release after failure_ is set, acquire before it is read
  mutable std::mutex failure_mutex_;
  Status failure_;
};

Status ShmEndpoint::status() const {
  if (!failed_.load(std::memory_order_acquire)) return Status::ok();  // pairs with fail()
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

void ShmEndpoint::fail(Status reason) {
  {
    const std::lock_guard lock(failure_mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;
    failure_ = std::move(reason);
    failed_.store(true, std::memory_order_release);  // pairs with status()
  }
  bulk_.fail_all(status());
  rings_.own.wake();
}

Result<Slot> ShmEndpoint::reserve(std::size_t bytes) {
  if (failed_.load(std::memory_order_acquire)) return status();
  if (bytes < kFrameHeaderBytes || bytes > capabilities_.max_message_bytes)
    return Status{Code::kInvalidArgument, "a message has 24 bytes to max_message_bytes"};
  const std::uint64_t consumed = rings_.messages_out.consumed().load(std::memory_order_relaxed);
  Result<std::span<std::byte>> slot = out_.reserve(bytes);
  if (slot) {
    if (blocked_at_.load(std::memory_order_relaxed) != kNotBlocked)
      blocked_at_.store(kNotBlocked, std::memory_order_relaxed);
    return Slot{*slot, 0};
  }
  if (slot.code() == Code::kWouldBlock) {
    if (peer_gone_.load(std::memory_order_relaxed)) return Status{Code::kPeerLost, "shm: the peer has gone"};
    blocked_at_.store(consumed, std::memory_order_relaxed);
  } else {
    fail(slot.status());
  }
  return slot.status();
}

Status ShmEndpoint::deliver(std::span<const std::byte> message, MessageSink& sink) {
  Result<FrameHeader> header = read_header(message, kMessageBytesMax - kFrameHeaderBytes);
  if (!header) return header.status();
  const std::span<const std::byte> payload = message.subspan(kFrameHeaderBytes);
  if (header->payload_length != payload.size())
    return {Code::kProtocol, "frame payload_length is " + std::to_string(header->payload_length) +
                                 ", the record holds " + std::to_string(payload.size())};
  return sink.on_message(*header, payload);
}

Result<std::size_t> ShmEndpoint::poll(MessageSink& sink, std::size_t limit) {
  std::size_t delivered = 0;
  for (; delivered < limit; ++delivered) {
    if (failed_.load(std::memory_order_acquire)) {
      if (delivered != 0) break;
      return status();
    }
    auto record = in_.peek();
    if (!record) {
      fail(record.status());
      return record.status();
    }
    if (!record->has_value()) break;
    const Status taken = deliver(**record, sink);
    if (!taken.is_ok()) {
      fail(taken);
      return taken;
    }
    in_.consume();
  }
  if (delivered != 0) {
    rings_.peer.ring();  // a producer of the peer may wait for room
    empty_polls_ = 0;
    return delivered;
  }
  if (peer_gone_.load(std::memory_order_relaxed) || ++empty_polls_ % kEmptyPollsPerCheck == 0) {
    if (Status gone = check_peer(); !gone.is_ok()) {
      if (in_.has_record()) return std::size_t{0};  // published before it went: the next poll delivers it
      fail(gone);
      return gone;
    }
  }
  return std::size_t{0};
}

// A closed socket means that the peer closed its endpoint or died. What it had published stays readable.
Status ShmEndpoint::check_peer() {
  char byte = 0;
  const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return {Code::kProtocol, "shm: unexpected bytes on the lane's socket"};
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Status::ok();
  peer_gone_.store(true, std::memory_order_relaxed);
  return {Code::kPeerLost, "shm: the peer closed the endpoint or died"};
}

bool ShmEndpoint::ready(Interest interest) const {
  const auto wanted = static_cast<std::uint8_t>(interest);
  if (failed_.load(std::memory_order_acquire)) return true;
  if ((wanted & static_cast<std::uint8_t>(Interest::kMessages)) != 0 && in_.has_record()) return true;
  if ((wanted & static_cast<std::uint8_t>(Interest::kBulk)) != 0 && bulk_.ready()) return true;
  const std::uint64_t blocked = blocked_at_.load(std::memory_order_relaxed);
  return blocked != kNotBlocked && rings_.messages_out.consumed().load(std::memory_order_acquire) != blocked;
}

// True when something is ready within the budget.
bool ShmEndpoint::spin(Interest interest, Deadline deadline) {
  SpinBudget& budget = interest == Interest::kBulk ? spin_bulk_ : spin_messages_;
  const Deadline until = Deadline::after(budget.current()).sooner(deadline);
  for (;;) {
    for (std::uint32_t turn = 0; turn < kSpinsPerClock; ++turn) {
      if (ready(interest)) return true;
      spin_pause();
    }
    if (until.passed()) return false;
  }
}

Status ShmEndpoint::wait(Interest interest, Deadline deadline) {
  if (ready(interest)) return status();
  SpinBudget& budget = interest == Interest::kBulk ? spin_bulk_ : spin_messages_;
  const auto start = Deadline::Clock::now();
  bool found = spin(interest, deadline);
  while (!found) {
    if (deadline.passed()) return {Code::kTimeout, "shm: the deadline passed"};
    if (Status gone = check_peer(); !gone.is_ok()) {
      // The pollers report it once everything published before has been delivered.
      if (in_.has_record() || (interest != Interest::kMessages && !bulk_.drained())) return Status::ok();
      fail(gone);
      return gone;
    }
    const std::uint32_t seen = rings_.own.prepare();
    if (ready(interest)) {
      rings_.own.cancel();
      break;
    }
    const auto limit = Deadline::after(kSleepMax).sooner(deadline);
    rings_.own.sleep(seen, limit.remaining());
    found = ready(interest);
  }
  budget.learn(Deadline::Clock::now() - start);
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
