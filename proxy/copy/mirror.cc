// SPDX-License-Identifier: Apache-2.0
// Finds what the program has changed in mirrored memory, sends it, and fetches what work has changed.
#include "proxy/copy/mirror.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string>

#include "hipcore/mirror/batch.h"
#include "proxy/session/payload.h"
#include "proxy/stats/counting.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

using mirror::Piece;
using protocol::Trait;

constexpr std::size_t kPiecesPerWrite = 16'384;  // below the worker's limit (worker/memory/host_mirror.h)
constexpr std::size_t kPiecesPerFind = 2'048;    // fit in a message

bool is_work(protocol::OpTraits what) { return what.has(Trait::kReachesHost) && what.has(Trait::kWork); }

// Memory that the transport reads, perhaps gathered here.
struct Sending {
  std::vector<std::byte> gathered;
  std::optional<BulkCompletion> completion;  // none: nothing is in flight
};

hipError_t finish(Connection& connection, Sending& sending, hipError_t so_far) {
  if (!sending.completion) return so_far;
  const hipError_t error = finish_transfer(connection, *sending.completion, true, so_far);
  sending.completion.reset();
  return error;
}

hipError_t start(Connection& connection, OutgoingPayload& payload, std::span<const std::byte> source,
                 Sending& sending) {
  const Status started = payload.send(source, sending.completion.emplace());
  if (!started.is_ok()) sending.completion.reset();
  return connection.transferred(started);
}

}  // namespace

void Mirror::Pieces::add(const Entry& entry, std::span<const Piece> changed) {
  for (const Piece& piece : changed) {
    here.push_back(entry.changes.source(piece));
    there.push_back({entry.memory.device + (piece.address - entry.memory.host.address), piece.bytes});
  }
}

void Mirror::add(const Memory& memory) {
  const MutexLock lock(mutex_);
  if (!pages_) pages_.emplace(use_);
  const mirror::Changes::Options options{mirror::Changes::Start::kUnknown, memory.whole_pages, memory.watched,
                                         true};
  const auto [entry, added] = entries_.try_emplace(
      memory.host.address, Entry{memory, mirror::Changes(*pages_, memory.host, options)});
  by_place_[memory.device] = &entry->second;
  managed_is_hosts_ = true;
  any_.store(true, std::memory_order_relaxed);
}

void Mirror::remove(std::uint64_t host_address) {
  const MutexLock lock(mutex_);
  const auto entry = entries_.find(host_address);
  if (entry == entries_.end()) return;
  by_place_.erase(entry->second.memory.device);
  entries_.erase(entry);
  any_.store(!entries_.empty(), std::memory_order_relaxed);
}

void Mirror::collect(Entry& entry, const Piece& part, Pieces& pieces) {
  std::vector<Piece> changed;
  entry.changes.take(part, true, changed);
  pieces.add(entry, changed);
  entry.sent = entry.sent || mirror::common(part, entry.memory.host) == entry.memory.host;
}

hipError_t Mirror::send(bool managed_too) {
  Pieces pieces;
  for (auto& [address, entry] : entries_)
    if (managed_too || entry.memory.any_time) collect(entry, entry.memory.host, pieces);
  return send(pieces);
}

hipError_t Mirror::send(const Pieces& pieces) {
  std::span<const Piece> here = pieces.here;
  std::span<const Piece> there = pieces.there;
  while (!here.empty()) {
    const std::size_t count = std::min(here.size(), kPiecesPerWrite);
    const hipError_t error = send(here.first(count), there.first(count));
    if (error != hipSuccess) return error;
    here = here.subspan(count);
    there = there.subspan(count);
  }
  return hipSuccess;
}

hipError_t Mirror::send(std::span<const Piece> here, std::span<const Piece> there) {
  const std::uint64_t bytes = mirror::total(here);
  sent_.fetch_add(bytes, std::memory_order_relaxed);
  if (stats::counting()) stats::count_to_device(bytes);
  const bool small = there.size_bytes() + bytes <= connection_.inline_payload_bytes();
  return small ? send_inline(here, there, bytes) : send_bulk(here, there, bytes);
}

hipError_t Mirror::send_inline(std::span<const Piece> here, std::span<const Piece> there,
                               std::uint64_t bytes) {
  std::vector<std::byte> tail(there.size_bytes() + bytes);
  std::memcpy(tail.data(), there.data(), there.size_bytes());
  mirror::gather(here, tail.data() + there.size_bytes());
  protocol::WriteHostPiecesRequest request{};
  request.pieces = there.size();
  request.bytes = bytes;
  return connection_.post(0, request, tail);
}

// The next batch is gathered while the last one travels.
hipError_t Mirror::send_bulk(std::span<const Piece> here, std::span<const Piece> there, std::uint64_t bytes) {
  OutgoingPayload payload(connection_);
  protocol::WriteHostPiecesRequest request{};
  request.tag = payload.tag();
  request.pieces = there.size();
  request.bytes = bytes;
  Sending places;
  std::array<Sending, 2> sending;
  hipError_t error = start(connection_, payload, std::as_bytes(there), places);
  if (error == hipSuccess) error = connection_.post(0, request);
  for (unsigned turn = 0; error == hipSuccess && !here.empty(); ++turn) {
    Sending& next = sending[turn % 2];
    error = finish(connection_, next, hipSuccess);
    if (error != hipSuccess) break;
    const mirror::Batch batch = mirror::next_batch(here);
    std::span<const std::byte> source = here.front().memory();
    if (batch.gathered) {
      next.gathered.resize(batch.bytes);
      mirror::gather(here.first(batch.pieces), next.gathered.data());
      source = next.gathered;
    }
    error = start(connection_, payload, source, next);
    here = here.subspan(batch.pieces);
  }
  for (Sending* each : {&sending[0], &sending[1], &places}) error = finish(connection_, *each, error);
  return error;
}

hipError_t Mirror::before(protocol::OpTraits what) {
  if (!is_work(what)) return hipSuccess;
  under_way_.fetch_add(1);  // before the lock: see after_wait()
  if (!any()) return hipSuccess;
  const MutexLock lock(mutex_);
  const hipError_t error = send(managed_is_hosts_);
  if (error != hipSuccess) {
    under_way_.fetch_sub(1);
    return error;
  }
  managed_is_hosts_ = false;
  may_differ_ = true;
  return hipSuccess;
}

void Mirror::posted(protocol::OpTraits what) {
  if (is_work(what)) under_way_.fetch_sub(1);
}

hipError_t Mirror::before_wait() {
  const MutexLock lock(mutex_);
  return may_differ_ ? send(false) : hipSuccess;
}

hipError_t Mirror::prefetch(std::uint64_t host_address, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  auto next = entries_.upper_bound(host_address);
  if (next == entries_.begin()) return hipSuccess;
  Pieces pieces;
  collect(std::prev(next)->second, {host_address, bytes}, pieces);
  return send(pieces);
}

// Nothing is left to fetch if no device was at work, and the worker knew of all that was posted before.
hipError_t Mirror::after_wait() {
  const MutexLock lock(mutex_);
  managed_is_hosts_ = true;
  if (!may_differ_) return hipSuccess;
  bool all_done = under_way_.load() == 0;
  std::vector<Piece> asked;
  for (const auto& [address, entry] : entries_)
    if (entry.sent) asked.push_back({entry.memory.device, entry.memory.host.bytes});
  std::span<const Piece> rest = asked;
  while (!rest.empty()) {
    const std::size_t count = std::min(rest.size(), kPiecesPerFind);
    bool idle = false;
    const hipError_t error = find(rest.first(count), idle);
    if (error != hipSuccess) return error;
    all_done = all_done && idle;
    rest = rest.subspan(count);
  }
  may_differ_ = !all_done;
  return hipSuccess;
}

hipError_t Mirror::distrust(const char* what) {
  connection_.lose(Status(Code::kProtocol, std::string("the worker sent changes ") + what));
  return kLostError;
}

hipError_t Mirror::find(std::span<const Piece> asked, bool& idle) {
  protocol::FindHostChangesReply found{};
  const hipError_t error =
      connection_.call(0, protocol::FindHostChangesRequest{}, found, std::as_bytes(asked));
  if (error != hipSuccess) return error;
  idle = found.idle != 0;
  if (found.pieces == 0) return hipSuccess;
  const std::uint64_t most = mirror::total(asked);
  // A piece has whole pages, except at the ends of a range.
  const bool sane = found.bytes <= most && found.pieces <= most / mirror::kPageBytes + 2 * asked.size();
  return sane ? fetch(found.pieces, found.bytes) : distrust("of more than there is");
}

Mirror::Entry* Mirror::entry_at(const Piece& there) {
  auto next = by_place_.upper_bound(there.address);
  if (next == by_place_.begin()) return nullptr;
  Entry* const entry = std::prev(next)->second;
  const Piece all{entry->memory.device, entry->memory.host.bytes};
  return mirror::common(all, there) == there ? entry : nullptr;
}

hipError_t Mirror::fetch(std::uint64_t pieces, std::uint64_t bytes) {
  IncomingPayload payload(connection_);
  payload.keep_open();
  const auto receive = [&](std::span<std::byte> target, auto tell) {
    BulkCompletion arrived;
    const Status started = payload.receive(target, arrived);
    if (!started.is_ok()) return connection_.transferred(started);
    return finish_transfer(connection_, arrived, true, tell());
  };
  std::vector<Piece> there(pieces);
  protocol::FetchHostChangesRequest request{};
  request.tag = payload.tag();
  hipError_t error =
      receive(std::as_writable_bytes(std::span(there)), [&] { return connection_.post(0, request); });
  if (error != hipSuccess) return error;
  std::vector<Piece> here;
  std::vector<Entry*> entries;
  for (const Piece& piece : there) {
    Entry* const entry = piece.bytes != 0 && piece.bytes <= bytes ? entry_at(piece) : nullptr;
    if (entry == nullptr) return distrust("of other memory");
    bytes -= piece.bytes;
    here.push_back({entry->memory.host.address + (piece.address - entry->memory.device), piece.bytes});
    entries.push_back(entry);
  }
  if (bytes != 0) return distrust("that are not all");
  if (stats::counting()) stats::count_from_device(mirror::total(here));
  std::vector<std::byte> gathered;
  for (std::size_t first = 0; first < here.size();) {
    const std::span<const Piece> rest = std::span(here).subspan(first);
    const mirror::Batch batch = mirror::next_batch(rest);
    if (batch.gathered) gathered.resize(batch.bytes);
    error = receive(batch.gathered ? std::span(gathered) : rest.front().memory(), [] { return hipSuccess; });
    if (error != hipSuccess) return error;
    const std::byte* next = gathered.data();
    for (const std::size_t end = first + batch.pieces; first < end; ++first) {
      mirror::Changes& changes = entries[first]->changes;
      if (batch.gathered) changes.put(std::span(here).subspan(first, 1), next);
      if (!batch.gathered) changes.agree(here[first]);
      next += here[first].bytes;
    }
    fetched_.fetch_add(batch.bytes, std::memory_order_relaxed);
  }
  return hipSuccess;
}

}  // namespace tf::proxy
