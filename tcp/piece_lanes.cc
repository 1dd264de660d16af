// SPDX-License-Identifier: Apache-2.0
// Gives work to piece lanes, and sees them end.
#include "tcp/piece_lanes.h"

#include <algorithm>
#include <utility>

namespace tf::tcp {
namespace {

Status closed() { return {Code::kClosed, "the lane was closed"}; }

// The network's doing. What a peer does wrong ends the endpoint, and so does what this process lacks.
bool is_loss(const Status& why) {
  switch (why.code()) {
    case Code::kPeerLost:
    case Code::kTimeout:
    case Code::kUnavailable: return true;
    default: return false;
  }
}

}  // namespace

PieceLanes::~PieceLanes() { stop(); }

void PieceLanes::add(LaneIo io, unsigned number) {
  lanes_.push_back(std::make_unique<PieceLane>(
      std::move(io), number,
      PieceLane::Parts{outgoing_, incoming_, static_cast<PieceLane::Listener&>(*this)}));
  alive_.fetch_add(1, std::memory_order_relaxed);
  holders_.fetch_add(1, std::memory_order_relaxed);
}

void PieceLanes::add_receipts(LaneIo io) {
  receipts_ = std::make_unique<ReceiptLane>(std::move(io), static_cast<ReceiptLane::Listener&>(*this));
}

Status PieceLanes::start() {
  if (receipts_ != nullptr) TF_RETURN_IF_ERROR(receipts_->start("hip-tcp-receipt"));
  for (const std::unique_ptr<PieceLane>& lane : lanes_) TF_RETURN_IF_ERROR(lane->start("hip-tcp-lane"));
  return Status::ok();
}

void PieceLanes::end() {
  outgoing_.close();
  for (const std::unique_ptr<PieceLane>& lane : lanes_) lane->end(closed());
  if (receipts_ != nullptr) receipts_->end(closed());
}

// Receipts of what the lanes took last leave after them.
void PieceLanes::stop() {
  outgoing_.close();
  for (const std::unique_ptr<PieceLane>& lane : lanes_) lane->end(closed());
  for (const std::unique_ptr<PieceLane>& lane : lanes_) lane->stop();
  if (receipts_ != nullptr) receipts_->stop();
}

void PieceLanes::drop(unsigned number, const Status& why) {
  for (const std::unique_ptr<PieceLane>& lane : lanes_)
    if (lane->number() == number) lane->end({Code::kPeerLost, why.message()});
}

Status PieceLanes::why_over() const {
  const MutexLock lock(mutex_);
  return why_;
}

bool PieceLanes::is_quiet() const {
  if (receipts_ != nullptr && !receipts_->is_over()) return false;
  return std::ranges::all_of(lanes_,
                             [](const auto& lane) { return lane->is_over() || lane->stays_stalled(); });
}

PieceLanes::Announced PieceLanes::take_stripe(const BulkQueue::Outgoing& send) {
  const std::span<const std::byte> stripe = send.source.first(std::min(send.source.size(), kStripeBytesMax));
  const std::size_t piece_bytes = piece_bytes_for(stripe.size(), outgoing_.backlog(), std::max(count(), 1U));
  queue_.hand_over_send(stripe.size());  // before any lane can have sent some
  outgoing_.add(send.id, stripe, piece_bytes, send.filling);
  if (send.filling == nullptr) untold_ += (stripe.size() + piece_bytes - 1) / piece_bytes;
  return {.bytes = static_cast<std::uint32_t>(stripe.size()),
          .piece_bytes = static_cast<std::uint32_t>(piece_bytes)};
}

// What has been filled before the stripe was added, filled() could not see.
void PieceLanes::wake_for_stripes() { wake_some(std::exchange(untold_, 0) + outgoing_.recount()); }

// One for each piece, of those that are not lost. Who loses one wakes the others.
void PieceLanes::wake_some(std::size_t pieces) {
  std::size_t woken = 0;
  for (std::size_t seen = 0; seen < lanes_.size() && woken < pieces; ++seen) {
    PieceLane& lane = *lanes_[next_.fetch_add(1, std::memory_order_relaxed) % lanes_.size()];
    if (lane.is_over()) continue;
    lane.wake();
    ++woken;
  }
}

void PieceLanes::wake_stalled() {
  for (const std::unique_ptr<PieceLane>& lane : lanes_)
    if (lane->is_stalled()) lane->wake();
}

// Afterwards the sends' memory is gone, and what says how far it is filled.
void PieceLanes::let_go() {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  outgoing_.close();
  queue_.let_go();
}

void PieceLanes::piece_landed(const PieceHeader& piece) {
  if (receipts_ != nullptr)
    receipts_->send({.what = piece.stripe, .offset = piece.offset, .kind = kReceiptPiece});
}

void PieceLanes::set_over(const Status& why) {
  {
    const MutexLock lock(mutex_);
    if (why_.is_ok()) why_ = why;
  }
  over_.store(true, std::memory_order_release);
}

void PieceLanes::lane_ended(const PieceLane& lane, const Status& why) {
  if (receipts_ != nullptr && is_loss(why))
    lose(lane, why);
  else
    set_over(why);
  let_go();
  if (is_over()) listener_.piece_lanes_over();
}

// On the lane's thread.
void PieceLanes::lose(const PieceLane& lane, const Status& why) {
  const bool ended = outgoing_.lose(lane.number());
  const unsigned left = alive_.fetch_sub(1, std::memory_order_relaxed) - 1;
  listener_.piece_lane_lost(lane.number(), why, left);
  if (left == 0) return set_over(why);
  receipts_->send({.what = lane.number(), .offset = 0, .kind = kReceiptLost});
  for (const std::unique_ptr<PieceLane>& each : lanes_) each->wake();
  if (ended) listener_.piece_moved();
}

Status PieceLanes::take_receipt(const Receipt& receipt) {
  if (receipt.kind == kReceiptPiece) {
    const Result<bool> ended = outgoing_.confirm({.stripe = receipt.what, .offset = receipt.offset});
    if (ended && ended.value()) listener_.piece_moved();
    return ended.status();
  }
  const auto is_named = [&](const auto& lane) { return lane->number() == receipt.what; };
  if (std::ranges::none_of(lanes_, is_named)) return not_possible("receipt: ", "connection", receipt.what);
  drop(static_cast<unsigned>(receipt.what), {Code::kPeerLost, "the peer has lost the connection"});
  return Status::ok();
}

void PieceLanes::receipts_ended(const Status& why) {
  set_over(why);
  listener_.piece_lanes_over();
}

}  // namespace tf::tcp
