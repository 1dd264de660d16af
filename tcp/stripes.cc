// SPDX-License-Identifier: Apache-2.0
// Cuts stripes into pieces, and finds the place of each piece that comes.
#include "tcp/stripes.h"

#include <algorithm>
#include <bit>
#include <string>

#include "tcp/seal.h"

namespace tf::tcp {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

Status not_possible(std::string_view what, std::string_view field, std::uint64_t value) {
  return {Code::kProtocol,
          std::string(what) + std::string(field) + " " + std::to_string(value) + " is not possible"};
}

std::uint64_t seal_of(const PieceHeader& header) {
  const std::uint64_t rest = std::uint64_t{header.bytes} | std::uint64_t{header.magic} << 32;
  return mix(mix(header.stripe, header.offset), rest);
}

Status validate(const PieceHeader& header) {
  if (header.magic != kPieceMagic) return not_possible("bulk piece: ", "magic", header.magic);
  if (header.seal != seal_of(header)) return not_possible("bulk piece: ", "seal", header.seal);
  if (header.stripe == 0) return not_possible("bulk piece: ", "stripe", header.stripe);
  if (header.bytes == 0 || header.bytes > kPieceBytesMax)
    return not_possible("bulk piece: ", "length", header.bytes);
  if (header.offset >= kStripeBytesMax) return not_possible("bulk piece: ", "offset", header.offset);
  return Status::ok();
}

Status validate_stripe(std::uint64_t bytes, std::uint64_t piece_bytes) {
  if (bytes == 0 || bytes > kStripeBytesMax) return not_possible("bulk piece: ", "stripe of length", bytes);
  if (piece_bytes < kPieceBytesMin || piece_bytes > kPieceBytesMax)
    return not_possible("bulk piece: ", "piece size", piece_bytes);
  return Status::ok();
}

std::size_t piece_bytes_for(std::size_t bytes, std::size_t backlog, unsigned lanes) {
  const std::size_t share = (bytes + backlog) / lanes;
  const std::size_t pages = (share + kPageBytes - 1) / kPageBytes;
  return std::clamp(backlog == 0 ? pages * kPageBytes : std::bit_ceil(share), kPieceBytesMin, kPieceBytesMax);
}

// --- Outgoing -------------------------------------------------------------------------------------------

void OutgoingStripes::add(std::uint64_t id, std::span<const std::byte> source, std::size_t piece_bytes) {
  const MutexLock lock(mutex_);
  ++last_;
  if (closed_) return;
  stripes_.push_back({.number = last_, .send = id, .source = source, .piece_bytes = piece_bytes});
  bytes_ += source.size();
  stripes_left_.store(stripes_.size(), std::memory_order_seq_cst);
}

std::size_t OutgoingStripes::backlog() const {
  const MutexLock lock(mutex_);
  return bytes_ + moving_.load(std::memory_order_relaxed);
}

std::optional<OutgoingStripes::Piece> OutgoingStripes::claim() {
  if (empty()) return std::nullopt;
  const MutexLock lock(mutex_);
  if (stripes_.empty()) return std::nullopt;
  Stripe& stripe = stripes_.front();
  const std::size_t bytes = std::min(stripe.piece_bytes, stripe.source.size() - stripe.claimed);
  Piece piece{.send = stripe.send, .header = {}, .source = stripe.source.subspan(stripe.claimed, bytes)};
  piece.header.stripe = stripe.number;
  piece.header.offset = stripe.claimed;
  piece.header.bytes = static_cast<std::uint32_t>(bytes);
  piece.header.seal = seal_of(piece.header);
  stripe.claimed += bytes;
  bytes_ -= bytes;
  moving_.fetch_add(bytes, std::memory_order_relaxed);
  if (stripe.claimed == stripe.source.size()) {
    stripes_.pop_front();
    stripes_left_.store(stripes_.size(), std::memory_order_seq_cst);
  }
  return piece;
}

void OutgoingStripes::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  stripes_.clear();
  bytes_ = 0;
  stripes_left_.store(0, std::memory_order_seq_cst);
}

// --- Incoming -------------------------------------------------------------------------------------------

void IncomingStripes::open(std::uint64_t tag, std::size_t bytes, std::size_t piece_bytes) {
  const MutexLock lock(mutex_);
  Stripe stripe{.tag = tag, .bytes = bytes, .piece_bytes = piece_bytes, .taken = {}, .segments = {}};
  stripe.taken.resize((bytes + piece_bytes - 1) / piece_bytes);
  stripes_.emplace(++last_, std::move(stripe));
  news_.fetch_add(1, std::memory_order_seq_cst);
}

Result<bool> IncomingStripes::reserve() {
  const MutexLock lock(mutex_);
  const auto newest = stripes_.find(last_);
  if (newest == stripes_.end()) return true;  // complete
  Stripe& stripe = newest->second;
  while (stripe.reserved < stripe.bytes) {
    const std::optional<BulkQueue::Incoming> incoming = queue_.find_receive(stripe.tag);
    if (!incoming) {
      TF_RETURN_IF_ERROR(queue_.judge_early(stripe.tag));
      return false;
    }
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(incoming->bytes, stripe.bytes - stripe.reserved));
    stripe.segments.push_back({.begin = stripe.reserved,
                               .bytes = bytes,
                               .target = incoming->is_discard ? nullptr : incoming->target.data(),
                               .receive = incoming->id});
    queue_.hand_over_receive(stripe.tag, bytes);
    stripe.reserved += bytes;
    news_.fetch_add(1, std::memory_order_seq_cst);
  }
  return true;
}

bool IncomingStripes::full() const {
  const MutexLock lock(mutex_);
  return stripes_.size() >= kStripesMax;
}

bool IncomingStripes::has_open(std::uint64_t tag) const {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(stripes_, [tag](const auto& each) { return each.second.tag == tag; });
}

Result<bool> IncomingStripes::take(const PieceHeader& header) {
  const MutexLock lock(mutex_);
  if (header.stripe > last_) return false;
  const auto found = stripes_.find(header.stripe);
  if (found == stripes_.end()) return not_possible("bulk piece: ", "stripe that is complete,", header.stripe);
  Stripe& stripe = found->second;
  if (header.offset >= stripe.bytes || header.offset % stripe.piece_bytes != 0)
    return not_possible("bulk piece: ", "offset", header.offset);
  if (header.bytes != std::min<std::uint64_t>(stripe.piece_bytes, stripe.bytes - header.offset))
    return not_possible("bulk piece: ", "length", header.bytes);
  const std::size_t index = static_cast<std::size_t>(header.offset) / stripe.piece_bytes;
  if (stripe.taken[index]) return not_possible("bulk piece: ", "second piece at offset", header.offset);
  stripe.taken[index] = true;
  return true;
}

// REQUIRES: reserved
const IncomingStripes::Segment& IncomingStripes::segment_at(const Stripe& stripe,
                                                            std::uint64_t offset) const {
  const auto after = std::ranges::upper_bound(stripe.segments, offset, {}, &Segment::begin);
  return *std::prev(after);
}

IncomingStripes::Place IncomingStripes::place(std::uint64_t number, std::uint64_t offset,
                                              std::size_t bytes) const {
  const MutexLock lock(mutex_);
  const auto found = stripes_.find(number);
  if (found == stripes_.end() || offset >= found->second.reserved) return {};
  const Stripe& stripe = found->second;
  const Segment& segment = segment_at(stripe, offset);
  const std::size_t skipped = static_cast<std::size_t>(offset) - segment.begin;
  Place place{.target = {}, .bytes = std::min(bytes, segment.bytes - skipped)};
  if (segment.target != nullptr) place.target = {segment.target + skipped, place.bytes};
  return place;
}

bool IncomingStripes::land(std::uint64_t number, std::uint64_t offset, std::size_t bytes) {
  const MutexLock lock(mutex_);
  const auto found = stripes_.find(number);
  Stripe& stripe = found->second;
  stripe.landed += bytes;
  const std::uint64_t tag = stripe.tag;
  const std::uint64_t receive = segment_at(stripe, offset).receive;
  const bool complete = stripe.landed == stripe.bytes;
  if (complete) stripes_.erase(found);
  return queue_.finish_receive(tag, receive, bytes) || complete;
}

}  // namespace tf::tcp
