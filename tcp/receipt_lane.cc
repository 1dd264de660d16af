// SPDX-License-Identifier: Apache-2.0
// Sends and reads receipts.
#include "tcp/receipt_lane.h"

#include <poll.h>

#include <chrono>
#include <span>

#include "tcp/piece.h"
#include "tcp/seal.h"
#include "transport/base/deadline.h"

namespace tf::tcp {
namespace {

// For what is left when the endpoint closes; a peer that reads takes no time.
constexpr std::chrono::milliseconds kFlushLimit{200};

}  // namespace

std::uint64_t seal_of(const Receipt& receipt) {
  const std::uint64_t rest = std::uint64_t{receipt.kind} | std::uint64_t{receipt.magic} << 32;
  return mix(mix(receipt.what, receipt.offset), rest);
}

Status validate(const Receipt& receipt) {
  if (receipt.magic != kReceiptMagic) return not_possible("receipt: ", "magic", receipt.magic);
  if (receipt.seal != seal_of(receipt)) return not_possible("receipt: ", "seal", receipt.seal);
  if (receipt.kind != kReceiptPiece && receipt.kind != kReceiptLost)
    return not_possible("receipt: ", "kind", receipt.kind);
  return Status::ok();
}

void ReceiptLane::send(Receipt receipt) {
  receipt.seal = seal_of(receipt);
  bool full = false;
  {
    const MutexLock lock(mutex_);
    full = waiting_.size() >= kReceiptsMax;
    if (!full) waiting_.push_back(receipt);
  }
  if (full)
    return end({Code::kResourceExhausted, "tcp: the peer does not read what it is told of its payload"});
  wake();
}

Result<std::size_t> ReceiptLane::move_in() {
  if (!io_.receiver->busy())
    io_.receiver->start(std::as_writable_bytes(std::span(&in_, 1)).subspan(received_));
  Result<std::size_t> got = io_.receiver->finish();
  if (!got) return got;
  again_ |= *got == 0 && !io_.receiver->busy();
  received_ += *got;
  if (received_ < sizeof in_) return got;
  received_ = 0;
  TF_RETURN_IF_ERROR(validate(in_));
  TF_RETURN_IF_ERROR(listener_.take_receipt(in_));
  return got;
}

Result<std::size_t> ReceiptLane::move_out() {
  (void)io_.sender->take_released();  // it stays until all of it has been sent
  if (out_.empty()) {
    const MutexLock lock(mutex_);
    out_.swap(waiting_);
  }
  blocked_ = false;
  if (out_.empty()) return std::size_t{0};
  if (!io_.sender->busy()) io_.sender->start(std::as_bytes(std::span(out_)).subspan(sent_), false);
  Result<std::size_t> sent = io_.sender->finish();
  if (!sent) return sent;
  again_ |= *sent == 0 && !io_.sender->busy();
  blocked_ = *sent == 0;
  sent_ += *sent;
  if (sent_ == out_.size() * sizeof(Receipt)) {
    out_.clear();
    sent_ = 0;
  }
  return sent;
}

bool ReceiptLane::has_work() {
  if (!out_.empty()) return false;  // as soon as there is room
  const MutexLock lock(mutex_);
  return !waiting_.empty();
}

pollfd ReceiptLane::output() const {
  pollfd entry = io_.sender->wait_for();
  if (!blocked_) entry.fd = -1;
  return entry;
}

void ReceiptLane::let_go(const Status& why) {
  if (why.code() == Code::kClosed) flush();
  io_.receiver->cancel();
  io_.sender->cancel();
}

// The peer's transfers end with them.
void ReceiptLane::flush() {
  const Deadline deadline = Deadline::after(kFlushLimit);
  while (!deadline.passed()) {
    Result<std::size_t> sent = move_out();
    if (!sent || (*sent == 0 && out_.empty())) return;
    pollfd room = output();
    if (*sent == 0) ::poll(&room, 1, deadline.poll_timeout_ms(static_cast<int>(kFlushLimit.count())));
  }
}

}  // namespace tf::tcp
