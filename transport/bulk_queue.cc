// SPDX-License-Identifier: Apache-2.0
// The queues of pending sends and receives behind every bulk plane.
#include "transport/bulk_queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "transport/base/mutex.h"

namespace tf {

Status bulk_aborted(std::uint32_t reason) {
  return {Code::kClosed, "bulk transfer aborted by its sender, reason " + std::to_string(reason), reason};
}

std::uint32_t abort_reason(const Status& status) {
  return status.code() == Code::kClosed ? status.reason() : 0;
}

BulkQueue::~BulkQueue() {
  const Status closed(Code::kClosed, "the endpoint was closed with this bulk transfer pending");
  const Status& status = failure_.is_ok() ? closed : failure_;
  for (Send& send : sends_)
    if (send.completion != nullptr) send.completion->complete(status);
  for (auto& [tag, queue] : receives_)
    for (Receive& receive : queue) receive.completion->complete(status);
}

// --- Users ----------------------------------------------------------------------------------------------

Status BulkQueue::send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion,
                       const Filling* filling) {
  const MutexLock lock(mutex_);
  if (!failure_.is_ok()) return failure_;
  if (source.empty()) {
    completion.complete(Status::ok());
    return Status::ok();
  }
  if (sends_.size() - aborts_to_send_ >= kBulkPendingMax)
    return {Code::kResourceExhausted, "kBulkPendingMax bulk sends are already queued"};
  sends_.push_back(
      {.tag = tag, .source = source, .completion = &completion, .id = ++last_id_, .filling = filling});
  count_sends();
  return Status::ok();
}

Status BulkQueue::receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) {
  return post_receive(tag, {.target = target.data(), .bytes = target.size(), .completion = &completion});
}

Status BulkQueue::discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) {
  return post_receive(tag, {.bytes = bytes, .completion = &completion});
}

Status BulkQueue::post_receive(std::uint64_t tag, Receive receive) {
  const MutexLock lock(mutex_);
  if (!failure_.is_ok()) return failure_;
  if (const auto aborted = aborted_.find(tag); aborted != aborted_.end()) {
    aborted->second.claimed = true;
    receive.completion->complete(bulk_aborted(aborted->second.reason));
    return Status::ok();
  }
  if (receive.bytes == 0) {
    receive.completion->complete(Status::ok());
    return Status::ok();
  }
  if (receive_count_ >= kBulkPendingMax)
    return {Code::kResourceExhausted, "kBulkPendingMax bulk receives are already posted"};
  receive.id = ++last_id_;
  receives_[tag].push_back(receive);
  ++receive_count_;
  return Status::ok();
}

Status BulkQueue::abort(std::uint64_t tag, std::uint32_t reason) {
  const MutexLock lock(mutex_);
  if (!failure_.is_ok()) return failure_;
  if (aborts_to_send_ >= kBulkPendingMax)
    return {Code::kResourceExhausted, "kBulkPendingMax bulk aborts are already queued"};
  sends_.push_back({.tag = tag, .source = {}, .completion = nullptr, .reason = reason});
  ++aborts_to_send_;
  count_sends();
  return Status::ok();
}

void BulkQueue::refuse_unasked() {
  const MutexLock lock(mutex_);
  refuses_unasked_ = true;
}

void BulkQueue::keep_open(std::uint64_t tag, bool open) {
  const MutexLock lock(mutex_);
  if (open)
    open_.insert(tag);
  else
    open_.erase(tag);
}

// --- Outgoing -------------------------------------------------------------------------------------------

std::optional<BulkQueue::Outgoing> BulkQueue::next_send() {
  const MutexLock lock(mutex_);
  if (!failure_.is_ok() || cursor_ == sends_.size()) return std::nullopt;
  const Send& send = sends_[cursor_];
  send_pinned_ = true;
  return Outgoing{.tag = send.tag,
                  .source = send.source.subspan(send.handed_over),
                  .is_abort = send.completion == nullptr,
                  .reason = send.reason,
                  .id = send.id,
                  .filling = send.filling};
}

void BulkQueue::advance_send(std::size_t bytes) {
  const MutexLock lock(mutex_);
  advance_locked(bytes);
  finish_locked(bytes);
  if (!failure_.is_ok()) drop_failed_sends();
}

void BulkQueue::hand_over_send(std::size_t bytes) {
  const MutexLock lock(mutex_);
  advance_locked(bytes);
  if (!failure_.is_ok()) drop_failed_sends();
}

void BulkQueue::finish_send(std::size_t bytes) {
  const MutexLock lock(mutex_);
  finish_locked(bytes);
  if (!failure_.is_ok()) drop_failed_sends();
}

bool BulkQueue::finish_send(std::uint64_t id, std::size_t bytes) {
  const MutexLock lock(mutex_);
  const std::size_t before = sends_.size();
  const auto send = std::ranges::find(sends_, id, &Send::id);
  if (send == sends_.end()) return false;
  send->finished += std::min(bytes, send->handed_over - send->finished);
  if (send->finished == send->source.size()) complete_send(static_cast<std::size_t>(send - sends_.begin()));
  count_sends();
  if (!failure_.is_ok()) drop_failed_sends();
  return sends_.size() != before;
}

void BulkQueue::sent_abort() {
  const MutexLock lock(mutex_);
  send_pinned_ = false;
  if (cursor_ < sends_.size() && sends_[cursor_].completion == nullptr) {
    sends_.erase(sends_.begin() + static_cast<std::ptrdiff_t>(cursor_));
    --aborts_to_send_;
  }
  count_sends();
}

void BulkQueue::advance_locked(std::size_t bytes) {
  send_pinned_ = false;
  if (cursor_ == sends_.size()) return;
  Send& send = sends_[cursor_];
  send.handed_over += std::min(bytes, send.source.size() - send.handed_over);
  if (send.wholly_handed_over()) ++cursor_;
  count_sends();
}

// Starts at the oldest send; completes those whose bytes are all free again.
void BulkQueue::finish_locked(std::size_t bytes) {
  std::size_t index = 0;
  while (bytes > 0 && index < sends_.size()) {
    Send& send = sends_[index];
    const std::size_t step = std::min(bytes, send.handed_over - send.finished);
    send.finished += step;
    bytes -= step;
    ++index;
  }
  while (cursor_ > 0 && sends_.front().finished == sends_.front().source.size()) complete_send(0);
  count_sends();
}

// REQUIRES: nobody holds its memory, and all of it was handed over.
void BulkQueue::complete_send(std::size_t index) {
  sends_[index].completion->complete(failure_);
  sends_.erase(sends_.begin() + static_cast<std::ptrdiff_t>(index));
  if (index < cursor_) --cursor_;
}

void BulkQueue::count_sends() {
  to_send_.store(failure_.is_ok() ? sends_.size() - cursor_ : 0, std::memory_order_release);
  send_count_.store(sends_.size(), std::memory_order_relaxed);
}

// After a failure: completes every send whose memory nobody holds.
void BulkQueue::drop_failed_sends() {
  for (std::size_t index = 0; index < sends_.size();) {
    Send& send = sends_[index];
    const bool held = send.handed_over != send.finished || (send_pinned_ && index == cursor_);
    if (held) {
      ++index;
      continue;
    }
    if (send.completion != nullptr)
      send.completion->complete(failure_);
    else
      --aborts_to_send_;
    sends_.erase(sends_.begin() + static_cast<std::ptrdiff_t>(index));
    if (index < cursor_) --cursor_;
  }
  count_sends();
}

// --- Incoming -------------------------------------------------------------------------------------------

std::optional<BulkQueue::Incoming> BulkQueue::find_receive(std::uint64_t tag) {
  const MutexLock lock(mutex_);
  const auto found = receives_.find(tag);
  if (!failure_.is_ok() || found == receives_.end()) return std::nullopt;
  const auto next = std::find_if(found->second.begin(), found->second.end(),
                                 [](const Receive& each) { return !each.wholly_handed_over(); });
  if (next == found->second.end()) return std::nullopt;
  next->pinned = true;
  Incoming incoming{.target = {},
                    .bytes = next->bytes - next->handed_over,
                    .is_discard = next->target == nullptr,
                    .id = next->id};
  if (!incoming.is_discard)
    incoming.target = {next->target + next->handed_over, static_cast<std::size_t>(incoming.bytes)};
  return incoming;
}

Status BulkQueue::judge_early(std::uint64_t tag) const {
  const MutexLock lock(mutex_);
  return judge_early_locked(tag);
}

// A receive may have been posted since find_receive().
Status BulkQueue::judge_early_locked(std::uint64_t tag) const {
  if (!refuses_unasked_ || !failure_.is_ok() || receives_.contains(tag) || open_.contains(tag))
    return Status::ok();
  return {Code::kProtocol, "payload for tag " + std::to_string(tag) + ", which nobody asked for"};
}

void BulkQueue::advance_receive(std::uint64_t tag, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const auto found = receives_.find(tag);
  if (found == receives_.end()) return;
  const std::uint64_t id = hand_over_locked(found->second, bytes);
  finish_locked(found, id, bytes);
}

void BulkQueue::hand_over_receive(std::uint64_t tag, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const auto found = receives_.find(tag);
  if (found != receives_.end()) hand_over_locked(found->second, bytes);
}

void BulkQueue::finish_receive(std::uint64_t tag, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const auto found = receives_.find(tag);
  if (found != receives_.end()) finish_locked(found, bytes);
}

bool BulkQueue::finish_receive(std::uint64_t tag, std::uint64_t id, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const std::size_t before = receive_count_;
  const auto found = receives_.find(tag);
  if (found != receives_.end()) finish_locked(found, id, bytes);
  return receive_count_ != before;
}

// Returns whose they are; 0: no receive is pinned.
std::uint64_t BulkQueue::hand_over_locked(std::deque<Receive>& queue, std::uint64_t bytes) {
  const auto pinned =
      std::find_if(queue.begin(), queue.end(), [](const Receive& each) { return each.pinned; });
  if (pinned == queue.end()) return 0;
  pinned->pinned = false;
  pinned->handed_over += std::min(bytes, pinned->bytes - pinned->handed_over);
  return pinned->id;
}

void BulkQueue::finish_locked(Receives::iterator tag, std::uint64_t id, std::uint64_t bytes) {
  const auto receive = std::ranges::find(tag->second, id, &Receive::id);
  if (receive != tag->second.end())
    receive->finished += std::min(bytes, receive->handed_over - receive->finished);
  drop_ended(tag);
}

// Starts at the tag's oldest receive.
void BulkQueue::finish_locked(Receives::iterator tag, std::uint64_t bytes) {
  for (Receive& receive : tag->second) {
    if (bytes == 0) break;
    const std::uint64_t step = std::min(bytes, receive.handed_over - receive.finished);
    receive.finished += step;
    bytes -= step;
  }
  drop_ended(tag);
}

// Completes finished receives; after a failure also those that nobody holds. Returns the tag's place, or the
// next one's if nothing is left of it.
BulkQueue::Receives::iterator BulkQueue::drop_ended(Receives::iterator tag) {
  std::deque<Receive>& queue = tag->second;
  for (std::size_t index = 0; index < queue.size();) {
    const Receive& receive = queue[index];
    const bool whole = receive.finished == receive.bytes;
    if (!whole && (failure_.is_ok() || receive.held())) {
      if (failure_.is_ok()) break;  // first in, first out
      ++index;
      continue;
    }
    receive.completion->complete(whole ? Status::ok() : failure_);
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(index));
    --receive_count_;
  }
  return queue.empty() ? receives_.erase(tag) : std::next(tag);
}

bool BulkQueue::has_receive(std::uint64_t tag) const {
  const MutexLock lock(mutex_);
  if (!failure_.is_ok()) return true;
  const auto found = receives_.find(tag);
  return found != receives_.end() && !found->second.back().wholly_handed_over();
}

Status BulkQueue::abort_receive(std::uint64_t tag, std::uint32_t reason) {
  const MutexLock lock(mutex_);
  if (!failure_.is_ok()) return failure_;
  if (!aborted_.contains(tag)) TF_RETURN_IF_ERROR(judge_early_locked(tag));
  Aborted aborted{.reason = reason};
  if (const auto found = receives_.find(tag); found != receives_.end()) {
    aborted.claimed = true;
    receive_count_ -= found->second.size();
    for (Receive& receive : found->second) receive.completion->complete(bulk_aborted(reason));
    receives_.erase(found);
  }
  return remember_abort(tag, aborted);
}

Status BulkQueue::remember_abort(std::uint64_t tag, Aborted aborted) {
  if (aborted_.contains(tag)) return Status::ok();  // the first reason stays
  if (aborted_.size() >= kBulkAbortsMax) {
    const auto claimed =
        std::find_if(aborted_order_.begin(), aborted_order_.end(),
                     [this](std::uint64_t old) TF_REQUIRES(mutex_) { return aborted_.at(old).claimed; });
    if (claimed == aborted_order_.end())
      return {Code::kResourceExhausted, "the peer aborted kBulkAbortsMax tags that nobody receives"};
    aborted_.erase(*claimed);
    aborted_order_.erase(claimed);
  }
  aborted_.emplace(tag, aborted);
  aborted_order_.push_back(tag);
  return Status::ok();
}

// --- Failure --------------------------------------------------------------------------------------------

void BulkQueue::fail_all(const Status& status) {
  const MutexLock lock(mutex_);
  if (!failure_.is_ok()) return;
  failure_ = status;
  drop_failed_sends();
  for (auto tag = receives_.begin(); tag != receives_.end();) tag = drop_ended(tag);
}

void BulkQueue::let_go() {
  const MutexLock lock(mutex_);
  for (Send& send : sends_) send.finished = send.handed_over;
  send_pinned_ = false;
  drop_failed_sends();
  for (auto tag = receives_.begin(); tag != receives_.end();) {
    for (Receive& receive : tag->second) {
      receive.pinned = false;
      receive.handed_over = receive.finished;
    }
    tag = drop_ended(tag);
  }
}

}  // namespace tf
