// SPDX-License-Identifier: Apache-2.0
// Registers payload memory, or lends slots for it, and keeps what lingers.
#include "rdma/regions.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "transport/base/mutex.h"

namespace tf::rdma {
namespace {

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
  linger_ = std::exchange(other.linger_, nullptr);
  slots_ = std::exchange(other.slots_, nullptr);
  slot_ = other.slot_;
  return *this;
}

void Lease::release() {
  if (own_ && linger_ != nullptr) {
    const MutexLock lock(linger_->mutex_);
    linger_->retire(std::move(own_), bytes);
  }
  own_.reset();
  if (slots_ != nullptr) slots_->free |= 1u << slot_;
  slots_ = nullptr;
}

Result<std::unique_ptr<Regions>> Regions::make(const Verbs& verbs, const Plan& plan) {
  std::unique_ptr<Regions> made(new Regions(verbs, plan));
  constexpr std::size_t kBytes = kSlots * kSlotBytes;
  Result<Pages> pages = Pages::map(kSlotsBytes);
  if (!pages) return pages.status();
  made->pages_ = std::move(*pages);
  const int out = made->access(Direction::kOut);
  const int in = made->access(Direction::kIn);
  TF_RETURN_IF_ERROR(made->make_slots(made->out_, 0, kSlots, kSlotBytes, out));
  TF_RETURN_IF_ERROR(made->make_slots(made->in_, kBytes, kSlots, kSlotBytes, in));
  TF_RETURN_IF_ERROR(made->make_slots(made->small_in_, 2 * kBytes, kSmallSlots, kSmallBytes, in));
  return made;
}

Status Regions::make_slots(Slots& slots, std::size_t place, unsigned count, std::size_t bytes, int access) {
  slots.memory = pages_.memory().subspan(place, count * bytes);
  slots.bytes = bytes;
  slots.free = ~std::uint32_t{0} >> (32 - count);
  Result<Entered> entered = enter(slots.memory, access);
  if (!entered) return entered.status();
  slots.region = std::move(entered->region);
  return Status::ok();
}

int Regions::access(Direction direction) const {
  if (direction == Direction::kOut) return plan_.remote ? IBV_ACCESS_REMOTE_READ : 0;
  return plan_.remote ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_LOCAL_WRITE;
}

// Both directions: its use is not known yet.
int Regions::remembered_access() const { return access(Direction::kIn) | access(Direction::kOut); }

Result<Regions::Entered> Regions::enter(std::span<std::byte> memory, int access) const {
  Result<Registration> pinned = Registration::make(verbs_, plan_.pd, memory, access);
  if (pinned) return Entered{std::move(*pinned)};
  if (!plan_.on_demand) return pinned.status();
  Result<Registration> paged = Registration::make(verbs_, plan_.pd, memory, access | IBV_ACCESS_ON_DEMAND);
  if (!paged) return pinned.status();
  return Entered{std::move(*paged), true};
}

// If too much memory is locked, lingering regions make room.
Result<Regions::Entered> Regions::enter_for_now(std::span<std::byte> memory, int access) {
  Result<Entered> entered = enter(memory, access);
  if (entered) return entered;
  {
    const MutexLock lock(mutex_);
    if (!end_lingering(0)) return entered;
  }
  return enter(memory, access);
}

std::optional<Lease> Regions::lease(std::span<std::byte> span, Direction direction) {
  Lease lease;
  if (find_remembered(span, lease)) return lease;
  span = host_part(span);
  const bool out = direction == Direction::kOut;
  Slots& slots = out ? out_ : in_;
  bool taken = !out && span.size() <= kSmallBytes && take_slot(small_in_, span, lease);
  taken = taken || (span.size() <= kSlotBytes && take_slot(slots, span, lease));
  if (!taken) {
    const std::span<std::byte> piece = span.first(std::min({span.size(), kPieceBytes, plan_.request_bytes}));
    if (Result<Entered> own = enter_for_now(piece, access(direction)); own) {
      lease.linger_ = out && plan_.remote && !own->is_paged ? this : nullptr;
      lease.own_ = std::move(own->region);
      lease.memory = piece.data();
      lease.bytes = piece.size();
      lease.local_key = lease.own_.local_key();
      lease.remote_key = lease.own_.remote_key();
      return lease;
    }
    // Memory that devices may not use, or too much of it.
    if (!take_slot(slots, span, lease)) return std::nullopt;
  }
  if (out) std::memcpy(lease.memory, span.data(), lease.bytes);
  return lease;
}

std::optional<Lease> Regions::lease_small(std::span<std::byte> span) {
  Lease lease;
  return take_slot(small_in_, host_part(span), lease) ? std::optional(std::move(lease)) : std::nullopt;
}

bool Regions::take_slot(Slots& slots, std::span<std::byte> span, Lease& lease) {
  if (slots.free == 0) return false;
  lease.slot_ = static_cast<unsigned>(std::countr_zero(slots.free));
  slots.free &= ~(1u << lease.slot_);
  lease.slots_ = &slots;
  lease.memory = slots.memory.data() + lease.slot_ * slots.bytes;
  lease.bytes = std::min(span.size(), slots.bytes);
  lease.local_key = slots.region.local_key();
  lease.remote_key = slots.region.remote_key();
  return true;
}

Regions::RememberedMap::const_iterator Regions::at_or_before(std::uintptr_t address) const {
  const auto after = remembered_.upper_bound(address);
  return after == remembered_.begin() ? remembered_.end() : std::prev(after);
}

bool Regions::find_remembered(std::span<std::byte> span, Lease& lease) {
  const MutexLock lock(mutex_);
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
  const MutexLock lock(mutex_);
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
  // Spans of host memory may nest, so any that begins before `end` may reach into this one.
  return std::any_of(remembered_.begin(), remembered_.lower_bound(end), [&](const auto& entry) {
    return begin < entry.first + entry.second.bytes && (entry.second.is_device || !devices_only);
  });
}

void Regions::remember(std::span<std::byte> span) {
  if (span.empty()) return;
  const MutexLock lock(mutex_);
  if (remembered_.size() >= kRememberedMax || remembered_.contains(address_of(span))) return;
  if (overlaps(span, true)) return;
  Result<Entered> entered = enter(span, remembered_access());
  if (!entered) return;  // transfers then treat it like other memory
  remembered_.emplace(address_of(span),
                      Remembered{span.size(), std::move(entered->region), false, entered->is_paged});
}

Status Regions::remember_device(std::span<std::byte> span, const DeviceMemory& device) {
  const std::uintptr_t begin = address_of(span);
  // The kernel requires the same of both.
  const bool fits = ((begin | span.size() | device.offset) & kPageMask) == 0;
  if (span.empty() || begin > UINTPTR_MAX - span.size() || !fits)
    return {Code::kInvalidArgument, "rdma: device memory must be whole pages"};
  const MutexLock lock(mutex_);
  if (overlaps(span, false)) return {Code::kInvalidArgument, "rdma: this memory is registered already"};
  if (remembered_.size() >= kRememberedMax)
    return {Code::kResourceExhausted, "rdma: too many pieces of registered memory"};
  Result<Registration> region = Registration::make(verbs_, plan_.pd, span, remembered_access(), device);
  if (!region) return region.status();
  remembered_.emplace(begin, Remembered{span.size(), std::move(*region), true});
  return Status::ok();
}

bool Regions::reaches(std::span<const std::byte> span) const {
  const MutexLock lock(mutex_);
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

// Walks back from the end to the last piece that begins before the span: pieces before that end before the
// span too, if they belong to a device.
bool Regions::has_device(std::span<const std::byte> span) const {
  const MutexLock lock(mutex_);
  const std::uintptr_t begin = address_of(span);
  auto next = remembered_.lower_bound(begin + span.size());
  while (next != remembered_.begin()) {
    --next;
    if (next->second.is_device && next->first + next->second.bytes > begin) return true;
    if (next->first <= begin) return false;
  }
  return false;
}

void Regions::forget(std::span<std::byte> span) {
  const MutexLock lock(mutex_);
  const auto found = remembered_.find(address_of(span));
  if (found == remembered_.end()) return;
  Remembered& memory = found->second;
  if (plan_.remote && !memory.is_device && !memory.is_paged) retire(std::move(memory.region), memory.bytes);
  remembered_.erase(found);
}

void Regions::retire(Registration region, std::size_t bytes) {
  end_lingering(bytes < kLingerBytes ? kLingerBytes - bytes : 0);
  lingering_.push_back({std::move(region), bytes, Deadline::after(plan_.linger_time)});
  lingering_bytes_ += bytes;
  has_lingering_.store(true, std::memory_order_relaxed);
}

void Regions::end_overdue() {
  const MutexLock lock(mutex_);
  end_lingering(SIZE_MAX);
}

bool Regions::end_lingering(std::size_t most_bytes) {
  const std::size_t before = lingering_.size();
  while (!lingering_.empty() && (lingering_bytes_ > most_bytes || lingering_.front().until.passed())) {
    lingering_bytes_ -= lingering_.front().bytes;
    lingering_.pop_front();
  }
  if (lingering_.empty()) has_lingering_.store(false, std::memory_order_relaxed);
  return lingering_.size() != before;
}

}  // namespace tf::rdma
