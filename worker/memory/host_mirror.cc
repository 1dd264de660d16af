// SPDX-License-Identifier: Apache-2.0
// Finds what has changed in mirrored memory, and sends it to the client.
#include "worker/memory/host_mirror.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tf::worker {

using mirror::Changes;
using mirror::Piece;

HostMirror::~HostMirror() {
  for (std::unique_ptr<Send>& send : sends_)
    if (!send->completion.done()) static_cast<void>(send.release());
}

void HostMirror::opened(std::uint64_t address, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  if (!pages_) pages_.emplace();
  const Changes::Options options{Changes::Start::kSame, true, runs_on_host_};
  changes_.try_emplace(address, *pages_, Piece{address, bytes}, options);
}

bool HostMirror::try_close(std::uint64_t address) {
  const MutexLock lock(mutex_);
  sweep();
  if (!sends_.empty() || holders_ != 0) return false;
  const auto part = changes_.find(address);
  if (part != changes_.end()) changes_.erase(part);
  return true;
}

HostMirror::Parts::const_iterator HostMirror::part_at(std::uint64_t address) const {
  auto part = changes_.upper_bound(address);
  if (part == changes_.begin()) return changes_.end();
  --part;
  return address - part->first < part->second.range().bytes ? part : changes_.end();
}

bool HostMirror::are_held(std::span<const Piece> pieces, std::uint64_t bytes) const {
  for (const Piece& piece : pieces) {
    if (piece.bytes == 0 || piece.bytes > bytes) return false;
    const auto part = part_at(piece.address);
    if (part == changes_.end()) return false;
    if (piece.bytes > part->second.range().bytes - (piece.address - part->first)) return false;
    bytes -= piece.bytes;
  }
  return bytes == 0;
}

bool HostMirror::holds(std::span<const Piece> pieces, std::uint64_t bytes) const {
  const MutexLock lock(mutex_);
  return are_held(pieces, bytes);
}

void HostMirror::hold() {
  const MutexLock lock(mutex_);
  ++holders_;
}

void HostMirror::let_go() {
  const MutexLock lock(mutex_);
  --holders_;
}

Changes* HostMirror::changes_at(std::uint64_t address) {
  const auto part = part_at(address);
  return part != changes_.end() ? &changes_.find(part->first)->second : nullptr;
}

void HostMirror::agree(const Piece& piece) {
  const MutexLock lock(mutex_);
  if (Changes* const changes = changes_at(piece.address)) changes->agree(piece);
}

bool HostMirror::put(std::span<const Piece> pieces, std::span<const std::byte> bytes) {
  const MutexLock lock(mutex_);
  if (!are_held(pieces, bytes.size())) return false;
  const std::byte* next = bytes.data();
  while (!pieces.empty()) {
    Changes* const changes = changes_at(pieces.front().address);
    std::size_t count = 1;
    while (count < pieces.size() && changes_at(pieces[count].address) == changes) ++count;
    const std::span<const Piece> together = pieces.first(count);
    changes->put(together, next);
    next += mirror::total(together);
    pieces = pieces.subspan(count);
  }
  return true;
}

Status HostMirror::find(std::span<const Piece> pieces, bool settled, Found& found) {
  const MutexLock lock(mutex_);
  if (!are_held(pieces, mirror::total(pieces)))
    return {Code::kProtocol, "asked for changes of memory that is not mirrored"};
  if (!mirror::are_apart(pieces)) return {Code::kProtocol, "asked twice for changes of the same memory"};
  found = {};
  found.settled = settled;
  std::vector<Piece> changed;
  for (const Piece& piece : pieces) {
    changed.clear();
    changes_at(piece.address)->take(piece, settled, changed);
    for (const Piece& each : changed)
      if (const Piece inside = mirror::common(each, piece); inside.bytes != 0) found.pieces.push_back(inside);
  }
  return Status::ok();
}

Status HostMirror::send(BulkPlane& bulk, std::uint64_t tag, std::span<const std::byte> bytes,
                        std::unique_ptr<Send> carrier) {
  sends_.push_back(std::move(carrier));
  Status started = bulk.send(tag, bytes, sends_.back()->completion);
  if (!started.is_ok()) sends_.pop_back();
  return started;
}

Status HostMirror::send_some(BulkPlane& bulk, std::uint64_t tag, Found& found) {
  const MutexLock lock(mutex_);
  auto carrier = std::make_unique<Send>();
  if (!found.told) {
    const auto places = std::as_bytes(std::span(found.pieces));
    carrier->gathered = found.head;
    carrier->gathered.insert(carrier->gathered.end(), places.begin(), places.end());
    found.told = true;
    const std::span<const std::byte> list = carrier->gathered;
    return send(bulk, tag, list, std::move(carrier));
  }
  const std::span<const std::byte> bytes = next_to_send(found, *carrier);
  return send(bulk, tag, bytes, std::move(carrier));
}

// The bytes of the next pieces, in the memory or, together, in the carrier. Of pieces that a device may be
// writing always in the carrier: only so is it known what the client gets. A large one goes in several parts.
std::span<const std::byte> HostMirror::next_to_send(Found& found, Send& carrier) {
  const std::span<Piece> rest = std::span(found.pieces).subspan(found.sent);
  const mirror::Batch batch = mirror::next_batch(rest);
  Piece part = rest.front();
  const Changes* const changes = changes_at(part.address);
  if (!batch.gathered && (found.settled || changes == nullptr || changes->is_watched())) {
    ++found.sent;
    return part.memory();
  }
  std::span<const Piece> pieces(&part, 1);
  if (batch.gathered) {
    pieces = rest.first(batch.pieces);
    found.sent += batch.pieces;
  } else if (part.bytes > mirror::kGatheredBytesMax) {
    part.bytes = mirror::kGatheredBytesMax;
    rest.front() = {part.end(), rest.front().bytes - part.bytes};
  } else {
    ++found.sent;
  }
  carrier.gathered.resize(mirror::total(pieces));
  mirror::gather(pieces, carrier.gathered.data());
  if (!found.settled) note_sent(pieces, carrier.gathered.data());
  return carrier.gathered;
}

void HostMirror::note_sent(std::span<const Piece> pieces, const std::byte* bytes) {
  for (const Piece& piece : pieces) {
    if (Changes* const changes = changes_at(piece.address)) changes->agree_on(piece, bytes);
    bytes += piece.bytes;
  }
}

void HostMirror::sweep() {
  std::erase_if(sends_, [](const std::unique_ptr<Send>& send) { return send->completion.done(); });
}

bool HostMirror::has_room() {
  const MutexLock lock(mutex_);
  sweep();
  return sends_.size() < kMirrorSendsMax;
}

}  // namespace tf::worker
