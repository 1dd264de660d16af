// SPDX-License-Identifier: Apache-2.0
// The mover of the shm bulk plane: chunks into one ring and out of the other.
#include "shm/bulk.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace tf::shm {
namespace {

constexpr std::size_t kPollChunks = 8;  // per direction and move_payload(): both directions get their turn

Status wrong(const char* what) { return {Code::kProtocol, std::string("shm: bulk ") + what}; }

}  // namespace

Bulk::Bulk(const Rings& rings, BulkOwner& owner)
    : owner_(owner), out_(rings.bulk_out), in_(rings.bulk_in), own_(rings.own), peer_(rings.peer) {}

// What another thread posted is work for our mover, which may be asleep.
Status Bulk::posted(Status status) {
  if (status.is_ok()) own_.ring(kRingBulk);
  return status;
}

Result<std::size_t> Bulk::move_payload() {
  TF_RETURN_IF_ERROR(owner_.status());
  const std::size_t sent = push();
  const Result<std::size_t> received = pull();
  if (!received) {
    owner_.fail(received.status());
    return owner_.status();
  }
  const std::size_t moved = sent + received.value();
  if (moved == 0) TF_RETURN_IF_ERROR(owner_.look_now_and_then());
  return moved;
}

std::size_t Bulk::push() {
  std::size_t moved = 0;
  for (std::size_t chunk = 0; chunk < kPollChunks && queue_.has_send() && !owner_.peer_gone(); ++chunk) {
    const auto next = queue_.next_send();
    if (!next) break;
    const std::size_t bytes = std::min(next->source.size(), kChunkBytes);
    const std::span<std::byte> slot = out_.reserve(sizeof(ChunkHeader) + bytes);
    if (slot.empty()) {
      queue_.advance_send(0);
      if (out_.broken()) owner_.fail(wrong("ring: the consumer's position is impossible"));
      break;
    }
    const ChunkHeader header{
        .tag = next->tag, .flags = next->is_abort ? kChunkAbort : 0, .reason = next->reason};
    std::memcpy(slot.data(), &header, sizeof header);
    if (bytes != 0) std::memcpy(slot.data() + sizeof header, next->source.data(), bytes);
    out_.publish();
    peer_.ring(kRingBulk);
    next->is_abort ? queue_.sent_abort() : queue_.advance_send(bytes);
    moved += std::max<std::size_t>(bytes, 1);
  }
  return moved;
}

Result<std::size_t> Bulk::pull() {
  std::size_t moved = 0;
  for (std::size_t chunk = 0; chunk < kPollChunks; ++chunk) {
    const std::span<const std::byte> record = in_.peek();
    if (record.empty()) break;
    bool finished = false;
    const Result<std::size_t> step = take(record, finished);
    if (!step) return step;
    moved += step.value();
    if (!finished) break;
    taken_ = 0;
    in_.consume();
    in_.release();
    (void)in_.take_released();
    peer_.ring(kRingBulk);  // there is room again
    moved = std::max<std::size_t>(moved, 1);
  }
  if (in_.broken()) return wrong("ring: a record's length is impossible");
  return moved;
}

// Delivers as much of the chunk as receives are posted for; sets `finished` if that is all.
Result<std::size_t> Bulk::take(std::span<const std::byte> chunk, bool& finished) {
  ChunkHeader header;
  if (chunk.size() < sizeof header) return wrong("chunk shorter than its header");
  std::memcpy(&header, chunk.data(), sizeof header);
  const std::span<const std::byte> payload = chunk.subspan(sizeof header);
  if ((header.flags & ~kChunkAbort) != 0) return wrong("chunk with unknown flags");
  for (const std::uint64_t word : header.reserved)
    if (word != 0) return wrong("chunk with a reserved field set");
  if (header.flags != kChunkAbort) return take_payload(header.tag, payload, finished);
  if (!payload.empty()) return wrong("abort with a payload");
  TF_RETURN_IF_ERROR(queue_.abort_receive(header.tag, header.reason));
  finished = true;
  return std::size_t{0};
}

Result<std::size_t> Bulk::take_payload(std::uint64_t tag, std::span<const std::byte> payload,
                                       bool& finished) {
  std::size_t moved = 0;
  while (taken_ < payload.size()) {
    const auto target = queue_.find_receive(tag);
    if (!target) {
      TF_RETURN_IF_ERROR(queue_.judge_early(tag));
      stalled_tag_.store(tag, std::memory_order_relaxed);
      stalled_at_.store(in_.position(), std::memory_order_release);  // pairs with can_deliver()
      return moved;
    }
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(target->bytes, payload.size() - taken_));
    if (!target->is_discard) std::memcpy(target->target.data(), payload.data() + taken_, part);
    taken_ += part;
    moved += part;
    queue_.advance_receive(tag, part);
  }
  finished = true;
  return moved;
}

bool Bulk::can_deliver() const {
  if (!in_.has_record()) return false;
  // Acquire: pairs with the mover's store. A mover that moves on in the meantime looks for itself.
  if (stalled_at_.load(std::memory_order_acquire) != in_.position()) return true;
  return queue_.has_receive(stalled_tag_.load(std::memory_order_relaxed));
}

bool Bulk::ready() const {
  if (can_deliver()) return true;
  return queue_.has_send() && !owner_.peer_gone() && out_.has_room(sizeof(ChunkHeader) + kChunkBytes);
}

}  // namespace tf::shm
