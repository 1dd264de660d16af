// SPDX-License-Identifier: Apache-2.0
#include "rdma/regions.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tf::rdma {
namespace {

constexpr int kAnything = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

constexpr std::uintptr_t kPageMask = 4095;  // the smallest pages that kernels have

std::uintptr_t address_of(std::span<const std::byte> span) {
  return reinterpret_cast<std::uintptr_t>(span.data());
}

}  // namespace

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  release();
  memory = other.memory;
  bytes = other.bytes;
  local_key = other.local_key;
  remote_key = other.remote_key;
  own_ = std::move(other.own_);
  regions_ = std::exchange(other.regions_, nullptr);
  direction_ = other.direction_;
  slot_ = other.slot_;
  return *this;
}

void Lease::release() {
  own_.reset();
  if (regions_ != nullptr) regions_->pool(direction_).free |= 1u << slot_;
  regions_ = nullptr;
}

Result<std::unique_ptr<Regions>> Regions::make(const Verbs& verbs, const Plan& plan) {
  std::unique_ptr<Regions> made(new Regions(verbs, plan));
  constexpr std::size_t kPoolBytes = kSlots * kSlotBytes;
  Result<Pages> pages = Pages::map(2 * kPoolBytes);
  if (!pages) return pages.status();
  made->pages_ = std::move(*pages);
  for (const Direction direction : {Direction::kOut, Direction::kIn}) {
    Pool& pool = made->pool(direction);
    pool.memory = made->pages_.memory().subspan(direction == Direction::kOut ? 0 : kPoolBytes, kPoolBytes);
    Result<Registration> region = made->enter(pool.memory, made->access(direction));
    if (!region) return region.status();
    pool.region = std::move(*region);
  }
  return made;
}

int Regions::access(Direction direction) const {
  if (direction == Direction::kOut) return plan_.remote ? IBV_ACCESS_REMOTE_READ : 0;
  return plan_.remote ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_LOCAL_WRITE;
}

Result<Registration> Regions::enter(std::span<std::byte> memory, int access) const {
  Result<Registration> pinned = Registration::make(verbs_, plan_.pd, memory, access);
  if (pinned || !plan_.on_demand) return pinned;
  Result<Registration> paged = Registration::make(verbs_, plan_.pd, memory, access | IBV_ACCESS_ON_DEMAND);
  return paged ? std::move(paged) : std::move(pinned);
}

std::optional<Lease> Regions::lease(std::span<std::byte> span, Direction direction) {
  Lease lease;
  lease.direction_ = direction;
  if (find_remembered(span, lease)) return lease;
  span = host_part(span);
  if (span.size() <= kSlotBytes && take_slot(span, direction, lease)) return lease;
  const std::span<std::byte> piece = span.first(std::min({span.size(), kPieceBytes, plan_.request_bytes}));
  Result<Registration> own = enter(piece, access(direction));
  if (!own) {  // memory that no device may have, or too much of it
    if (!take_slot(span, direction, lease)) return std::nullopt;
    return lease;
  }
  lease.own_ = std::move(*own);
  lease.memory = piece.data();
  lease.bytes = piece.size();
  lease.local_key = lease.own_.local_key();
  lease.remote_key = lease.own_.remote_key();
  return lease;
}

bool Regions::take_slot(std::span<std::byte> span, Direction direction, Lease& lease) {
  Pool& from = pool(direction);
  if (from.free == 0) return false;
  lease.slot_ = static_cast<unsigned>(std::countr_zero(from.free));
  from.free &= ~(1u << lease.slot_);
  lease.regions_ = this;
  lease.memory = from.memory.data() + lease.slot_ * kSlotBytes;
  lease.bytes = std::min(span.size(), kSlotBytes);
  lease.local_key = from.region.local_key();
  lease.remote_key = from.region.remote_key();
  if (direction == Direction::kOut) std::memcpy(lease.memory, span.data(), lease.bytes);
  return true;
}

Regions::RememberedMap::const_iterator Regions::at_or_before(std::uintptr_t address) const {
  const auto after = remembered_.upper_bound(address);
  return after == remembered_.begin() ? remembered_.end() : std::prev(after);
}

bool Regions::find_remembered(std::span<std::byte> span, Lease& lease) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t begin = address_of(span);
  const auto found = at_or_before(begin);
  if (found == remembered_.end()) return false;
  const std::uintptr_t end = found->first + found->second.bytes;
  if (begin >= end) return false;
  lease.memory = span.data();
  lease.bytes =
      std::min({span.size(), static_cast<std::size_t>(end - begin), kDirectBytesMax, plan_.request_bytes});
  lease.local_key = found->second.region.local_key();
  lease.remote_key = found->second.region.remote_key();
  return true;
}

std::span<std::byte> Regions::host_part(std::span<std::byte> span) const {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t begin = address_of(span);
  for (auto next = remembered_.upper_bound(begin);
       next != remembered_.end() && next->first - begin < span.size(); ++next)
    if (next->second.is_device) return span.first(next->first - begin);
  return span;
}

// --- What users tell of -----------------------------------------------------------------------------------

bool Regions::overlaps(std::span<std::byte> span, bool devices_only) const {
  const std::uintptr_t begin = address_of(span);
  const std::uintptr_t end = begin + span.size();
  // Spans of the host's memory may lie in each other, so any that begins before `end` may reach into this.
  return std::any_of(remembered_.begin(), remembered_.lower_bound(end), [&](const auto& entry) {
    return begin < entry.first + entry.second.bytes && (entry.second.is_device || !devices_only);
  });
}

void Regions::remember(std::span<std::byte> span) {
  if (span.empty()) return;
  const std::lock_guard lock(mutex_);
  if (remembered_.size() >= kRememberedMax || remembered_.contains(address_of(span))) return;
  if (overlaps(span, true)) return;
  Result<Registration> region = enter(span, kAnything);
  if (!region) return;  // every transfer then does what it does for other memory
  remembered_.emplace(address_of(span), Remembered{span.size(), std::move(*region)});
}

Status Regions::remember_device(std::span<std::byte> span, const DeviceMemory& device) {
  const std::uintptr_t begin = address_of(span);
  // The kernel asks for the same of both.
  const bool fits = ((begin | span.size() | device.offset) & kPageMask) == 0;
  if (span.empty() || begin > UINTPTR_MAX - span.size() || !fits)
    return {Code::kInvalidArgument, "rdma: memory of a device has whole pages"};
  const std::lock_guard lock(mutex_);
  if (overlaps(span, false)) return {Code::kInvalidArgument, "rdma: this memory is known already"};
  if (remembered_.size() >= kRememberedMax)
    return {Code::kResourceExhausted, "rdma: more pieces of memory than can be kept registered"};
  const int access = plan_.remote ? kAnything : IBV_ACCESS_LOCAL_WRITE;
  Result<Registration> region = Registration::make(verbs_, plan_.pd, span, access, device);
  if (!region) return region.status();
  remembered_.emplace(begin, Remembered{span.size(), std::move(*region), true});
  return Status::ok();
}

bool Regions::reaches(std::span<const std::byte> span) const {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t begin = address_of(span);
  std::size_t done = 0;
  for (auto at = at_or_before(begin); done < span.size(); ++at) {
    if (at == remembered_.end() || !at->second.is_device || at->first > begin + done) return false;
    const std::uintptr_t end = at->first + at->second.bytes;
    if (end <= begin + done) return false;
    done = end - begin;
  }
  return !span.empty();
}

void Regions::forget(std::span<std::byte> span) {
  const std::lock_guard lock(mutex_);
  remembered_.erase(address_of(span));
}

}  // namespace tf::rdma
