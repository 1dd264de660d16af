// SPDX-License-Identifier: Apache-2.0
// Cuts stripes into pieces, and finds the place of each piece that comes.
#include "tcp/stripes.h"

#include <algorithm>
#include <iterator>

namespace tf::tcp {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kPiecesPerLane = 3;  // of what is left to send: who is quick takes a fourth
// Even pieces: smaller ones overlap no more than they cost. Whole pages would leave the last one uneven.
constexpr std::size_t kEvenBytesMin = 40 << 10;
constexpr std::size_t kEvenBytesStep = 1 << 10;
constexpr std::size_t kBusyBytesMin = 64 << 10;  // of lanes that have other work

constexpr std::size_t divided_up(std::size_t whole, std::size_t part) { return (whole + part - 1) / part; }
// In whole steps.
constexpr std::size_t divided_up(std::size_t whole, std::size_t part, std::size_t step) {
  return divided_up(divided_up(whole, part), step) * step;
}

// As many pieces for each lane.
std::size_t even_piece_bytes(std::size_t bytes, std::size_t lanes) {
  const std::size_t worthwhile = std::clamp<std::size_t>(bytes / (lanes * kEvenBytesMin), 1, kPiecesPerLane);
  const std::size_t each = std::max(worthwhile, divided_up(bytes, lanes * kPieceBytesMax));
  return std::clamp(divided_up(bytes, lanes * each, kEvenBytesStep), kPieceBytesMin, kPieceBytesMax);
}

}  // namespace

Status validate_stripe(std::uint64_t bytes, std::uint64_t piece_bytes) {
  if (bytes == 0 || bytes > kStripeBytesMax) return not_possible("bulk piece: ", "stripe of length", bytes);
  if (piece_bytes < kPieceBytesMin || piece_bytes > kPieceBytesMax)
    return not_possible("bulk piece: ", "piece size", piece_bytes);
  return Status::ok();
}

std::size_t piece_bytes_for(std::size_t bytes, std::size_t backlog, unsigned lanes) {
  if (backlog == 0 && lanes > 1) return even_piece_bytes(bytes, lanes);
  const std::size_t shares = lanes == 1 ? 1 : kPiecesPerLane * lanes;
  const std::size_t wanted = std::clamp((bytes + backlog) / shares, kBusyBytesMin, kPieceBytesMax);
  const std::size_t pieces = std::max((bytes + wanted / 2) / wanted, divided_up(bytes, kPieceBytesMax));
  return std::clamp(divided_up(bytes, pieces, kPageBytes), kBusyBytesMin, kPieceBytesMax);
}

// --- Outgoing -------------------------------------------------------------------------------------------

// Of one whose filling has stopped, the rest can be claimed as void.
bool OutgoingStripes::Stripe::can_be_claimed() const {
  return filling == nullptr || filling->reached() >= claimed + next_bytes() || filling->is_stopped();
}

std::size_t OutgoingStripes::Stripe::pieces_there() const {
  if (filling == nullptr || !can_be_claimed()) return 0;
  const std::size_t end = filling->is_stopped() ? source.size() : std::min(filling->reached(), source.size());
  return divided_up(end - claimed, piece_bytes);
}

void OutgoingStripes::count() {
  const auto stripes = std::ranges::count_if(stripes_, &Stripe::can_be_claimed);
  to_claim_.store(static_cast<std::size_t>(stripes) + unconfirmed_.lost(), std::memory_order_seq_cst);
}

void OutgoingStripes::add(std::uint64_t id, std::span<const std::byte> source, std::size_t piece_bytes,
                          const Filling* filling) {
  const MutexLock lock(mutex_);
  ++last_;
  if (closed_) return;
  stripes_.push_back(
      {.number = last_, .send = id, .source = source, .piece_bytes = piece_bytes, .filling = filling});
  if (filling == nullptr) bytes_ += source.size();
  count();
}

std::size_t OutgoingStripes::recount() {
  const MutexLock lock(mutex_);
  count();
  std::size_t pieces = 0;
  for (const Stripe& stripe : stripes_) pieces += stripe.pieces_there();
  return pieces;
}

std::size_t OutgoingStripes::backlog() const {
  const MutexLock lock(mutex_);
  return bytes_ + unconfirmed_.lost_bytes() + moving_.load(std::memory_order_relaxed);
}

// What was lost comes first: a transfer waits for it.
std::optional<OutgoingPiece> OutgoingStripes::next() {
  if (std::optional<OutgoingPiece> lost = unconfirmed_.take_lost()) return lost;
  const auto stripe = std::ranges::find_if(stripes_, &Stripe::can_be_claimed);
  if (stripe == stripes_.end()) return std::nullopt;
  const OutgoingPiece piece = cut(*stripe);
  if (stripe->claimed == stripe->source.size()) stripes_.erase(stripe);
  return piece;
}

OutgoingPiece OutgoingStripes::cut(Stripe& stripe) {
  const std::size_t bytes = stripe.next_bytes();
  const bool is_there = stripe.filling == nullptr || stripe.filling->reached() >= stripe.claimed + bytes;
  OutgoingPiece piece{
      .send = stripe.send, .header = {}, .source = stripe.source.subspan(stripe.claimed, bytes)};
  piece.header.stripe = stripe.number;
  piece.header.offset = stripe.claimed;
  piece.header.bytes = static_cast<std::uint32_t>(bytes);
  if (!is_there) piece.header.magic = kVoidPieceMagic;
  piece.header.seal = seal_of(piece.header);
  stripe.claimed += bytes;
  if (stripe.filling == nullptr) bytes_ -= bytes;
  return piece;
}

std::optional<OutgoingPiece> OutgoingStripes::claim(unsigned lane) {
  if (empty()) return std::nullopt;
  const MutexLock lock(mutex_);
  const std::optional<OutgoingPiece> piece = next();
  if (!piece) return std::nullopt;
  moving_.fetch_add(piece->source.size(), std::memory_order_relaxed);
  if (recoverable_) unconfirmed_.begin(*piece, lane);
  count();
  return piece;
}

bool OutgoingStripes::release(std::uint64_t send, const PieceId& piece, std::size_t bytes) {
  if (!recoverable_) return queue_.finish_send(send, bytes);
  const MutexLock lock(mutex_);
  const std::optional<Unconfirmed::Freed> freed = unconfirmed_.release(piece, bytes);
  return freed && queue_.finish_send(freed->send, freed->bytes);
}

Result<bool> OutgoingStripes::confirm(const PieceId& piece) {
  const MutexLock lock(mutex_);
  Result<std::optional<Unconfirmed::Freed>> freed = unconfirmed_.confirm(piece);
  if (!freed) return freed.status();
  count();
  return freed.value() && queue_.finish_send((*freed)->send, (*freed)->bytes);
}

bool OutgoingStripes::lose(unsigned lane) {
  const MutexLock lock(mutex_);
  bool ended = false;
  for (const Unconfirmed::Freed& freed : unconfirmed_.lose(lane))
    ended |= queue_.finish_send(freed.send, freed.bytes);
  if (closed_) unconfirmed_.forget_lost();
  count();
  return ended;
}

void OutgoingStripes::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  stripes_.clear();
  unconfirmed_.forget_lost();
  bytes_ = 0;
  count();
}

// --- Incoming -------------------------------------------------------------------------------------------

void IncomingStripes::open(std::uint64_t tag, std::size_t bytes, std::size_t piece_bytes) {
  const MutexLock lock(mutex_);
  Stripe stripe{
      .tag = tag, .bytes = bytes, .piece_bytes = piece_bytes, .pieces = {}, .cut = {}, .segments = {}};
  stripe.pieces.resize((bytes + piece_bytes - 1) / piece_bytes);
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
    std::byte* const target = incoming->is_discard ? nullptr : incoming->target.data();
    stripe.segments.push_back(
        {.begin = stripe.reserved,
         .bytes = bytes,
         .target = target,
         .is_streamed = stripe.bytes <= kStreamedStripeMax && device_reads_.holds(target),
         .receive = incoming->id});
    queue_.hand_over_receive(stripe.tag, bytes);
    stripe.reserved += bytes;
    news_.fetch_add(1, std::memory_order_seq_cst);
  }
  return true;
}

void IncomingStripes::expect_device_reads(std::span<std::byte> memory) {
  const MutexLock lock(mutex_);
  device_reads_.add(memory);
}

void IncomingStripes::forget(std::span<std::byte> memory) {
  const MutexLock lock(mutex_);
  device_reads_.remove(memory);
}

bool IncomingStripes::full() const {
  const MutexLock lock(mutex_);
  return stripes_.size() >= kStripesMax;
}

bool IncomingStripes::has_open(std::uint64_t tag) const {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(stripes_, [tag](const auto& each) { return each.second.tag == tag; });
}

Result<IncomingStripes::Taken> IncomingStripes::take(const PieceHeader& header) {
  const MutexLock lock(mutex_);
  if (header.stripe > last_) return Taken{};
  const auto found = stripes_.find(header.stripe);
  if (found != stripes_.end()) return take_locked(header, found->second);
  if (recoverable_) return Taken{.ready = true, .skip = header.bytes};
  return not_possible("bulk piece: ", "stripe that is complete,", header.stripe);
}

Result<IncomingStripes::Taken> IncomingStripes::take_locked(const PieceHeader& header, Stripe& stripe) {
  if (header.offset >= stripe.bytes || header.offset % stripe.piece_bytes != 0)
    return not_possible("bulk piece: ", "offset", header.offset);
  if (header.bytes != std::min<std::uint64_t>(stripe.piece_bytes, stripe.bytes - header.offset))
    return not_possible("bulk piece: ", "length", header.bytes);
  const std::size_t index = static_cast<std::size_t>(header.offset) / stripe.piece_bytes;
  PieceState& state = stripe.pieces[index];
  if (state != PieceState::kFree && !recoverable_)
    return not_possible("bulk piece: ", "second piece at offset", header.offset);
  // The sender knows of the loss of the lane that has it. This side's lane may not have ended yet.
  if (state == PieceState::kTaken) return Taken{};
  if (state == PieceState::kLanded) return Taken{.ready = true, .skip = header.bytes};
  state = PieceState::kTaken;
  const auto before = stripe.cut.find(index);
  return Taken{.ready = true, .skip = before == stripe.cut.end() ? 0 : before->second};
}

void IncomingStripes::cut(const PieceHeader& header, std::size_t landed) {
  const MutexLock lock(mutex_);
  const auto found = stripes_.find(header.stripe);
  if (found == stripes_.end()) return;
  const std::size_t index = static_cast<std::size_t>(header.offset) / found->second.piece_bytes;
  found->second.pieces[index] = PieceState::kFree;
  found->second.cut[index] = landed;
  news_.fetch_add(1, std::memory_order_seq_cst);
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
  Place place{
      .target = {}, .bytes = std::min(bytes, segment.bytes - skipped), .is_streamed = segment.is_streamed};
  if (segment.target != nullptr) place.target = {segment.target + skipped, place.bytes};
  return place;
}

bool IncomingStripes::land(std::uint64_t number, std::uint64_t offset, std::size_t bytes) {
  const MutexLock lock(mutex_);
  const auto found = stripes_.find(number);
  Stripe& stripe = found->second;
  stripe.landed += bytes;
  const auto end = static_cast<std::size_t>(offset) + bytes;
  if (end % stripe.piece_bytes == 0 || end == stripe.bytes)
    stripe.pieces[(end - 1) / stripe.piece_bytes] = PieceState::kLanded;
  const std::uint64_t tag = stripe.tag;
  const std::uint64_t receive = segment_at(stripe, offset).receive;
  const bool complete = stripe.landed == stripe.bytes;
  if (complete) stripes_.erase(found);
  return queue_.finish_receive(tag, receive, bytes) || complete;
}

bool IncomingStripes::land_void(const PieceHeader& header, const Taken& taken) {
  const MutexLock lock(mutex_);
  const auto found = stripes_.find(header.stripe);
  Stripe& stripe = found->second;
  stripe.landed += header.bytes - taken.skip;
  stripe.pieces[static_cast<std::size_t>(header.offset) / stripe.piece_bytes] = PieceState::kLanded;
  const bool complete = stripe.landed == stripe.bytes;
  if (complete) stripes_.erase(found);
  return complete;
}

}  // namespace tf::tcp
