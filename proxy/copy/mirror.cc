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

bool is_work(protocol::OpTraits what) { return what.has(Trait::kReachesHost) && what.has(Trait::kWork); }

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

hipError_t Mirror::send(const Pieces& pieces) { return traffic_.write(way(), pieces.here, pieces.there); }

MirrorTraffic::Way Mirror::way() const {
  return functions_ == 0 ? MirrorTraffic::Way::kInOrder : MirrorTraffic::Way::kAtOnce;
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

hipError_t Mirror::after_wait() {
  const MutexLock lock(mutex_);
  managed_is_hosts_ = true;
  return may_differ_ ? fetch() : hipSuccess;
}

// Nothing is left to fetch if no device was at work, and the worker knew of all that was posted before.
hipError_t Mirror::fetch() {
  const bool known = under_way_.load() == 0;
  std::vector<Piece> asked;
  for (const auto& [address, entry] : entries_)
    if (entry.sent) asked.push_back({entry.memory.device, entry.memory.host.bytes});
  bool idle = false;
  const hipError_t error = traffic_.fetch(way(), asked, *this, idle);
  if (error == hipSuccess) may_differ_ = !(known && idle);
  return error;
}

// From here on nobody waits for a request while it holds the mutex.
void Mirror::function_queued() {
  const MutexLock lock(mutex_);
  ++functions_;
}

void Mirror::function_withdrawn() {
  const MutexLock lock(mutex_);
  --functions_;
}

void Mirror::copy_ended() { function_withdrawn(); }

// As a program that is about to wait and has waited, but other streams may be at work.
hipError_t Mirror::function_begins() {
  const MutexLock lock(mutex_);
  if (!may_differ_) return hipSuccess;
  const hipError_t error = send(false);
  return error == hipSuccess ? fetch() : error;
}

void Mirror::function_ended() {
  const MutexLock lock(mutex_);
  static_cast<void>(send(true));  // a failure has lost the connection
  --functions_;
}

mirror::Changes* Mirror::place_of(const Piece& there, Piece& here) {
  auto next = by_place_.upper_bound(there.address);
  if (next == by_place_.begin()) return nullptr;
  Entry* const entry = std::prev(next)->second;
  const Piece all{entry->memory.device, entry->memory.host.bytes};
  if (mirror::common(all, there) != there) return nullptr;
  here = {entry->memory.host.address + (there.address - entry->memory.device), there.bytes};
  return &entry->changes;
}

}  // namespace tf::proxy
