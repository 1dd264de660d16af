// SPDX-License-Identifier: Apache-2.0
// Keeps what sessions offer each other, and hands it out.
#include "worker/supervisor/offers.h"

#include <algorithm>
#include <utility>

namespace tf::worker {
namespace {

// Sessions number the devices that they show; offers have the worker's numbers, for sessions show different
// ones. -1: the session does not show it.
int workers_number(const DeviceSet& shown, int device) {
  if (shown.empty()) return device;
  return device >= 0 && static_cast<std::size_t>(device) < shown.size()
             ? shown[static_cast<std::size_t>(device)]
             : -1;
}

int shown_number(const DeviceSet& shown, int device) {
  if (shown.empty()) return device;
  const auto found = std::ranges::find(shown, device);
  return found == shown.end() ? -1 : static_cast<int>(found - shown.begin());
}

}  // namespace

bool Offers::keep(pid_t pid, ChannelMessage& message) {
  const auto own = std::count_if(offers_.begin(), offers_.end(),
                                 [pid](const auto& entry) { return entry.second.owner == pid; });
  const bool room = offers_.size() < kOffersMax && static_cast<std::size_t>(own) < kOffersPerSessionMax;
  const bool is_memory =
      message.piece.kind == SharedPiece::Kind::kLease || message.piece.kind == SharedPiece::Kind::kPhysical;
  const bool whole = !is_memory || message.connection;  // others are a file, or all in their ticket
  if (!room || !whole || message.piece.kind == SharedPiece::Kind::kNone ||
      offers_.contains(message.attach.token))
    return false;
  offers_.emplace(message.attach.token, Offer{pid, message.piece, std::move(message.connection)});
  return true;
}

void Offers::handle(pid_t pid, ChannelMessage& message, ChannelMessage& answer) {
  answer.kind = Envelope::kAnswer;
  answer.number = message.number;
  const auto found = offers_.find(message.attach.token);
  if (message.kind == Envelope::kOffer && keep(pid, message)) answer.piece = message.piece;
  if (found == offers_.end()) return;
  if (message.kind == Envelope::kWithdraw && found->second.owner == pid) offers_.erase(found);
  if (message.kind == Envelope::kWant) {
    answer.piece = found->second.piece;
    answer.connection = std::move(found->second.memory);
  }
}

void Offers::sent(const net::Token& name, ChannelMessage& answer) {
  const auto found = offers_.find(name);
  if (answer.connection && found != offers_.end()) found->second.memory = std::move(answer.connection);
}

void Offers::serve(int channel, pid_t pid, const DeviceSet& shown, ChannelMessage& message) {
  ChannelMessage answer;
  if (message.kind == Envelope::kOffer) {
    message.piece.device = workers_number(shown, message.piece.device);
    if (message.piece.device < 0) message.piece.kind = SharedPiece::Kind::kNone;
  }
  handle(pid, message, answer);
  answer.piece.device = shown_number(shown, answer.piece.device);
  net::OwnedFd kept;
  if (answer.piece.device < 0) {
    answer.piece = {};
    kept = std::move(answer.connection);
  }
  static_cast<void>(send_message(channel, answer, Deadline::now()));
  if (kept) answer.connection = std::move(kept);
  sent(message.attach.token, answer);
}

void Offers::forget(pid_t pid) {
  std::erase_if(offers_, [pid](const auto& entry) { return entry.second.owner == pid; });
}

}  // namespace tf::worker
