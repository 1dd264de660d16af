// SPDX-License-Identifier: Apache-2.0
// The part of the bulk plane that client and worker share: records, polling, the end.
#include "rdma/bulk.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "transport/base/mutex.h"

namespace tf::rdma {
namespace {

constexpr std::chrono::seconds kFlushLimit{2};

Status wrong(const char* what) { return {Code::kProtocol, std::string("rdma: bulk ") + what}; }

}  // namespace

void Bulk::note_post() {
  news_.store(true, std::memory_order_release);  // pairs with look() and move_payload()
  owner_.wake();
}

// --- Movers -----------------------------------------------------------------------------------------------

Result<std::size_t> Bulk::move_payload() {
  TF_RETURN_IF_ERROR(owner_.status());
  const std::size_t moved = drain();
  if (moved != 0) return moved;
  end_overdue();
  TF_RETURN_IF_ERROR(owner_.look_now_and_then());
  return moved;
}

std::size_t Bulk::drain() {
  Result<std::size_t> moved = std::size_t{0};
  {
    const MutexLock lock(mutex_);
    news_.exchange(false, std::memory_order_acq_rel);  // pairs with note_post()
    moved = move_all();
  }
  if (moved) return moved.value();
  if (moved.code() == Code::kPeerLost)
    owner_.take_failure(moved.status());
  else
    owner_.fail(moved.status());
  return 0;
}

Result<std::size_t> Bulk::move_all() {
  if (over_) return std::size_t{0};
  Consumer& consumer = plane_.consumer();
  const Status arrived = consumer.poll();
  broken_ = broken_ || !arrived.is_ok();
  if (const auto told = consumer.take_told()) TF_RETURN_IF_ERROR(plane_.producer().note_told(*told));
  Result<std::size_t> taken = take_records();
  if (!taken) return taken;
  if (broken_) return taken.value() == 0 && !arrived.is_ok() ? Result<std::size_t>(arrived) : taken;
  Status status = plane_.producer().reap();
  if (status.is_ok() && plane_.producer().refused()) status = plane_.producer().take_kicks();
  Result<std::size_t> moved = status.is_ok() ? move() : Result<std::size_t>(status);
  if (!moved) {
    broken_ = true;
    return moved;
  }
  return moved.value() + taken.value();
}

Result<std::size_t> Bulk::take_records() {
  std::size_t count = 0;
  Status failure;
  while (const Record* const record = plane_.consumer().peek(sizeof(BulkNote) + kSmallBytes, failure)) {
    const auto op = static_cast<BulkOp>(record->header.opcode);
    const std::span<const std::byte> payload = record->payload;
    BulkNote note;
    if (payload.size() < sizeof note) return wrong("record of the wrong length");
    std::memcpy(&note, payload.data(), sizeof note);
    const std::span<const std::byte> data = payload.subspan(sizeof note);
    if (data.size() != (op == BulkOp::kData ? note.bytes : 0)) return wrong("record of the wrong length");
    TF_RETURN_IF_ERROR(take(op, note, data));
    plane_.consumer().consume();
    ++count;
  }
  TF_RETURN_IF_ERROR(failure);
  if (count != 0 && !broken_) {
    const Status advanced = plane_.consumer().advance();
    broken_ = !advanced.is_ok();
  }
  return count + std::exchange(told_bytes_, 0u);
}

// Empty: no room now.
Result<std::span<std::byte>> Bulk::room_for(std::size_t payload) {
  Producer& producer = plane_.producer();
  const std::span<std::byte> slot = producer.reserve(kFrameHeaderBytes + payload);
  return slot.empty() ? producer.reserve_slowly(kFrameHeaderBytes + payload) : slot;
}

Result<bool> Bulk::has_room() {
  const Result<std::span<std::byte>> slot = room_for(sizeof(BulkNote));
  return slot ? Result<bool>(!slot.value().empty()) : Result<bool>(slot.status());
}

Result<bool> Bulk::say(BulkOp op, const BulkNote& note, std::span<const std::byte> data) {
  const std::size_t payload = sizeof note + data.size();
  const Result<std::span<std::byte>> room = room_for(payload);
  if (!room) return room.status();
  const std::span<std::byte> slot = room.value();
  if (slot.empty()) return false;
  write_header({.opcode = static_cast<std::uint16_t>(op), .payload_length = payload}, slot.data());
  std::memcpy(slot.data() + kFrameHeaderBytes, &note, sizeof note);
  if (!data.empty()) std::memcpy(slot.data() + kFrameHeaderBytes + sizeof note, data.data(), data.size());
  TF_RETURN_IF_ERROR(plane_.producer().publish());
  return true;
}

bool Bulk::look(Look how) {
  if (news_.load(std::memory_order_acquire)) return true;
  if (how == Look::kAlways)
    mutex_.lock();
  else if (!mutex_.try_lock())
    return false;
  const MutexLock lock(mutex_, std::adopt_lock);
  if (broken_) return false;
  Consumer& consumer = plane_.consumer();
  Producer& producer = plane_.producer();
  // move_payload() will find any failure again.
  const bool failed = !consumer.poll().is_ok() || !producer.reap().is_ok() ||
                      (producer.refused() && !producer.take_kicks().is_ok());
  const bool came = consumer.has_record() || consumer.has_payload() || producer.has_payload();
  // Our own completions are missing; they come soon.
  const bool short_of_sends =
      producer.short_of_sends() || !producer.may_post_payload() || !consumer.may_post_payload();
  const bool room = producer.refusal_to_tell() != Producer::kNotRefused;
  if (!failed && !came && !short_of_sends && !room) return false;
  news_.store(true, std::memory_order_release);
  return true;
}

// --- The end ----------------------------------------------------------------------------------------------

bool Bulk::finish(std::uint64_t position) {
  const MutexLock lock(mutex_);
  return over_ || (plane_.consumer().finish(position) && !plane_.consumer().has_record());
}

// The queue pairs flush everything in flight at once. Then no device touches memory any more, and nothing
// completes before that. Only the worker's end waits, since its device moves the payload: for microseconds,
// even if the peer does not answer, since an error ends the retries. kFlushLimit passes only with a device
// that has itself failed (it does not change state, or gives no completions). Then a session's thread waits
// here that long; a program's thread never does. After that the queue pairs are destroyed, which releases the
// memory too: a thread that waits for completions before the endpoint goes would wait for ever.
void Bulk::fail_all(const Status& status) {
  const MutexLock lock(mutex_);
  broken_ = true;
  const Deadline deadline = Deadline::after(kFlushLimit);
  while (!is_flushed() && !over_) {
    over_ = deadline.passed();
    (void)plane_.consumer().poll();
    (void)plane_.producer().reap();
    std::this_thread::yield();
  }
  if (over_) plane_.destroy_queues();
  release_memory();
  queue_.fail_all(status);
  queue_.let_go();
}

}  // namespace tf::rdma
