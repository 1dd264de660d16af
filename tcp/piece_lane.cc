// SPDX-License-Identifier: Apache-2.0
// Moves pieces over one socket, in both directions.
#include "tcp/piece_lane.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "transport/base/streaming_copy.h"

namespace tf::tcp {
namespace {

constexpr std::size_t kDiscardBytes = 64 * 1024;
constexpr std::size_t kBounceBytes = 128 * 1024;  // stays in the second cache

}  // namespace

void PieceLane::let_go(const Status&) {
  io_.receiver->cancel();
  io_.sender->cancel();
  if (out_) parts_.outgoing.sent(out_->source.size());
  const bool has_part = in_header_ == sizeof in_ && taken_.ready && taken_.skip < in_.bytes;
  if (has_part) parts_.incoming.cut(in_, std::max(landed_, taken_.skip));
}

// --- In -------------------------------------------------------------------------------------------------

Result<std::size_t> PieceLane::move_in() {
  if (in_header_ < sizeof in_) return receive_header();
  return in_.is_void() ? receive_void() : receive_body();
}

Result<std::size_t> PieceLane::receive_header() {
  if (!io_.receiver->busy())
    io_.receiver->start(std::as_writable_bytes(std::span(&in_, 1)).subspan(in_header_));
  Result<std::size_t> got = io_.receiver->finish();
  if (!got) return got;
  again_ |= *got == 0 && !io_.receiver->busy();
  in_header_ += *got;
  if (in_header_ < sizeof in_) return got;
  taken_ = {};
  landed_ = 0;
  TF_RETURN_IF_ERROR(validate(in_));
  return got;
}

// Whether it goes on, which `begin` says: otherwise the lane is stalled.
template <typename Begin>
Result<bool> PieceLane::go_on(Begin begin) {
  const std::uint64_t news = parts_.incoming.news();
  const Result<bool> begun = begin();
  if (!begun) return begun;
  if (!begun.value()) seen_news_.store(news, std::memory_order_relaxed);
  stalled_.store(!begun.value(), std::memory_order_seq_cst);
  return begun;
}

Result<std::size_t> PieceLane::receive_void() {
  const Result<bool> taken = go_on([this] { return take_piece(); });
  if (!taken) return taken.status();
  if (!taken.value()) return std::size_t{0};
  in_header_ = 0;
  if (taken_.skip == in_.bytes) return std::size_t{1};  // it has come before, and has its receipt
  if (parts_.incoming.land_void(in_, taken_)) parts_.listener.transfer_ended();
  parts_.listener.piece_landed(in_);
  return std::size_t{1};
}

Result<std::size_t> PieceLane::receive_body() {
  if (!io_.receiver->busy()) {
    const Result<bool> begun = go_on([this] { return begin_body(); });
    if (!begun) return begun.status();
    if (!begun.value()) return std::size_t{0};
  }
  Result<std::size_t> got = io_.receiver->finish();
  if (!got) return got;
  again_ |= *got == 0 && !io_.receiver->busy();
  if (*got > 0) take_body(*got);
  return got;
}

void PieceLane::receive_into_scratch(std::size_t bytes) {
  scratch_.resize(kDiscardBytes);
  io_.receiver->start(std::span(scratch_).first(std::min(bytes, kDiscardBytes)));
}

void PieceLane::receive_into_bounce(std::span<std::byte> target) {
  bounce_.resize(kBounceBytes);
  beyond_bounce_ = target.data();
  io_.receiver->start(std::span(bounce_).first(std::min(target.size(), kBounceBytes)));
}

// False: the piece is not announced yet.
Result<bool> PieceLane::take_piece() {
  if (taken_.ready) return true;
  const Result<IncomingStripes::Taken> taken = parts_.incoming.take(in_);
  if (!taken) return taken.status();
  taken_ = taken.value();
  return taken_.ready;
}

// The same, or its memory is not reserved.
Result<bool> PieceLane::begin_body() {
  const Result<bool> taken = take_piece();
  if (!taken || !taken.value()) return taken;
  if (landed_ < taken_.skip) {
    receive_into_scratch(taken_.skip - landed_);
    return true;
  }
  const IncomingStripes::Place place =
      parts_.incoming.place(in_.stripe, in_.offset + landed_, in_.bytes - landed_);
  if (place.bytes == 0) return false;
  beyond_bounce_ = nullptr;
  if (place.target.empty())
    receive_into_scratch(place.bytes);
  else if (place.is_streamed)
    receive_into_bounce(place.target);
  else
    io_.receiver->start(place.target);
  return true;
}

void PieceLane::take_body(std::size_t bytes) {
  const std::uint64_t offset = in_.offset + landed_;
  const bool skipped = landed_ < taken_.skip;  // no receive is of both kinds
  landed_ += bytes;
  if (landed_ == in_.bytes) in_header_ = 0;
  if (skipped) return;
  if (beyond_bounce_ != nullptr) streaming_copy(beyond_bounce_, bounce_.data(), bytes);
  if (parts_.incoming.land(in_.stripe, offset, bytes)) parts_.listener.transfer_ended();
  if (landed_ == in_.bytes) parts_.listener.piece_landed(in_);
}

// --- Out ------------------------------------------------------------------------------------------------

Result<std::size_t> PieceLane::move_out() {
  release_sent();
  if (!out_) {
    out_ = parts_.outgoing.claim(number_);
    out_header_ = out_body_ = 0;
  }
  if (!out_) {
    if (!unreleased_.empty()) {
      TF_RETURN_IF_ERROR(io_.sender->finish().status());
      release_sent();
    }
    blocked_ = !unreleased_.empty();
    return std::size_t{0};
  }
  const std::span<const std::byte> header = std::as_bytes(std::span(&out_->header, 1));
  const bool is_body = out_header_ == header.size();
  Result<std::size_t> sent =
      send_part(is_body ? out_->source.subspan(out_body_) : header.subspan(out_header_), is_body);
  blocked_ = sent && *sent == 0;
  if (!sent || *sent == 0) return sent;
  (is_body ? out_body_ : out_header_) += *sent;
  const bool is_void = out_->header.is_void();
  if (is_void ? out_header_ == header.size() : out_body_ == out_->source.size()) piece_sent();
  release_sent();
  return sent;
}

void PieceLane::piece_sent() {
  parts_.outgoing.sent(out_->source.size());
  if (out_->header.is_void() && parts_.outgoing.release(out_->send, out_->id(), out_->source.size()))
    parts_.listener.transfer_ended();
  out_.reset();
}

Result<std::size_t> PieceLane::send_part(std::span<const std::byte> part, bool is_body) {
  if (!io_.sender->busy()) io_.sender->start(part, !is_body && !out_->header.is_void());
  Result<std::size_t> sent = io_.sender->finish();
  again_ |= sent && *sent == 0 && !io_.sender->busy();
  if (sent && *sent > 0)
    unreleased_.push_back({.send = is_body ? out_->send : 0, .piece = out_->id(), .bytes = *sent});
  return sent;
}

// The engine frees memory in the order in which it was sent, headers included.
void PieceLane::release_sent() {
  std::size_t released = io_.sender->take_released();
  bool ended = false;
  while (released > 0 && !unreleased_.empty()) {
    Segment& oldest = unreleased_.front();
    const std::size_t step = std::min(released, oldest.bytes);
    if (oldest.send != 0) ended |= parts_.outgoing.release(oldest.send, oldest.piece, step);
    oldest.bytes -= step;
    released -= step;
    if (oldest.bytes == 0) unreleased_.pop_front();
  }
  if (ended) parts_.listener.transfer_ended();
}

// --- Waiting --------------------------------------------------------------------------------------------

pollfd PieceLane::input() const {
  pollfd entry = io_.receiver->wait_for();
  if (is_stalled()) entry.fd = -1;
  return entry;
}

pollfd PieceLane::output() const {
  pollfd entry = io_.sender->wait_for();
  if (!blocked_) entry.fd = -1;
  return entry;
}

bool PieceLane::has_work() {
  if (!out_ && !parts_.outgoing.empty()) return true;
  return is_stalled() && !stays_stalled();
}

}  // namespace tf::tcp
