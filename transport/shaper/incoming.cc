// SPDX-License-Identifier: Apache-2.0
// Delays what arrives at a shaped endpoint.
#include "transport/shaper/incoming.h"

#include <algorithm>
#include <utility>

namespace tf::shaper {

void Incoming::arrive(const FrameHeader& header, std::span<const std::byte> payload, Time now) {
  const std::size_t bytes = kFrameHeaderBytes + payload.size();
  message_bytes_ += bytes;
  messages_.push_back({header, {payload.begin(), payload.end()}, messages_link_.send(now, bytes)});
}

Incoming::Message Incoming::take() {
  Message message = std::move(messages_.front());
  messages_.pop_front();
  message_bytes_ -= kFrameHeaderBytes + message.payload.size();
  return message;
}

Status Incoming::receive(std::uint64_t tag, std::span<std::byte> target, std::uint64_t bytes,
                         BulkCompletion& completion) {
  if (!failure_.is_ok()) return failure_;
  if (receives_.size() + landings_.size() >= kBulkPendingMax)
    return {Code::kResourceExhausted, "kBulkPendingMax bulk transfers are already pending"};
  if (bytes == 0) {
    completion.complete(Status::ok());
    return Status::ok();
  }
  // At once, and completely: what the peer sent before it closed counts only if a receive is posted for it.
  Receive& receive = receives_.emplace_back();
  receive.bytes = bytes;
  receive.completion = &completion;
  Status posted = target.empty() ? inside_.bulk().discard(tag, bytes, receive.arrived)
                                 : inside_.bulk().receive(tag, target, receive.arrived);
  if (!posted.is_ok()) receives_.pop_back();
  return posted;
}

bool Incoming::sweep(Time now) {
  bool any = false;
  for (auto receive = receives_.begin(); receive != receives_.end();) {
    if (!receive->arrived.done()) {
      ++receive;
      continue;
    }
    const Status& status = receive->arrived.status();
    const std::size_t bytes = status.is_ok() ? static_cast<std::size_t>(receive->bytes) : 0;
    landings_.push_back(
        {receive->completion, status, bulk_link_.send(flow_began_.value_or(now), now, bytes)});
    receive = receives_.erase(receive);
    any = true;
  }
  if (any) flow_began_.reset();
  return land(now) || any;
}

// After a failure nobody waits for the due time.
bool Incoming::land(Time now) {
  bool any = false;
  while (!landings_.empty() && (landings_.front().there <= now || !failure_.is_ok())) {
    Landing landing = std::move(landings_.front());
    landings_.pop_front();
    landing.completion->complete(std::move(landing.status));
    any = true;
  }
  return any;
}

std::optional<Time> Incoming::next_message() const {
  if (messages_.empty()) return std::nullopt;
  return messages_.front().there;
}

std::optional<Time> Incoming::next_bulk() const {
  if (landings_.empty()) return std::nullopt;
  return landings_.front().there;
}

void Incoming::lose(const Status& status, Time now) {
  if (!loss_.is_ok()) return;
  loss_ = status;
  loss_there_ = std::max(messages_link_.send(now, 0), bulk_link_.send(now, 0));
}

Status Incoming::loss(Time now) const {
  const bool due = !loss_.is_ok() && loss_there_ <= now && messages_.empty() && landings_.empty();
  return due ? loss_ : Status::ok();
}

std::optional<Time> Incoming::next_loss() const {
  if (loss_.is_ok() || !messages_.empty() || !landings_.empty()) return std::nullopt;
  return loss_there_;
}

void Incoming::fail(const Status& status) {
  if (!failure_.is_ok()) return;
  failure_ = status;
  messages_.clear();
  message_bytes_ = 0;
}

}  // namespace tf::shaper
