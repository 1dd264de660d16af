// SPDX-License-Identifier: Apache-2.0
// Posts records to a crew, and sends what it has sealed.
#include "tcp/overlapped_sender.h"

#include <algorithm>
#include <cstring>

#include "transport/secure/records.h"

namespace tf::tcp {
namespace {

using secure::kRecordBytesMax;
using secure::kRecordOverhead;

// How far sealing may be ahead of sending: seven whole records. They stay in a processor's cache.
constexpr std::size_t kSealedAheadBytes = 512 << 10;

}  // namespace

Result<std::unique_ptr<Sender>> OverlappedSender::create(std::unique_ptr<Sender> inner,
                                                         std::unique_ptr<Crew> crew) {
  Result<MirrorBuffer> wire = MirrorBuffer::create(kSealedAheadBytes);
  if (!wire) return wire.status();
  return std::unique_ptr<Sender>(new OverlappedSender(std::move(inner), std::move(crew), std::move(*wire)));
}

void OverlappedSender::start(std::span<const std::byte> source, bool more) {
  source_ = source;
  more_ = more;
}

Result<std::size_t> OverlappedSender::finish() {
  Result<std::size_t> accepted = failure_.is_ok() ? accept() : Result<std::size_t>(failure_);
  if (!accepted) {
    failure_ = accepted.status();
    source_ = {};
    released_ = 0;  // some of it may not have been reported; cancel() frees everything
    return accepted;
  }
  if (*accepted == 0) return accepted;
  source_ = {};
  held_ += *accepted;
  return accepted;
}

// Leaves the crew at work if all of the source is posted. Without a source, sends what is left.
Result<std::size_t> OverlappedSender::accept() {
  std::size_t accepted = post(source_);
  while (source_.empty() || accepted < source_.size()) {
    const Result<bool> sent = send_some();
    if (!sent) return sent.status();
    if (!sent.value()) break;
    accepted += post(source_.subspan(accepted));
  }
  return accepted;
}

// As many records as there is room for.
std::size_t OverlappedSender::post(std::span<const std::byte> source) {
  std::size_t at = 0;
  while (at < source.size() && next_record_ - first_record_ < records_.size()) {
    const std::size_t plain = std::min(source.size() - at, kRecordBytesMax);
    const std::size_t bytes = plain + kRecordOverhead;
    if (posted_ + bytes - sent_ > wire_.capacity()) break;
    Sent& record = records_[next_record_++ % records_.size()];
    std::span<const std::byte> from = source.subspan(at, plain);
    if (plain < kHeldBytesMin) {
      std::memcpy(record.copy.data(), from.data(), plain);
      from = std::span(record.copy).first(plain);
    }
    crew_->post(from, wire_.at(posted_, bytes));
    posted_ += bytes;
    record.end = posted_;
    record.plain = plain;
    at += plain;
  }
  return at;
}

// One operation, of all that is sealed. False: the socket is full, or there is nothing to send.
Result<bool> OverlappedSender::send_some() {
  while (!crew_->empty() && (sealed_ == sent_ || crew_->front_is_done())) {
    const std::size_t bytes = crew_->front().to.size();
    TF_RETURN_IF_ERROR(crew_->take_front());
    sealed_ += bytes;
  }
  if (sealed_ == sent_) return false;
  if (!inner_->busy()) {
    const auto bytes = static_cast<std::size_t>(sealed_ - sent_);
    inner_->start(wire_.at(sent_, bytes), more_ || sealed_ != posted_ || !source_.empty());
  }
  const Result<std::size_t> step = inner_->finish();
  if (!step) return step.status();
  inner_->take_released();
  sent_ += step.value();
  release();
  return step.value() > 0 || !inner_->busy();
}

void OverlappedSender::release() {
  for (; first_record_ != next_record_; ++first_record_) {
    const Sent& oldest = records_[first_record_ % records_.size()];
    if (oldest.end > sent_) return;
    released_ += oldest.plain;
  }
}

std::size_t OverlappedSender::take_released() {
  held_ -= released_;
  return std::exchange(released_, 0);
}

void OverlappedSender::cancel() {
  crew_->abandon();
  inner_->cancel();
  source_ = {};
  if (failure_.is_ok()) failure_ = {Code::kClosed, "tcp lane: sending was cancelled"};
}

}  // namespace tf::tcp
