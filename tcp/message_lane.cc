// SPDX-License-Identifier: Apache-2.0
// Moves messages over one socket: the publisher's sends, the sender thread, the scan of frames.
#include "tcp/message_lane.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "tcp/seal.h"
#include "transport/base/mutex.h"
#include "transport/frame.h"

namespace tf::tcp {
namespace {

// Direct sends in a row before the sender thread takes over. A call publishes one message; a copy two.
constexpr std::uint32_t kDirectStreak = 3;
// How long the sender thread stays awake with nothing to send: a futex wake costs 5 us.
constexpr std::chrono::microseconds kSenderLinger{30};
constexpr std::size_t kSendBytesMax = 256 * 1024;
constexpr int kStuckSlice_ms = 100;
constexpr std::size_t kPayloadBytesMax = kMessageBytesMax - kFrameHeaderBytes;

}  // namespace

Result<std::unique_ptr<MessageLane>> MessageLane::create(LaneIo io, net::Waker& waker) {
  Result<MirrorBuffer> out = MirrorBuffer::create(kMessageRingBytes);
  if (!out) return out.status();
  Result<MirrorBuffer> in = MirrorBuffer::create(kMessageRingBytes);
  if (!in) return in.status();
  std::unique_ptr<MessageLane> lane(new MessageLane(std::move(io), waker, std::move(*out), std::move(*in)));
  TF_RETURN_IF_ERROR(lane->thread_waker_.open());
  return lane;
}

MessageLane::MessageLane(LaneIo io, net::Waker& waker, MirrorBuffer out, MirrorBuffer in)
    : receiver_(std::move(io.receiver)),
      sender_(std::move(io.sender)),
      waker_(waker),
      out_(std::move(out)),
      in_(std::move(in)) {}

MessageLane::~MessageLane() { stop(); }

// --- Out ------------------------------------------------------------------------------------------------

std::uint64_t MessageLane::unsent() const {
  const std::uint64_t sent = sent_.load(std::memory_order_seq_cst);  // first: it never passes published_
  return published_.load(std::memory_order_seq_cst) - sent;
}

Result<Slot> MessageLane::reserve(std::size_t bytes) {
  if (bytes < kFrameHeaderBytes || bytes > kMessageBytesMax)
    return Status(Code::kInvalidArgument, "a message has 24 bytes to max_message_bytes");
  const std::uint64_t position = published_.load(std::memory_order_relaxed);  // our own
  const auto has_room = [&] {
    return position + bytes - sent_.load(std::memory_order_seq_cst) <= out_.capacity();
  };
  if (!has_room()) {
    wanted_.store(bytes, std::memory_order_seq_cst);  // pairs with send_some()
    flush();
    if (!has_room() && !broken_.load(std::memory_order_acquire)) return would_block();
    wanted_.store(0, std::memory_order_relaxed);
  }
  if (broken_.load(std::memory_order_acquire)) return broken_status_;  // pairs with send_some()
  return Slot{.bytes = out_.at(position, bytes), .cookie = position};
}

void MessageLane::publish(Slot slot) {
  FrameHeader header;
  std::memcpy(&header, slot.bytes.data(), sizeof header);
  header.magic = seal_of(header);
  write_header(header, slot.bytes.data());
  published_.store(slot.cookie + slot.bytes.size(), std::memory_order_seq_cst);
  const bool thread_awake = sender_state_.load(std::memory_order_seq_cst) == kAwake;
  if (thread_awake && unsent() < kSelfFlushBytes) return;
  if (!thread_awake && !thread_refused_.load(std::memory_order_relaxed) &&
      streak_.fetch_add(1, std::memory_order_relaxed) >= kDirectStreak)
    return wake_sender();
  flush();
}

void MessageLane::abandon() {}

bool MessageLane::has_wanted_room() const {
  const std::uint64_t wanted = wanted_.load(std::memory_order_seq_cst);
  if (wanted == 0) return false;
  return unsent() + wanted <= out_.capacity() || broken_.load(std::memory_order_acquire);
}

void MessageLane::flush() {
  send_queued();
  // The socket is full: from now on the sender thread watches it, so that nobody else has to.
  if (blocked()) wake_sender();
}

// A thread that finds the lock taken leaves its messages to the holder, which looks again after it unlocks.
void MessageLane::send_queued() {
  while (unsent() > 0) {
    if (!send_mutex_.try_lock()) return;
    const MutexLock lock(send_mutex_, std::adopt_lock);
    if (!send_some()) return;
  }
}

// Sends until nothing is left (true) or the socket is full (false).
bool MessageLane::send_some() {
  if (broken_.load(std::memory_order_relaxed)) {
    sent_.store(published_.load(std::memory_order_acquire), std::memory_order_seq_cst);
    return true;
  }
  std::uint64_t sent = sent_.load(std::memory_order_relaxed);
  bool blocked = false;
  while (!blocked) {
    const std::uint64_t queued = published_.load(std::memory_order_acquire) - sent;
    if (queued == 0 && !sender_->busy()) break;
    if (!sender_->busy())
      sender_->start(out_.at(sent, std::min<std::size_t>(static_cast<std::size_t>(queued), kSendBytesMax)),
                     false);
    Result<std::size_t> step = sender_->finish();
    if (!step) {
      broken_status_ = step.status();
      broken_.store(true, std::memory_order_release);
      sent = published_.load(std::memory_order_acquire);
      sent_.store(sent, std::memory_order_seq_cst);
      waker_.notify();
      break;
    }
    sender_->take_released();
    blocked = *step == 0 && sender_->busy();
    sent += *step;
    sent_.store(sent, std::memory_order_seq_cst);
    if (wanted_.load(std::memory_order_seq_cst) != 0 && has_wanted_room()) waker_.notify();
  }
  blocked_.store(blocked, std::memory_order_release);
  return !blocked;
}

void MessageLane::wake_sender() {
  if (!thread_started_.load(std::memory_order_acquire) && !start_sender()) return;
  if (sender_state_.exchange(kAwake, std::memory_order_seq_cst) == kAsleep) sender_state_.notify_one();
}

bool MessageLane::start_sender() {
  const MutexLock lock(thread_mutex_);
  if (thread_started_.load(std::memory_order_relaxed)) return true;
  try {
    thread_ = std::thread([this] { run_sender(); });
  } catch (const std::system_error&) {
    thread_refused_.store(true, std::memory_order_relaxed);
    return false;
  }
  thread_started_.store(true, std::memory_order_release);
  return true;
}

// Falls asleep by storing kAsleep and then looking at published_; a publisher stores published_ and then
// looks at the state. Both seq_cst: one of the two sees the other.
void MessageLane::run_sender() {
  while (!stopping_.load(std::memory_order_acquire)) {
    {
      const MutexLock lock(send_mutex_);
      send_some();
    }
    if (blocked()) {
      const int seat = thread_waker_.arm();
      pollfd entries[2] = {output(),
                           {.fd = thread_waker_.fd(std::max(seat, 0)), .events = POLLIN, .revents = 0}};
      if (!stopping_.load(std::memory_order_seq_cst)) ::poll(entries, 2, kStuckSlice_ms);
      thread_waker_.disarm(seat);
      continue;
    }
    if (unsent() > 0 || linger_for_more()) continue;
    sender_state_.store(kAsleep, std::memory_order_seq_cst);
    if (unsent() > 0 || stopping_.load(std::memory_order_seq_cst)) {
      sender_state_.store(kAwake, std::memory_order_seq_cst);
      continue;
    }
    streak_.store(0, std::memory_order_relaxed);
    sender_state_.wait(kAsleep, std::memory_order_seq_cst);
    sender_state_.store(kAwake, std::memory_order_seq_cst);
  }
}

// Yields, so that on a shared core the publisher continues and messages gather. True: there is more.
bool MessageLane::linger_for_more() {
  const Deadline end = Deadline::after(kSenderLinger);
  while (!end.passed() && !stopping_.load(std::memory_order_acquire)) {
    if (unsent() > 0) return true;
    ::sched_yield();
  }
  return false;
}

bool MessageLane::drain(Deadline deadline) {
  for (;;) {
    {
      const MutexLock lock(send_mutex_);
      send_some();
    }
    if (broken_.load(std::memory_order_acquire)) return false;
    if (unsent() == 0) return true;
    if (deadline.passed()) return false;
    pollfd entry = output();
    ::poll(&entry, 1, deadline.poll_timeout_ms(kStuckSlice_ms));
  }
}

void MessageLane::stop() {
  stopping_.store(true, std::memory_order_seq_cst);
  if (thread_started_.load(std::memory_order_acquire) && thread_.joinable()) {
    sender_state_.store(kAwake, std::memory_order_seq_cst);
    sender_state_.notify_one();
    thread_waker_.notify();
    thread_.join();
  }
  {
    const MutexLock lock(send_mutex_);
    sender_->cancel();
  }
  const MutexLock lock(receive_mutex_);
  receiver_->cancel();
}

// --- In -------------------------------------------------------------------------------------------------

bool MessageLane::look() {
  if (streak_.load(std::memory_order_relaxed) != 0) streak_.store(0, std::memory_order_relaxed);
  const auto ready = [this] {
    return complete_.load(std::memory_order_acquire) != read_.load(std::memory_order_acquire) ||
           ended_.load(std::memory_order_acquire);
  };
  if (ready()) return true;
  if (!receive_mutex_.try_lock()) return ready();  // that thread looks for us
  const MutexLock lock(receive_mutex_, std::adopt_lock);
  while (!ready() && fill_locked()) {
  }
  return ready();
}

// True: bytes came.
bool MessageLane::fill_locked() {
  if (!ending_.is_ok()) return false;
  if (!receiver_->busy()) {
    const std::uint64_t used = written_ - read_.load(std::memory_order_acquire);
    if (used == in_.capacity()) return false;
    receiver_->start(in_.at(written_, in_.capacity() - static_cast<std::size_t>(used)));
  }
  Result<std::size_t> got = receiver_->finish();
  if (!got) {
    ending_ = got.status();
    ended_.store(true, std::memory_order_release);
    return false;
  }
  written_ += *got;
  if (*got > 0) scan_locked();
  return *got > 0 || !receiver_->busy();  // cancelled with the thread that began it: begin again
}

// Restores the header that the peer published. kProtocol: the seal does not match, or the header is invalid.
Status MessageLane::open_header(FrameHeader& header) {
  if (header.magic != seal_of(header))
    return {Code::kProtocol, "tcp: a message header that does not fit its seal (opcode " +
                                 std::to_string(header.opcode) + ", request " +
                                 std::to_string(header.request_id) + ", payload of " +
                                 std::to_string(header.payload_length) + " bytes)"};
  header.magic = kFrameMagic;
  return validate(header, kPayloadBytesMax);
}

// Finds the end of the last complete frame, and checks every header on the way.
void MessageLane::scan_locked() {
  while (written_ - scanned_ >= kFrameHeaderBytes) {
    FrameHeader header;
    std::memcpy(&header, in_.at(scanned_, sizeof header).data(), sizeof header);
    if (Status status = open_header(header); !status.is_ok()) {
      ending_ = std::move(status);
      break;
    }
    const std::uint64_t bytes = kFrameHeaderBytes + header.payload_length;
    if (written_ - scanned_ < bytes) break;
    scanned_ += bytes;
  }
  complete_.store(scanned_, std::memory_order_release);
  if (!ending_.is_ok()) ended_.store(true, std::memory_order_release);
}

bool MessageLane::at_end(Status& why) {
  if (!look() || !ended_.load(std::memory_order_acquire)) return false;
  if (complete_.load(std::memory_order_acquire) != read_.load(std::memory_order_acquire)) return false;
  why = take_ending();
  return true;
}

Status MessageLane::take_ending() {
  const MutexLock lock(receive_mutex_);
  return ending_;
}

Result<std::size_t> MessageLane::poll(MessageSink& sink, std::size_t limit) {
  std::size_t delivered = 0;
  while (delivered < limit && look()) {
    const std::uint64_t position = read_.load(std::memory_order_relaxed);  // our own
    if (complete_.load(std::memory_order_acquire) == position) {           // ended, and nothing is left
      // Bytes may have been completed between look() and ended_: ended_ is set last, so look once more.
      if (!ended_.load(std::memory_order_acquire)) continue;
      if (complete_.load(std::memory_order_acquire) != position) continue;
      if (delivered > 0) break;  // reported at the next poll
      return take_ending();
    }
    FrameHeader header;
    std::memcpy(&header, in_.at(position, sizeof header).data(), sizeof header);
    header.magic = kFrameMagic;  // the seal was checked on arrival
    const std::span<const std::byte> payload =
        in_.at(position + kFrameHeaderBytes, static_cast<std::size_t>(header.payload_length));
    const Status status = sink.on_message(header, payload);
    read_.store(position + kFrameHeaderBytes + payload.size(), std::memory_order_release);
    if (!status.is_ok()) return status;
    ++delivered;
  }
  return delivered;
}

}  // namespace tf::tcp
