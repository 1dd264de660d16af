// SPDX-License-Identifier: Apache-2.0
// Slots and runs of a device's heap; see device_heap.h.
#include "worker/runtime/cpu/kernel/device_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace tf::cpu {
namespace {

constexpr std::size_t kEvenSizes = 8;  // the sizes that are kAlignmentBytes apart
constexpr std::size_t kEvenMaxBytes = kEvenSizes * DeviceHeap::kAlignmentBytes;
constexpr unsigned kWordBits = 64;

}  // namespace

DeviceHeap::DeviceHeap(HeapMemory& memory, std::size_t reach_bytes)
    : memory_(memory),
      reach_units_(static_cast<std::uint32_t>(std::min<std::size_t>(reach_bytes / kUnitBytes, kNone - 1))) {
  listed_.fill(kNone);
}

DeviceHeap::~DeviceHeap() {
  clear();
  const MutexLock lock(mutex_);
  if (base_ != nullptr) ::munmap(base_, reach_units_ * kUnitBytes);
}

std::size_t DeviceHeap::size_index_of(std::size_t bytes) {
  if (bytes <= kEvenMaxBytes) return (bytes - 1) / kAlignmentBytes;
  const std::size_t last = bytes - 1;
  const unsigned log = static_cast<unsigned>(std::bit_width(last)) - 1;
  const unsigned doublings = log - static_cast<unsigned>(std::bit_width(kEvenMaxBytes) - 1);
  return kEvenSizes + doublings * 4 + ((last >> (log - 2)) & 3);
}

std::size_t DeviceHeap::size_of(std::size_t index) {
  if (index < kEvenSizes) return (index + 1) * kAlignmentBytes;
  const std::size_t step = (index - kEvenSizes) % 4, doublings = (index - kEvenSizes) / 4;
  return (kEvenMaxBytes / 4 << doublings) * (5 + step);
}

bool DeviceHeap::within_limit(std::size_t bytes) const {
  const std::size_t limit = memory_.heap_limit_bytes();
  return used_bytes_ <= limit && bytes <= limit - used_bytes_;
}

void* DeviceHeap::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const MutexLock lock(mutex_);
  try {
    return bytes <= kSlotMaxBytes ? take_slot(size_index_of(bytes)) : take_run(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool DeviceHeap::free(void* pointer) {
  if (pointer == nullptr) return true;
  const MutexLock lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  if (address < base || address - base >= units_.size() * kUnitBytes) return false;
  const auto index = static_cast<std::uint32_t>((address - base) / kUnitBytes);
  const std::size_t offset = (address - base) % kUnitBytes;
  const Unit& unit = units_[index];
  if (unit.use == Unit::Use::kSlots) return free_slot(index, offset);
  if (unit.use != Unit::Use::kRunStart || offset != 0) return false;
  used_bytes_ -= unit.length * kUnitBytes;
  give_units(index, unit.length);
  return true;
}

void DeviceHeap::clear() {
  const MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    if (units_[i].use == Unit::Use::kSlots) give_units(i, 1);
    if (units_[i].use == Unit::Use::kRunStart) give_units(i, units_[i].length);
  }
  listed_.fill(kNone);
  used_bytes_ = 0;
}

void* DeviceHeap::take_slot(std::size_t size_index) {
  const std::size_t bytes = size_of(size_index);
  if (!within_limit(bytes)) return nullptr;
  const std::uint32_t listed = listed_[size_index];
  const std::uint32_t index = listed != kNone ? listed : make_slots(size_index);
  if (index == kNone) return nullptr;
  Slots& slots = *units_[index].slots;
  const auto word = std::find_if(slots.taken.begin(), slots.taken.end(),
                                 [](std::uint64_t bits) { return bits != ~std::uint64_t{0}; });
  const auto bit = static_cast<unsigned>(std::countr_one(*word));
  *word |= std::uint64_t{1} << bit;
  if (++slots.used == slots.count) delist(index);
  used_bytes_ += bytes;
  return at(index) + (static_cast<std::size_t>(word - slots.taken.begin()) * kWordBits + bit) * bytes;
}

bool DeviceHeap::free_slot(std::uint32_t unit, std::size_t offset) {
  Slots& slots = *units_[unit].slots;
  const std::size_t bytes = size_of(slots.size_index), slot = offset / bytes;
  if (offset % bytes != 0 || slot >= slots.count) return false;
  std::uint64_t& word = slots.taken[slot / kWordBits];
  const std::uint64_t bit = std::uint64_t{1} << slot % kWordBits;
  if ((word & bit) == 0) return false;
  word &= ~bit;
  used_bytes_ -= bytes;
  if (slots.used-- == slots.count) enlist(unit);
  // One empty unit of each size is kept for those who allocate and free in turn.
  const bool alone = listed_[slots.size_index] == unit && slots.next == kNone;
  if (slots.used == 0 && !alone) {
    delist(unit);
    give_units(unit, 1);
  }
  return true;
}

std::uint32_t DeviceHeap::make_slots(std::size_t size_index) {
  auto slots = std::make_unique<Slots>();
  slots->size_index = static_cast<std::uint32_t>(size_index);
  slots->count = static_cast<std::uint32_t>(kUnitBytes / size_of(size_index));
  slots->taken.assign((slots->count + kWordBits - 1) / kWordBits, 0);
  // The bits behind the last slot stay taken.
  if (const unsigned rest = slots->count % kWordBits; rest != 0)
    slots->taken.back() = ~std::uint64_t{0} << rest;
  const std::uint32_t unit = take_units(1);
  if (unit == kNone) return kNone;
  units_[unit].use = Unit::Use::kSlots;
  units_[unit].slots = std::move(slots);
  enlist(unit);
  return unit;
}

void* DeviceHeap::take_run(std::size_t bytes) {
  if (bytes > reach_units_ * kUnitBytes) return nullptr;
  const auto count = static_cast<std::uint32_t>((bytes + kUnitBytes - 1) / kUnitBytes);
  if (!within_limit(count * kUnitBytes)) return nullptr;
  const std::uint32_t first = take_units(count);
  if (first == kNone) return nullptr;
  used_bytes_ += count * kUnitBytes;
  return at(first);
}

std::uint32_t DeviceHeap::take_units(std::uint32_t count) {
  const std::uint32_t first = find_units(count);
  if (first > reach_units_ || count > reach_units_ - first || !open_units(first + count)) return kNone;
  if (!memory_.take_memory(count * kUnitBytes)) return kNone;
  for (std::uint32_t i = first; i < first + count; ++i) units_[i].use = Unit::Use::kRunRest;
  units_[first].use = Unit::Use::kRunStart;
  units_[first].length = count;
  if (first == first_free_) first_free_ = first + count;
  return first;
}

// The first row of free units that is long enough; the last one may go on in units that are not open yet.
std::uint32_t DeviceHeap::find_units(std::uint32_t count) {
  std::uint32_t found = 0;
  for (std::uint32_t i = first_free_; i < units_.size(); ++i) {
    if (units_[i].use != Unit::Use::kFree)
      found = 0;
    else if (++found == count)
      return i + 1 - count;
  }
  return static_cast<std::uint32_t>(units_.size()) - found;
}

// Units stay open, so that the kernel keeps one mapping of all of them.
bool DeviceHeap::open_units(std::uint32_t end) {
  if (base_ == nullptr) {
    void* const base = ::mmap(nullptr, reach_units_ * kUnitBytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return false;
    base_ = static_cast<std::byte*>(base);
  }
  const auto opened = static_cast<std::uint32_t>(units_.size());
  if (end <= opened) return true;
  units_.resize(end);
  if (::mprotect(at(opened), (end - opened) * kUnitBytes, PROT_READ | PROT_WRITE) == 0) return true;
  units_.resize(opened);
  return false;
}

void DeviceHeap::give_units(std::uint32_t first, std::uint32_t count) {
  ::madvise(at(first), count * kUnitBytes, MADV_DONTNEED);
  for (std::uint32_t i = first; i < first + count; ++i) units_[i] = {};
  first_free_ = std::min(first_free_, first);
  memory_.give_memory(count * kUnitBytes);
}

void DeviceHeap::enlist(std::uint32_t unit) {
  Slots& slots = *units_[unit].slots;
  std::uint32_t& first = listed_[slots.size_index];
  slots.previous = kNone;
  slots.next = first;
  if (first != kNone) units_[first].slots->previous = unit;
  first = unit;
}

void DeviceHeap::delist(std::uint32_t unit) {
  const Slots& slots = *units_[unit].slots;
  if (slots.previous != kNone)
    units_[slots.previous].slots->next = slots.next;
  else
    listed_[slots.size_index] = slots.next;
  if (slots.next != kNone) units_[slots.next].slots->previous = slots.previous;
}

}  // namespace tf::cpu
