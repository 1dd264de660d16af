// SPDX-License-Identifier: Apache-2.0
// One mutex for the pair, one condition variable per side. Bytes are copied outside the mutex: into a
// chunk before it enters a pipe, and out of the front chunk, which only the receiving mover may touch.
// Lock order: Pair::mutex, then the mutex inside a BulkQueue.
#include "transport/loopback.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "transport/base/mutex.h"
#include "transport/bulk_queue.h"

namespace tf {
namespace {

constexpr std::size_t kChunkBytes = 64 * 1024;
constexpr std::size_t kPollBytesMax = 1024 * 1024;  // per direction and move_payload()

struct Chunk {
  std::uint64_t tag = 0;
  std::vector<std::byte> bytes;
  std::size_t taken = 0;
  bool is_abort = false;
  std::uint32_t reason = 0;
};

// Everything in flight from one side to the other.
struct Direction {
  std::deque<std::vector<std::byte>> messages;
  std::size_t message_bytes = 0;
  std::size_t wanted_bytes = 0;  // a reserve() of this size was refused; 0: none
  std::deque<Chunk> chunks;
  std::size_t chunk_bytes = 0;
};

struct Side {
  Direction out;
  CondVar wake;
  Status failure;       // sticky
  bool closed = false;  // its endpoint is gone
  BulkQueue bulk;
};

struct Pair {
  explicit Pair(LoopbackOptions wanted) : options(wanted) {}
  const LoopbackOptions options;
  Mutex mutex;
  std::array<Side, 2> sides;
};

class LoopbackEndpoint final : public Endpoint, private QueuedBulkPlane {
 public:
  LoopbackEndpoint(std::shared_ptr<Pair> pair, std::size_t side)
      : pair_(std::move(pair)), own_(pair_->sides[side]), peer_(pair_->sides[1 - side]) {}

  ~LoopbackEndpoint() override {
    {
      const MutexLock lock(pair_->mutex);
      own_.closed = true;
    }
    own_.bulk.fail_all({Code::kClosed, "the endpoint was closed with this bulk transfer pending"});
    peer_.wake.notify_all();
  }

  std::string_view transport() const override { return "loopback"; }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<Slot> reserve(std::size_t bytes) override {
    if (bytes < kFrameHeaderBytes || bytes > capabilities_.max_message_bytes)
      return Status(Code::kInvalidArgument, "a message has 24 bytes to max_message_bytes");
    const MutexLock lock(pair_->mutex);
    if (!own_.failure.is_ok()) return own_.failure;
    if (peer_.closed) return peer_lost();  // not sticky yet: the peer's messages may still be polled
    if (!has_room(bytes)) {
      own_.out.wanted_bytes = bytes;
      return would_block();
    }
    own_.out.wanted_bytes = 0;
    slot_.resize(bytes);
    return Slot{.bytes = slot_, .cookie = 0};
  }

  void publish(Slot) override {
    {
      const MutexLock lock(pair_->mutex);
      own_.out.message_bytes += slot_.size();
      own_.out.messages.push_back(std::exchange(slot_, {}));
    }
    peer_.wake.notify_all();
  }

  void abandon(Slot) override { slot_.clear(); }

  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override {
    std::size_t delivered = 0;
    while (delivered < limit) {
      std::vector<std::byte> message;
      Status status = take_message(message);
      if (status.code() == Code::kWouldBlock) break;
      if (!status.is_ok() && delivered > 0) break;  // reported at the next poll
      if (!status.is_ok()) return status;
      status = deliver(sink, message);
      if (!status.is_ok()) {
        fail(status);
        return status;
      }
      ++delivered;
    }
    return delivered;
  }

  BulkPlane& bulk() override { return *this; }

  Status wait(Interest interest, Deadline deadline) override {
    const MutexLock lock(pair_->mutex);
    for (;;) {
      note_peer_lost();
      if (!own_.failure.is_ok()) return own_.failure;
      if (can_progress(interest)) return Status::ok();
      if (deadline.passed()) return {Code::kTimeout, "nothing happened on the loopback before the deadline"};
      if (deadline.is_never())
        own_.wake.wait(pair_->mutex);
      else
        own_.wake.wait_for(pair_->mutex, deadline.remaining());
    }
  }

  void fail(Status reason) override {
    {
      const MutexLock lock(pair_->mutex);
      if (own_.failure.is_ok()) own_.failure = reason;
      own_.bulk.fail_all(own_.failure);
    }
    own_.wake.notify_all();
  }

  Status status() const override {
    const MutexLock lock(pair_->mutex);
    return own_.failure;
  }

 private:
  // --- QueuedBulkPlane ---
  BulkQueue& bulk_queue() override { return own_.bulk; }

  Result<std::size_t> move_payload() override {
    const std::size_t sent = push_chunks();
    std::size_t received = 0;
    while (received < kPollBytesMax) {
      const Result<std::size_t> step = take_from_front_chunk();
      if (!step) return step.status();
      if (step.value() == 0) break;
      received += step.value();
    }
    const MutexLock lock(pair_->mutex);
    note_peer_lost();
    if (!own_.failure.is_ok() && sent + received == 0) return own_.failure;
    return sent + received;
  }

  // Wakes our own sleeping mover after a user posted something. The empty critical section orders the post
  // before the sleeper's look at it or after its sleep has begun.
  Status posted(Status status) override {
    { const MutexLock lock(pair_->mutex); }
    own_.wake.notify_all();
    return status;
  }

  static Status peer_lost() { return {Code::kPeerLost, "the other end of the loopback was closed"}; }
  bool has_room(std::size_t bytes) const TF_REQUIRES(pair_->mutex) {
    return own_.out.message_bytes + bytes <= std::max(pair_->options.queue_bytes, bytes);
  }
  bool pipe_has_room() const TF_REQUIRES(pair_->mutex) {
    return own_.out.chunk_bytes < pair_->options.bulk_pipe_bytes;
  }
  bool front_chunk_can_move() const TF_REQUIRES(pair_->mutex) {
    const std::deque<Chunk>& chunks = peer_.out.chunks;
    if (chunks.empty()) return false;
    const std::uint64_t tag = chunks.front().tag;
    return chunks.front().is_abort || own_.bulk.has_receive(tag) || !own_.bulk.judge_early(tag).is_ok();
  }
  bool can_progress(Interest interest) const TF_REQUIRES(pair_->mutex) {
    const auto wants = static_cast<unsigned>(interest);
    const bool messages =
        (wants & static_cast<unsigned>(Interest::kMessages)) != 0 && !peer_.out.messages.empty();
    const bool bulk = (wants & static_cast<unsigned>(Interest::kBulk)) != 0 &&
                      ((own_.bulk.has_send() && pipe_has_room()) || front_chunk_can_move());
    const bool room = own_.out.wanted_bytes != 0 && has_room(own_.out.wanted_bytes);
    return messages || bulk || room;
  }
  // The peer is lost once everything it sent has been taken; payload that nobody receives does not count.
  void note_peer_lost() TF_REQUIRES(pair_->mutex) {
    if (!peer_.closed || !own_.failure.is_ok() || !peer_.out.messages.empty() || front_chunk_can_move())
      return;
    own_.failure = peer_lost();
    own_.bulk.fail_all(own_.failure);
    own_.wake.notify_all();
  }

  // --- messages ---
  Status take_message(std::vector<std::byte>& message) {
    const MutexLock lock(pair_->mutex);
    note_peer_lost();
    if (!own_.failure.is_ok()) return own_.failure;
    Direction& in = peer_.out;
    if (in.messages.empty()) return would_block();
    message = std::move(in.messages.front());
    in.messages.pop_front();
    in.message_bytes -= message.size();
    if (in.wanted_bytes != 0) peer_.wake.notify_all();
    return Status::ok();
  }

  Status deliver(MessageSink& sink, std::span<const std::byte> message) const {
    const Result<FrameHeader> header =
        read_header(message, capabilities_.max_message_bytes - kFrameHeaderBytes);
    if (!header) return header.status();
    if (header.value().payload_length != message.size() - kFrameHeaderBytes)
      return {Code::kProtocol, "the frame's payload_length does not fit its message"};
    return sink.on_message(header.value(), message.subspan(kFrameHeaderBytes));
  }

  // --- bulk ---
  std::size_t push_chunks() {
    std::size_t pushed = 0;
    while (pushed < kPollBytesMax) {
      {
        const MutexLock lock(pair_->mutex);
        if (!own_.failure.is_ok() || peer_.closed || !pipe_has_room()) break;
      }
      const std::optional<BulkQueue::Outgoing> next = own_.bulk.next_send();
      if (!next) break;
      Chunk chunk{
          .tag = next->tag, .bytes = {}, .taken = 0, .is_abort = next->is_abort, .reason = next->reason};
      const std::span<const std::byte> part = next->source.first(std::min(next->source.size(), kChunkBytes));
      chunk.bytes.assign(part.begin(), part.end());
      push_chunk(std::move(chunk));
      if (next->is_abort)
        own_.bulk.sent_abort();
      else
        own_.bulk.advance_send(part.size());
      pushed += next->is_abort ? 1 : part.size();  // an abort is progress too
    }
    return pushed;
  }

  void push_chunk(Chunk chunk) {
    {
      const MutexLock lock(pair_->mutex);
      own_.out.chunk_bytes += chunk.bytes.size();
      own_.out.chunks.push_back(std::move(chunk));
    }
    peer_.wake.notify_all();
  }

  // Moves bytes of the oldest chunk into the receive posted for it. 0: there is none, or no receive.
  Result<std::size_t> take_from_front_chunk() {
    Chunk* front = nullptr;
    {
      const MutexLock lock(pair_->mutex);
      if (!own_.failure.is_ok() || peer_.out.chunks.empty()) return std::size_t{0};
      front = &peer_.out.chunks.front();  // deque: the sender's push_back moves no element
    }
    if (front->is_abort) {
      if (Status status = own_.bulk.abort_receive(front->tag, front->reason); !status.is_ok()) {
        fail(status);
        return status;
      }
      pop_taken(*front, 0);
      return std::size_t{1};
    }
    const std::optional<BulkQueue::Incoming> incoming = own_.bulk.find_receive(front->tag);
    if (!incoming) {
      Status early = own_.bulk.judge_early(front->tag);
      if (early.is_ok()) return std::size_t{0};
      fail(early);
      return early;
    }
    const auto step = static_cast<std::size_t>(
        std::min<std::uint64_t>(front->bytes.size() - front->taken, incoming->bytes));
    if (!incoming->is_discard) std::memcpy(incoming->target.data(), front->bytes.data() + front->taken, step);
    own_.bulk.advance_receive(front->tag, step);
    pop_taken(*front, step);
    return step;
  }

  void pop_taken(Chunk& front, std::size_t step) {
    {
      const MutexLock lock(pair_->mutex);
      Direction& in = peer_.out;
      front.taken += step;
      in.chunk_bytes -= step;
      if (front.taken == front.bytes.size()) in.chunks.pop_front();
    }
    peer_.wake.notify_all();
  }

  const std::shared_ptr<Pair> pair_;
  Side& own_;
  Side& peer_;
  const Capabilities capabilities_;
  std::vector<std::byte> slot_;  // the producer's; the one message being filled
};

}  // namespace

std::pair<std::unique_ptr<Endpoint>, std::unique_ptr<Endpoint>> make_loopback_pair(LoopbackOptions options) {
  auto pair = std::make_shared<Pair>(options);
  return {std::make_unique<LoopbackEndpoint>(pair, 0), std::make_unique<LoopbackEndpoint>(pair, 1)};
}

}  // namespace tf
