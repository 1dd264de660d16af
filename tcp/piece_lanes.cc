// SPDX-License-Identifier: Apache-2.0
// Gives work to piece lanes, and sees them end.
#include "tcp/piece_lanes.h"

#include <algorithm>
#include <utility>

namespace tf::tcp {

PieceLanes::~PieceLanes() { stop(); }

void PieceLanes::add(LaneIo io) {
  lanes_.push_back(std::make_unique<PieceLane>(
      std::move(io),
      PieceLane::Parts{outgoing_, incoming_, queue_, static_cast<PieceLane::Listener&>(*this)}));
  holders_.fetch_add(1, std::memory_order_relaxed);
}

Status PieceLanes::start() {
  for (const std::unique_ptr<PieceLane>& lane : lanes_) TF_RETURN_IF_ERROR(lane->start());
  return Status::ok();
}

void PieceLanes::end() {
  outgoing_.close();
  for (const std::unique_ptr<PieceLane>& lane : lanes_) lane->end();
}

void PieceLanes::stop() {
  end();
  for (const std::unique_ptr<PieceLane>& lane : lanes_) lane->stop();
}

Status PieceLanes::why_over() const {
  const MutexLock lock(mutex_);
  return why_;
}

bool PieceLanes::is_quiet() const {
  return std::ranges::all_of(lanes_,
                             [](const auto& lane) { return lane->is_over() || lane->stays_stalled(); });
}

PieceLanes::Announced PieceLanes::take_stripe(std::uint64_t id, std::span<const std::byte> source) {
  const std::span<const std::byte> stripe = source.first(std::min(source.size(), kStripeBytesMax));
  const std::size_t piece_bytes = piece_bytes_for(stripe.size(), outgoing_.backlog(), count());
  queue_.hand_over_send(stripe.size());  // before any lane can have sent some
  outgoing_.add(id, stripe, piece_bytes);
  const std::size_t pieces = (stripe.size() + piece_bytes - 1) / piece_bytes;
  for (std::size_t woken = std::min(pieces, lanes_.size()); woken > 0; --woken)
    lanes_[next_++ % lanes_.size()]->wake();
  return {.bytes = static_cast<std::uint32_t>(stripe.size()),
          .piece_bytes = static_cast<std::uint32_t>(piece_bytes)};
}

void PieceLanes::wake_stalled() {
  for (const std::unique_ptr<PieceLane>& lane : lanes_)
    if (lane->is_stalled()) lane->wake();
}

void PieceLanes::let_go() {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) queue_.let_go();
}

void PieceLanes::lane_ended(const Status& why) {
  {
    const MutexLock lock(mutex_);
    if (why_.is_ok()) why_ = why;
  }
  over_.store(true, std::memory_order_release);
  let_go();
  listener_.piece_lane_over();
}

}  // namespace tf::tcp
