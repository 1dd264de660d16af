// SPDX-License-Identifier: Apache-2.0
// Delays what leaves a shaped endpoint.
#include "transport/shaper/outgoing.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tf::shaper {

bool Outgoing::reserve(std::size_t bytes) {
  const bool room = message_bytes_ == 0 || message_bytes_ + bytes <= kQueueBytesMax;
  wanted_bytes_ = room ? 0 : bytes;
  return room;
}

bool Outgoing::take_room() {
  if (wanted_bytes_ == 0 || (message_bytes_ != 0 && message_bytes_ + wanted_bytes_ > kQueueBytesMax))
    return false;
  wanted_bytes_ = 0;
  return true;
}

void Outgoing::publish(std::vector<std::byte> message, Time now) {
  const Time there = messages_link_.send(now, message.size());
  message_bytes_ += message.size();
  messages_.push_back({std::move(message), there});
}

Status Outgoing::send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) {
  if (!failure_.is_ok()) return failure_;
  if (waiting_.size() + departed_.size() >= kBulkPendingMax)
    return {Code::kResourceExhausted, "kBulkPendingMax bulk transfers are already pending"};
  if (source.empty())
    completion.complete(Status::ok());
  else
    waiting_.push_back({.tag = tag, .source = source, .completion = &completion});
  return Status::ok();
}

Status Outgoing::abort(std::uint64_t tag, std::uint32_t reason) {
  if (!failure_.is_ok()) return failure_;
  if (waiting_.size() + departed_.size() >= kBulkPendingMax)
    return {Code::kResourceExhausted, "kBulkPendingMax bulk transfers are already pending"};
  waiting_.push_back({.tag = tag, .source = {}, .completion = nullptr, .reason = reason});
  return Status::ok();
}

Result<bool> Outgoing::carry(Time now) {
  bool moved = complete();
  if (!failure_.is_ok()) return moved;
  TF_RETURN_IF_ERROR(deliver_messages(now, moved));
  depart(now);
  TF_RETURN_IF_ERROR(hand_over(now, moved));
  return complete() || moved;
}

Status Outgoing::deliver_messages(Time now, bool& moved) {
  if (now < inside_full_until_) return Status::ok();
  while (!messages_.empty() && messages_.front().there <= now) {
    const std::vector<std::byte>& bytes = messages_.front().bytes;
    Result<Slot> slot = inside_.reserve(bytes.size());
    if (slot.code() == Code::kWouldBlock) {
      inside_full_until_ = now + kRoomPause;
      return Status::ok();
    }
    if (!slot) return slot.status();
    std::memcpy(slot->bytes.data(), bytes.data(), bytes.size());
    inside_.publish(*slot);
    message_bytes_ -= bytes.size();
    messages_.pop_front();
    moved = true;
  }
  return Status::ok();
}

// Puts pieces on the wire as it becomes free, so that a later sender does not find it occupied for long.
void Outgoing::depart(Time now) {
  while (!waiting_.empty() && bulk_link_.free() <= now && flights_.size() + landed_.size() < kFlightsMax) {
    Send& send = waiting_.front();
    const std::size_t bytes = std::min(kChunkBytes, send.source.size() - send.left);
    Flight& flight = flights_.emplace_back();
    flight.send = waiting_.begin();
    flight.piece = send.source.subspan(send.left, bytes);
    flight.there = bulk_link_.send(now, bytes);
    send.left += bytes;
    ++send.pieces;
    if (send.left != send.source.size()) continue;
    send.departed = true;
    departed_.splice(departed_.end(), waiting_, waiting_.begin());
  }
}

Status Outgoing::hand_over(Time now, bool& moved) {
  while (!flights_.empty() && flights_.front().there <= now) {
    Flight& flight = flights_.front();
    const Send& send = *flight.send;
    const Status status = send.completion == nullptr
                              ? inside_.bulk().abort(send.tag, send.reason)
                              : inside_.bulk().send(send.tag, flight.piece, flight.arrived);
    if (status.code() == Code::kResourceExhausted) {  // others' pieces complete first
      flight.there = now + kRoomPause;
      return Status::ok();
    }
    TF_RETURN_IF_ERROR(status);
    if (send.completion == nullptr) flight.arrived.complete(Status::ok());
    landed_.splice(landed_.end(), flights_, flights_.begin());
    moved = true;
  }
  return Status::ok();
}

// Takes back the pieces that the inner endpoint is done with. True: there were some.
bool Outgoing::complete() {
  bool any = false;
  for (auto flight = landed_.begin(); flight != landed_.end();) {
    if (!flight->arrived.done()) {
      ++flight;
      continue;
    }
    any = true;
    const Sends::iterator send = flight->send;
    const Status status = flight->arrived.status();
    flight = landed_.erase(flight);
    --send->pieces;
    if (send->pieces == 0 && (send->departed || !failure_.is_ok()))
      end(send, failure_.is_ok() ? status : failure_);
  }
  return any;
}

void Outgoing::end(Sends::iterator send, const Status& status) {
  BulkCompletion* completion = send->completion;
  if (send->departed)
    departed_.erase(send);
  else
    waiting_.erase(send);
  if (completion != nullptr) completion->complete(status);
}

std::optional<Time> Outgoing::next(Time now) const {
  if (!failure_.is_ok()) return std::nullopt;
  std::optional<Time> first;
  const auto consider = [&](Time time) { first = first ? std::min(*first, time) : time; };
  if (!messages_.empty()) consider(std::max(messages_.front().there, inside_full_until_));
  if (!flights_.empty()) consider(flights_.front().there);
  if (!waiting_.empty() && flights_.size() + landed_.size() < kFlightsMax)
    consider(std::max(now, bulk_link_.free()));
  return first;
}

void Outgoing::fail(const Status& status) {
  if (!failure_.is_ok()) return;
  failure_ = status;
  messages_.clear();
  message_bytes_ = 0;
  for (const Flight& flight : flights_) --flight.send->pieces;
  flights_.clear();
  for (Sends* sends : {&waiting_, &departed_}) {
    for (auto send = sends->begin(); send != sends->end();) {
      const auto each = send++;
      if (each->pieces == 0) end(each, status);
    }
  }
  complete();
}

}  // namespace tf::shaper
