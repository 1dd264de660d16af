// SPDX-License-Identifier: Apache-2.0
// Moves payload chunks over one socket, in both directions.
#include "tcp/bulk_lane.h"

#include <algorithm>
#include <utility>

#include "tcp/seal.h"
#include "transport/base/mutex.h"

namespace tf::tcp {
namespace {

constexpr std::size_t kMovedPerCallMax = 16 << 20;  // then the caller's other work gets its turn
constexpr std::size_t kScratchBytes = 64 * 1024;

}  // namespace

std::uint64_t seal_of(const ChunkHeader& header) {
  const std::uint64_t what = std::uint64_t{header.bytes} | std::uint64_t{header.flags} << 32;
  const std::uint64_t rest = std::uint64_t{header.reason} | std::uint64_t{header.magic} << 32;
  return mix(mix(header.tag, what), rest);
}

Status validate(const ChunkHeader& header) {
  if (header.magic != kChunkMagic) return not_possible("bulk chunk: ", "magic", header.magic);
  if (header.seal != seal_of(header)) return not_possible("bulk chunk: ", "seal", header.seal);
  if (header.flags > kChunkStripe) return not_possible("bulk chunk: ", "flags", header.flags);
  if (header.flags == kChunkStripe) return validate_stripe(header.bytes, header.reason);
  const bool abort = header.flags == kChunkAbort;
  if (header.bytes > kChunkBytesMax || (header.bytes == 0) != abort)
    return not_possible("bulk chunk: ", "length", header.bytes);
  if (!abort && header.reason != 0) return not_possible("bulk chunk: ", "reason", header.reason);
  return Status::ok();
}

Result<std::size_t> BulkLane::move() {
  const MutexLock lock(mutex_);
  if (!failure_.is_ok()) return failure_;
  seen_.store(posts_.load(std::memory_order_seq_cst), std::memory_order_seq_cst);
  std::size_t moved = 0;
  std::size_t step = 1;
  released_ = false;
  while (step > 0 && moved < kMovedPerCallMax) {
    Result<std::size_t> in = move_in();
    // A broken send alone ends nothing: bytes that the peer sent before it left are still to be read.
    Result<std::size_t> out = in ? move_out() : Result<std::size_t>(std::size_t{0});
    if (!in || (!out && *in == 0 && stalled_.load(std::memory_order_relaxed)))
      return stop_moving(in ? out.status() : in.status());
    step = *in + (out ? *out : 0);
    moved += step;
    if (!out && step == 0) return stop_moving(out.status());
  }
  // There may be more: a waiting thread must not sleep.
  if (moved >= kMovedPerCallMax) note_post();
  // Released memory may have ended a send: its owner must check before it waits.
  return moved == 0 && released_ ? std::size_t{1} : moved;
}

// --- In -------------------------------------------------------------------------------------------------

Result<std::size_t> BulkLane::move_in() {
  if (in_header_ < sizeof in_) return receive_header();
  if (in_.flags == kChunkAbort) return take_abort();
  if (in_.flags == kChunkStripe) return take_stripe();
  return receive_body();
}

Result<std::size_t> BulkLane::receive_header() {
  if (!io_.receiver->busy())
    io_.receiver->start(std::as_writable_bytes(std::span(&in_, 1)).subspan(in_header_));
  Result<std::size_t> got = io_.receiver->finish();
  if (!got) return got;
  in_header_ += *got;
  if (*got == 0 && !io_.receiver->busy()) note_post();  // cancelled with its thread: begin again
  if (in_header_ < sizeof in_) return got;
  TF_RETURN_IF_ERROR(validate(in_));
  in_body_ = in_.bytes;
  return got;
}

// Payload that was sent before the abort still comes, over piece lanes: until then its memory is in use.
Result<std::size_t> BulkLane::take_abort() {
  const bool early = pieces_ != nullptr && pieces_->incoming().has_open(in_.tag);
  stalled_.store(early, std::memory_order_release);
  if (early) return std::size_t{0};
  TF_RETURN_IF_ERROR(queue_.abort_receive(in_.tag, in_.reason));
  in_header_ = 0;
  return std::size_t{1};
}

Result<std::size_t> BulkLane::take_stripe() {
  if (pieces_ == nullptr)
    return not_possible("bulk chunk: ", "flags of an endpoint without piece lanes,", in_.flags);
  IncomingStripes& stripes = pieces_->incoming();
  if (!in_opened_ && !stripes.full()) {
    stripes.open(in_.tag, in_.bytes, in_.reason);
    in_opened_ = true;
  }
  const std::uint64_t before = stripes.news();
  Result<bool> reserved = in_opened_ ? stripes.reserve() : Result<bool>(false);
  if (!reserved) return reserved.status();
  pieces_->wake_stalled();
  stalled_.store(!*reserved, std::memory_order_release);
  if (!*reserved) return std::size_t{stripes.news() != before ? 1U : 0U};
  in_opened_ = false;
  in_header_ = 0;
  return std::size_t{1};
}

Result<std::size_t> BulkLane::receive_body() {
  if (!io_.receiver->busy()) {
    const std::optional<BulkQueue::Incoming> incoming = queue_.find_receive(in_.tag);
    stalled_.store(!incoming.has_value(), std::memory_order_release);
    if (!incoming) {
      TF_RETURN_IF_ERROR(queue_.judge_early(in_.tag));
      return std::size_t{0};
    }
    in_pinned_ = true;
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(in_body_, incoming->bytes));
    if (incoming->is_discard) {
      scratch_.resize(kScratchBytes);
      io_.receiver->start(std::span(scratch_).first(std::min(want, kScratchBytes)));
    } else {
      io_.receiver->start(incoming->target.first(want));
    }
  }
  Result<std::size_t> got = io_.receiver->finish();
  if (!got || io_.receiver->busy()) return got;
  if (*got == 0) note_post();
  in_pinned_ = false;
  in_body_ -= *got;
  if (in_body_ == 0) in_header_ = 0;
  queue_.advance_receive(in_.tag, *got);
  return got;
}

// --- Out ------------------------------------------------------------------------------------------------

Result<std::size_t> BulkLane::move_out() {
  release_sent();
  if (out_header_ == sizeof out_ && out_body_ == 0 && !next_chunk()) {
    if (!unreleased_.empty()) {
      TF_RETURN_IF_ERROR(io_.sender->finish().status());
      release_sent();
    }
    blocked_.store(!unreleased_.empty(), std::memory_order_release);
    return std::size_t{0};
  }
  Result<std::size_t> step = out_header_ < sizeof out_ ? send_header() : send_body();
  release_sent();
  blocked_.store(step && *step == 0, std::memory_order_release);  // pairs with output()
  return step;
}

bool BulkLane::next_chunk() {
  const std::optional<BulkQueue::Outgoing> next = queue_.next_send();
  if (!next) return false;
  if (pieces_ != nullptr && next->source.size() >= kStripedBytesMin) {
    const PieceLanes::Announced stripe = pieces_->take_stripe(*next);
    out_ = {.tag = next->tag, .bytes = stripe.bytes, .flags = kChunkStripe, .reason = stripe.piece_bytes};
    out_.seal = seal_of(out_);
    out_header_ = 0;
    return true;
  }
  out_pinned_ = true;
  out_ = {.tag = next->tag, .flags = next->is_abort ? kChunkAbort : 0, .reason = next->reason};
  out_.bytes = static_cast<std::uint32_t>(std::min(next->source.size(), kChunkBytesMax));
  out_.seal = seal_of(out_);
  out_header_ = 0;
  out_body_ = out_.bytes;
  return true;
}

Result<std::size_t> BulkLane::step_out(std::span<const std::byte> rest, bool is_body) {
  if (!io_.sender->busy()) io_.sender->start(rest, !is_body && out_body_ > 0);
  Result<std::size_t> sent = io_.sender->finish();
  if (sent && *sent == 0 && !io_.sender->busy()) note_post();
  if (sent && *sent > 0) unreleased_.push_back({.bytes = *sent, .send = is_body ? out_send_ : 0});
  return sent;
}

Result<std::size_t> BulkLane::send_header() {
  Result<std::size_t> sent = step_out(std::as_bytes(std::span(&out_, 1)).subspan(out_header_), false);
  if (!sent) return sent;
  out_header_ += *sent;
  if (out_header_ == sizeof out_ && out_.flags == kChunkStripe) pieces_->wake_for_stripes();
  if (out_header_ == sizeof out_ && out_.flags == kChunkAbort) {
    queue_.sent_abort();
    out_pinned_ = false;
  }
  return sent;
}

Result<std::size_t> BulkLane::send_body() {
  std::span<const std::byte> rest;
  if (!io_.sender->busy()) {
    const std::optional<BulkQueue::Outgoing> next = queue_.next_send();
    if (!next) return std::size_t{0};  // failed in the meantime: the endpoint tells us
    out_pinned_ = true;
    out_send_ = next->id;
    rest = next->source.first(std::min(out_body_, next->source.size()));
  }
  Result<std::size_t> sent = step_out(rest, true);
  if (!sent || *sent == 0) return sent;
  out_body_ -= *sent;
  queue_.hand_over_send(*sent);
  out_pinned_ = false;
  return sent;
}

// The engine frees memory in the order in which it was sent, headers included.
void BulkLane::release_sent() {
  std::size_t released = io_.sender->take_released();
  while (released > 0 && !unreleased_.empty()) {
    Segment& oldest = unreleased_.front();
    const std::size_t step = std::min(released, oldest.bytes);
    if (oldest.send != 0) {
      queue_.finish_send(oldest.send, step);
      released_ = true;
    }
    oldest.bytes -= step;
    released -= step;
    if (oldest.bytes == 0) unreleased_.pop_front();
  }
}

// --- Waiting and ending -----------------------------------------------------------------------------------

pollfd BulkLane::input() const {
  pollfd entry = io_.receiver->wait_for();
  if (is_over() || is_stalled()) entry.fd = -1;
  return entry;
}

pollfd BulkLane::output() const {
  pollfd entry = io_.sender->wait_for();
  if (is_over() || !blocked_.load(std::memory_order_acquire)) entry.fd = -1;  // pairs with move_out()
  return entry;
}

// If the peer is lost the endpoint ends the transfers, and decides when: there may be messages left.
Status BulkLane::stop_moving(const Status& status) {
  if (status.code() == Code::kPeerLost)
    close_locked(status);
  else
    end_locked(status);
  return failure_;
}

void BulkLane::close_locked(const Status& status) {
  if (!failure_.is_ok()) return;
  failure_ = status;
  io_.receiver->cancel();
  io_.sender->cancel();
  over_.store(true, std::memory_order_release);
}

void BulkLane::end_locked(const Status& status) {
  close_locked(status);
  if (std::exchange(ended_, true)) return;
  queue_.fail_all(status);
  if (in_pinned_) queue_.advance_receive(in_.tag, 0);
  if (out_pinned_) queue_.hand_over_send(0);
  for (const Segment& segment : unreleased_)
    if (segment.send != 0) queue_.finish_send(segment.send, segment.bytes);
  if (pieces_ != nullptr) pieces_->let_go();
}

void BulkLane::fail(const Status& status) {
  if (!mutex_.try_lock()) return;
  const MutexLock lock(mutex_, std::adopt_lock);
  end_locked(status);
}

void BulkLane::stop(const Status& status) {
  const MutexLock lock(mutex_);
  end_locked(status);
}

}  // namespace tf::tcp
