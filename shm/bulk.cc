// SPDX-License-Identifier: Apache-2.0
#include "shm/bulk.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tf::shm {
namespace {

constexpr std::size_t kPollChunks = 8;  // per direction and poll(): both directions get their turn

}  // namespace

Bulk::Bulk(const Rings& rings, std::function<Status()> status, std::function<void(Status)> fail)
    : out_(rings.bulk_out),
      in_(rings.bulk_in),
      own_(rings.own),
      peer_(rings.peer),
      status_(std::move(status)),
      fail_(std::move(fail)) {}

// What another thread posted is work for a mover of ours that may be asleep.
Status Bulk::posted(Status status) {
  if (status.is_ok()) own_.ring();
  return status;
}

Status Bulk::send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) {
  return posted(queue_.send(tag, source, completion));
}

Status Bulk::receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) {
  return posted(queue_.receive(tag, target, completion));
}

Status Bulk::discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) {
  return posted(queue_.discard(tag, bytes, completion));
}

Status Bulk::abort(std::uint64_t tag, std::uint32_t reason) { return posted(queue_.abort(tag, reason)); }

Result<std::size_t> Bulk::poll() {
  if (Status failure = status_(); !failure.is_ok() && drained()) return failure;
  const std::size_t sent = push();
  Result<std::size_t> received = pull();
  if (!received) {
    fail_(received.status());
    return received;
  }
  return sent + *received;
}

std::size_t Bulk::push() {
  std::size_t moved = 0;
  for (std::size_t chunk = 0; chunk < kPollChunks && queue_.has_send(); ++chunk) {
    auto next = queue_.next_send();
    if (!next) break;
    const std::size_t bytes = std::min(next->source.size(), kChunkBytes);
    Result<std::span<std::byte>> slot = out_.reserve(sizeof(ChunkHeader) + bytes);
    if (!slot) {
      queue_.advance_send(0);
      if (slot.code() != Code::kWouldBlock) fail_(slot.status());
      break;
    }
    const ChunkHeader header{next->tag, next->is_abort ? kChunkAbort : 0, next->reason};
    std::memcpy(slot->data(), &header, sizeof header);
    if (bytes != 0) std::memcpy(slot->data() + sizeof header, next->source.data(), bytes);
    out_.publish();
    peer_.ring();
    next->is_abort ? queue_.sent_abort() : queue_.advance_send(bytes);
    moved += std::max<std::size_t>(bytes, 1);
  }
  return moved;
}

Result<std::size_t> Bulk::pull() {
  std::size_t moved = 0;
  stalled_ = false;
  for (std::size_t chunk = 0; chunk < kPollChunks;) {
    Result<std::optional<std::span<const std::byte>>> record = in_.peek();
    if (!record) return record.status();
    if (!record->has_value()) break;
    const std::span<const std::byte> bytes = **record;
    ChunkHeader header;
    if (bytes.size() < sizeof header) return Status{Code::kProtocol, "bulk chunk shorter than its header"};
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::span<const std::byte> payload = bytes.subspan(sizeof header);
    if ((header.flags & ~kChunkAbort) != 0) return Status{Code::kProtocol, "bulk chunk with unknown flags"};
    if (header.flags == kChunkAbort) {
      if (!payload.empty()) return Status{Code::kProtocol, "bulk abort with a payload"};
      TF_RETURN_IF_ERROR(queue_.abort_receive(header.tag, header.reason));
    } else if (taken_ < payload.size()) {
      auto target = queue_.find_receive(header.tag);
      if (!target) {
        stalled_ = true;
        stalled_tag_ = header.tag;
        break;
      }
      const std::size_t part =
          static_cast<std::size_t>(std::min<std::uint64_t>(target->bytes, payload.size() - taken_));
      if (!target->is_discard) std::memcpy(target->target.data(), payload.data() + taken_, part);
      queue_.advance_receive(header.tag, part);
      taken_ += part;
      moved += part;
      if (taken_ < payload.size()) continue;
    }
    taken_ = 0;
    ++chunk;
    moved = std::max<std::size_t>(moved, 1);
    in_.consume();
    in_.release();
    peer_.ring();  // there is room again
  }
  return moved;
}

bool Bulk::ready() const {
  if (in_.has_record() && (!stalled_ || queue_.has_receive(stalled_tag_))) return true;
  return queue_.has_send() && out_.room_for(sizeof(ChunkHeader) + kChunkBytes);
}

}  // namespace tf::shm
