// SPDX-License-Identifier: Apache-2.0
// Receives cipher text, and lets a crew open it.
#include "tcp/sealed_receiver.h"

#include <algorithm>
#include <cstring>

#include "transport/secure/records.h"

namespace tf::tcp {
namespace {

using secure::kRecordBytesMax;
using secure::kRecordHeaderBytes;
using secure::kRecordOverhead;

constexpr std::size_t kCipherBytes = 512 << 10;
// Of one receive: while helpers open these records, the next ones are received.
constexpr std::size_t kPieceBytes = 128 << 10;
static_assert(kCipherBytes >= kPieceBytes + kRecordBytesMax + kRecordOverhead);

}  // namespace

Result<std::unique_ptr<Receiver>> SealedReceiver::create(std::unique_ptr<Receiver> inner,
                                                         std::unique_ptr<Crew> crew) {
  Result<MirrorBuffer> wire = MirrorBuffer::create(kCipherBytes);
  if (!wire) return wire.status();
  return std::unique_ptr<Receiver>(new SealedReceiver(std::move(inner), std::move(crew), std::move(*wire)));
}

SealedReceiver::SealedReceiver(std::unique_ptr<Receiver> inner, std::unique_ptr<Crew> crew, MirrorBuffer wire)
    : inner_(std::move(inner)), wire_(std::move(wire)), plain_(kRecordBytesMax), crew_(std::move(crew)) {}

Result<std::size_t> SealedReceiver::finish() {
  if (target_.empty()) return std::size_t{0};
  const Result<std::size_t> filled = fill();
  // Busy, or to be begun again: the lane must not tell these apart from a plain engine's.
  if (!filled || filled.value() > 0 || !inner_->busy()) target_ = {};
  return filled;
}

void SealedReceiver::cancel() {
  crew_->abandon();
  inner_->cancel();
  target_ = {};
}

Result<std::size_t> SealedReceiver::fill() {
  if (!failure_.is_ok()) return failure_;
  if (!rest_.empty()) return take_rest();
  planned_ = 0;
  failure_ = post_and_receive();
  if (failure_.is_ok()) failure_ = take_all();
  if (!failure_.is_ok()) {
    crew_->abandon();
    return failure_;
  }
  if (planned_ == 0 && !ending_.is_ok()) return ending_;
  return planned_;
}

Status SealedReceiver::post_and_receive() {
  for (;;) {
    while (post_records())
      if (crew_->full()) TF_RETURN_IF_ERROR(take_front());
    if (planned_ > 0 && !crew_->has_helpers()) return Status::ok();
    if (planned_ == target_.size() || !ending_.is_ok()) return Status::ok();
    const std::optional<std::size_t> larger = next_record();
    if (larger) return planned_ > 0 ? Status::ok() : open_apart(*larger);
    while (!inner_->busy() && !crew_->empty() && wire_.capacity() - (end_ - opened_) < kPieceBytes)
      TF_RETURN_IF_ERROR(take_front());
    if (!receive()) return Status::ok();
  }
}

// False: no further record is whole, or fits into the target. True: the crew is full.
bool SealedReceiver::post_records() {
  for (;;) {
    const std::optional<std::size_t> record = next_record();
    if (!record) return false;
    const std::size_t plain = *record - kRecordOverhead;
    if (plain > target_.size() - planned_) return false;
    if (crew_->full()) return true;
    crew_->post(wire_.at(posted_, *record), target_.subspan(planned_, plain));
    planned_ += plain;
    posted_ += *record;
  }
}

// The bytes of the next record, if it is whole.
std::optional<std::size_t> SealedReceiver::next_record() {
  const auto have = static_cast<std::size_t>(end_ - posted_);
  if (have < kRecordHeaderBytes) return std::nullopt;
  const std::span<const std::byte> header = wire_.at(posted_, kRecordHeaderBytes);
  const Result<std::size_t> plain = secure::Opener::plain_bytes(header.first<kRecordHeaderBytes>());
  if (!plain) {
    ending_ = plain.status();
    return std::nullopt;
  }
  const std::size_t bytes = plain.value() + kRecordOverhead;
  return have < bytes ? std::nullopt : std::optional(bytes);
}

// A record that is larger than the whole target.
Status SealedReceiver::open_apart(std::size_t record) {
  const std::span<std::byte> plain = std::span(plain_).first(record - kRecordOverhead);
  crew_->post(wire_.at(posted_, record), plain);
  posted_ += record;
  TF_RETURN_IF_ERROR(take_front());
  rest_ = plain;
  planned_ = take_rest();
  return Status::ok();
}

std::size_t SealedReceiver::take_rest() {
  const std::size_t part = std::min(rest_.size(), target_.size());
  std::memcpy(target_.data(), rest_.data(), part);
  rest_ = rest_.subspan(part);
  return part;
}

// More cipher text. False: none for now, or no more at all. While the engine has the memory behind end_,
// nothing moves.
bool SealedReceiver::receive() {
  if (!inner_->busy()) {
    if (opened_ == end_) opened_ = posted_ = end_ = 0;  // stays in the cache
    const auto room = static_cast<std::size_t>(wire_.capacity() - (end_ - opened_));
    inner_->start(wire_.at(end_, crew_->has_helpers() ? std::min(room, kPieceBytes) : room));
  }
  const Result<std::size_t> got = inner_->finish();
  if (!got)
    ending_ = got.status();
  else
    end_ += got.value();
  return got && got.value() > 0;
}

Status SealedReceiver::take_front() {
  const std::size_t bytes = crew_->front().from.size();
  TF_RETURN_IF_ERROR(crew_->take_front());
  opened_ += bytes;
  return Status::ok();
}

Status SealedReceiver::take_all() {
  while (!crew_->empty()) TF_RETURN_IF_ERROR(take_front());
  return Status::ok();
}

}  // namespace tf::tcp
