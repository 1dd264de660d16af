// SPDX-License-Identifier: Apache-2.0
// Sends replies and reports to the client; keeps those that find no room.
#include "worker/base/sender.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "transport/base/mutex.h"
#include "transport/base/small_copy.h"

namespace tf::worker {
namespace {

std::byte* append(std::byte* target, std::span<const std::byte> part) {
  copy_small(target, part.data(), part.size());
  return target + part.size();
}

}  // namespace

bool Sender::try_send(std::span<const std::byte> frame, std::span<const std::byte> head,
                      std::span<const std::byte> tail) {
  const std::size_t bytes = frame.size() + head.size() + tail.size();
  Slot slot = endpoint_.try_reserve(bytes);
  if (slot.bytes.empty()) {
    const Result<Slot> reserved = endpoint_.reserve(bytes);
    if (reserved.code() == Code::kWouldBlock) return false;
    if (!reserved) {
      endpoint_.fail(reserved.status());
      return true;
    }
    slot = reserved.value();
  }
  append(append(append(slot.bytes.data(), frame), head), tail);
  endpoint_.publish(slot);
  SessionTally::add_alone(tally_.message_bytes_to_client, bytes);
  return true;
}

void Sender::send(FrameHeader header, std::span<const std::byte> head, std::span<const std::byte> tail) {
  header.payload_length = head.size() + tail.size();
  std::array<std::byte, kFrameHeaderBytes> frame;
  write_header(header, frame.data());

  const MutexLock lock(mutex_);
  if (closed_) return;
  if (outbox_.empty() && try_send(frame, head, tail)) return;
  if (outbox_.size() >= kOutboxMessagesMax) {
    endpoint_.fail({Code::kResourceExhausted, "the client does not read its replies"});
    return;
  }
  std::vector<std::byte> message(frame.size() + head.size() + tail.size());
  append(append(append(message.data(), frame), head), tail);
  outbox_.push_back(std::move(message));
  backlogged_.store(true, std::memory_order_release);  // pairs with backlogged()
}

void Sender::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
}

bool Sender::flush() {
  if (!backlogged()) return true;
  const MutexLock lock(mutex_);
  while (!outbox_.empty() && try_send(outbox_.front(), {}, {})) outbox_.pop_front();
  backlogged_.store(!outbox_.empty(), std::memory_order_release);  // pairs with backlogged()
  return outbox_.empty();
}

}  // namespace tf::worker
