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
  if (!pages_) pages_.emplace();
  const Changes::Options options{Changes::Start::kSame, true, runs_on_host_};
  changes_.try_emplace(address, *pages_, Piece{address, bytes}, options);
}

void HostMirror::closed(std::uint64_t address) {
  const auto part = changes_.find(address);
  if (part == changes_.end()) return;
  const Piece range = part->second.range();
  changes_.erase(part);
  const auto is_gone = [&range](const Piece& piece) { return mirror::common(piece, range).bytes != 0; };
  if (std::none_of(found_.begin(), found_.end(), is_gone)) return;
  found_.clear();
  sent_ = 0;
}

HostMirror::Parts::const_iterator HostMirror::part_at(std::uint64_t address) const {
  auto part = changes_.upper_bound(address);
  if (part == changes_.begin()) return changes_.end();
  --part;
  return address - part->first < part->second.range().bytes ? part : changes_.end();
}

bool HostMirror::holds(std::uint64_t address) const { return part_at(address) != changes_.end(); }

Changes* HostMirror::changes_at(std::uint64_t address) {
  const auto part = part_at(address);
  return part != changes_.end() ? &changes_.find(part->first)->second : nullptr;
}

void HostMirror::agree(const Piece& piece) {
  if (Changes* const changes = changes_at(piece.address)) changes->agree(piece);
}

void HostMirror::put(std::span<const Piece> pieces, const std::byte* bytes) {
  while (!pieces.empty()) {
    Changes* const changes = changes_at(pieces.front().address);
    std::size_t count = 1;
    while (count < pieces.size() && changes_at(pieces[count].address) == changes) ++count;
    const std::span<const Piece> together = pieces.first(count);
    if (changes != nullptr) changes->put(together, bytes);
    bytes += mirror::total(together);
    pieces = pieces.subspan(count);
  }
}

void HostMirror::find(std::span<const Piece> pieces, bool settled) {
  found_.clear();
  told_ = false;
  sent_ = 0;
  std::vector<Piece> changed;
  for (const Piece& piece : pieces) {
    Changes* const changes = changes_at(piece.address);
    if (changes == nullptr) continue;
    changed.clear();
    changes->take(piece, settled, changed);
    for (const Piece& each : changed)
      if (const Piece inside = mirror::common(each, piece); inside.bytes != 0) found_.push_back(inside);
  }
}

Status HostMirror::send(BulkPlane& bulk, std::uint64_t tag, std::span<const std::byte> bytes,
                        std::unique_ptr<Send> carrier) {
  sends_.push_back(std::move(carrier));
  Status started = bulk.send(tag, bytes, sends_.back()->completion);
  if (!started.is_ok()) sends_.pop_back();
  return started;
}

Status HostMirror::send_some(BulkPlane& bulk, std::uint64_t tag) {
  auto carrier = std::make_unique<Send>();
  if (!told_) {
    const auto places = std::as_bytes(std::span(found_));
    carrier->gathered.assign(places.begin(), places.end());
    told_ = true;
    const std::span<const std::byte> list = carrier->gathered;
    return send(bulk, tag, list, std::move(carrier));
  }
  const std::span<const Piece> rest = std::span(found_).subspan(sent_);
  const mirror::Batch batch = mirror::next_batch(rest);
  std::span<const std::byte> bytes = rest.front().memory();
  if (batch.gathered) {
    carrier->gathered.resize(batch.bytes);
    mirror::gather(rest.first(batch.pieces), carrier->gathered.data());
    bytes = carrier->gathered;
  }
  sent_ += batch.pieces;
  return send(bulk, tag, bytes, std::move(carrier));
}

bool HostMirror::sweep() {
  std::erase_if(sends_, [](const std::unique_ptr<Send>& send) { return send->completion.done(); });
  return sends_.empty();
}

}  // namespace tf::worker
