// SPDX-License-Identifier: Apache-2.0
#include "transport/ring.h"

#include <bit>
#include <cstring>

namespace tf {
namespace {

constexpr std::uint64_t kMagic = 0x0001'676e'6952'7069;  // "ipRing", layout 1
constexpr std::size_t kCapacityOffset = 8;
constexpr std::size_t kConsumedOffset = 256;
constexpr std::uint32_t kPadLength = 0xffffffff;

std::uint64_t make_word(std::uint32_t length, std::uint64_t position) {
  const auto sequence = static_cast<std::uint32_t>(position / kRingLineBytes + 1);
  return static_cast<std::uint64_t>(sequence) << 32 | length;
}

bool is_current(std::uint64_t word, std::uint64_t position) {
  return static_cast<std::uint32_t>(word >> 32) ==
             static_cast<std::uint32_t>(position / kRingLineBytes + 1) &&
         static_cast<std::uint32_t>(word) != 0;
}

std::size_t lines(std::size_t bytes) {
  return (bytes + kRingPrefixBytes + kRingLineBytes - 1) / kRingLineBytes * kRingLineBytes;
}

Status check_memory(std::span<std::byte> memory, std::size_t capacity) {
  if (!std::has_single_bit(capacity) || capacity < kRingCapacityMin || capacity > kRingCapacityMax)
    return {Code::kInvalidArgument, "a ring's capacity is a power of two between 4 KiB and 16 MiB"};
  if (memory.size() < ring_bytes(capacity)) return {Code::kInvalidArgument, "memory too small for the ring"};
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % kRingLineBytes != 0)
    return {Code::kInvalidArgument, "ring memory must be 64-byte aligned"};
  return Status::ok();
}

}  // namespace

Result<RingView> RingView::format(std::span<std::byte> memory, std::size_t capacity) {
  TF_RETURN_IF_ERROR(check_memory(memory, capacity));
  std::memset(memory.data(), 0, ring_bytes(capacity));
  const std::uint64_t capacity_word = capacity;
  std::memcpy(memory.data(), &kMagic, sizeof kMagic);
  std::memcpy(memory.data() + kCapacityOffset, &capacity_word, sizeof capacity_word);
  return RingView(memory.data(), capacity);
}

Result<RingView> RingView::attach(std::span<std::byte> memory, std::size_t capacity) {
  TF_RETURN_IF_ERROR(check_memory(memory, capacity));
  std::uint64_t magic = 0;
  std::uint64_t capacity_word = 0;
  std::memcpy(&magic, memory.data(), sizeof magic);
  std::memcpy(&capacity_word, memory.data() + kCapacityOffset, sizeof capacity_word);
  if (magic != kMagic) return Status{Code::kProtocol, "ring header: wrong magic or layout version"};
  if (capacity_word != capacity)
    return Status{Code::kProtocol, "ring header: capacity " + std::to_string(capacity_word) + ", expected " +
                                       std::to_string(capacity)};
  return RingView(memory.data(), capacity);
}

std::atomic_ref<std::uint64_t> RingView::consumed() const {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(base_ + kConsumedOffset));
}

std::atomic_ref<std::uint64_t> RingView::word(std::uint64_t position) const {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(data() + (position & (capacity_ - 1))));
}

bool RingProducer::refresh_consumed() const {
  const std::uint64_t consumed = ring_.consumed().load(std::memory_order_acquire);  // A2
  if (consumed < consumed_ || consumed > position_ || consumed % kRingLineBytes != 0) {
    broken_ = true;
    return false;
  }
  consumed_ = consumed;
  return true;
}

// A record may be preceded by a pad and is followed by one zeroed line, which must be free, too.
bool RingProducer::room_for(std::size_t bytes) const {
  const std::size_t to_end = ring_.capacity() - (position_ & (ring_.capacity() - 1));
  const std::size_t needed = lines(bytes);
  const std::size_t wanted = (needed > to_end ? to_end : 0) + needed + kRingLineBytes;
  if (position_ + wanted - consumed_ <= ring_.capacity()) return true;
  return refresh_consumed() && position_ + wanted - consumed_ <= ring_.capacity();
}

Result<std::span<std::byte>> RingProducer::reserve(std::size_t bytes) {
  const bool room = room_for(bytes);
  if (broken_) return Status{Code::kProtocol, "ring: the consumer's position makes no sense"};
  if (!room) return would_block();
  const std::size_t to_end = ring_.capacity() - (position_ & (ring_.capacity() - 1));
  if (lines(bytes) > to_end) {
    ring_.word(position_ + to_end).store(0, std::memory_order_relaxed);  // ordered by the release below
    ring_.word(position_).store(make_word(kPadLength, position_), std::memory_order_release);  // R1
    position_ += to_end;
  }
  reserved_ = bytes;
  return std::span(ring_.data() + (position_ & (ring_.capacity() - 1)) + kRingPrefixBytes, bytes);
}

void RingProducer::publish() {
  const std::uint64_t next = position_ + lines(reserved_);
  ring_.word(next).store(0, std::memory_order_relaxed);  // ordered by the release below
  ring_.word(position_).store(make_word(static_cast<std::uint32_t>(reserved_), position_),
                              std::memory_order_release);  // R1
  position_ = next;
  reserved_ = 0;
}

bool RingConsumer::has_record() const {
  return is_current(ring_.word(position_).load(std::memory_order_acquire), position_);  // A1
}

Result<std::optional<std::span<const std::byte>>> RingConsumer::peek() {
  for (int pads = 0; pads < 2; ++pads) {
    const std::uint64_t word = ring_.word(position_).load(std::memory_order_acquire);  // A1
    if (!is_current(word, position_)) {
      if (released_ != position_) release();
      return std::optional<std::span<const std::byte>>();
    }
    const auto length = static_cast<std::uint32_t>(word);
    const std::size_t to_end = ring_.capacity() - (position_ & (ring_.capacity() - 1));
    if (length != kPadLength) {
      if (length > ring_.capacity() / 4 || lines(length) > to_end) break;
      current_ = lines(length);
      return std::optional(std::span<const std::byte>(
          ring_.data() + (position_ & (ring_.capacity() - 1)) + kRingPrefixBytes, length));
    }
    position_ += to_end;
  }
  return Status{Code::kProtocol, "ring: a record's length makes no sense"};
}

void RingConsumer::consume() {
  position_ += current_;
  current_ = 0;
  if (position_ - released_ >= ring_.capacity() / 4) release();
}

void RingConsumer::release() {
  released_ = position_;
  ring_.consumed().store(position_, std::memory_order_release);  // R2
}

}  // namespace tf
