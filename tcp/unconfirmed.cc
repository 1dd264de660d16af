// SPDX-License-Identifier: Apache-2.0
// Keeps what may have to be sent again.
#include "tcp/unconfirmed.h"

#include <algorithm>

namespace tf::tcp {

void Unconfirmed::begin(const OutgoingPiece& piece, unsigned lane) {
  entries_[piece.id()] = {.piece = piece, .lane = lane, .released = 0, .reading = true, .confirmed = false};
}

Unconfirmed::Freed Unconfirmed::erase(Entries::iterator entry) {
  const Freed freed{.send = entry->second.piece.send, .bytes = entry->second.piece.source.size()};
  entries_.erase(entry);
  return freed;
}

std::optional<Unconfirmed::Freed> Unconfirmed::release(const PieceId& id, std::size_t bytes) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return std::nullopt;
  Entry& entry = found->second;
  entry.released += bytes;
  entry.reading = entry.released < entry.piece.source.size();
  if (entry.reading || !entry.confirmed) return std::nullopt;
  return erase(found);
}

Result<std::optional<Unconfirmed::Freed>> Unconfirmed::confirm(const PieceId& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.confirmed)
    return not_possible("receipt: ", "piece at offset", id.offset);
  // A second lane may be sending what the first one had delivered before it was lost.
  found->second.confirmed = true;
  if (found->second.reading) return std::optional<Freed>();
  const auto again = std::ranges::find(lost_, id);
  if (again != lost_.end()) {
    lost_.erase(again);
    lost_bytes_ -= found->second.piece.source.size();
  }
  return std::optional<Freed>(erase(found));
}

std::vector<Unconfirmed::Freed> Unconfirmed::lose(unsigned lane) {
  std::vector<Freed> freed;
  for (auto next = entries_.begin(); next != entries_.end();) {
    const auto entry = next++;
    const bool waits = std::ranges::find(lost_, entry->first) != lost_.end();
    if (entry->second.lane != lane || waits) continue;
    entry->second.reading = false;
    if (entry->second.confirmed) {
      freed.push_back(erase(entry));
    } else {
      lost_.push_back(entry->first);
      lost_bytes_ += entry->second.piece.source.size();
    }
  }
  return freed;
}

std::optional<OutgoingPiece> Unconfirmed::take_lost() {
  if (lost_.empty()) return std::nullopt;
  const OutgoingPiece piece = entries_.at(lost_.front()).piece;
  lost_.pop_front();
  lost_bytes_ -= piece.source.size();
  return piece;
}

void Unconfirmed::forget_lost() {
  lost_.clear();
  lost_bytes_ = 0;
}

}  // namespace tf::tcp
