// SPDX-License-Identifier: Apache-2.0
#include "transport/ring.h"

#include <bit>
#include <cstring>

#include "transport/fence.h"

namespace tf {
namespace {

constexpr std::uint64_t kMagic = 0x0002'676e'6952'7069;  // "ipRing", layout 2
constexpr std::size_t kCapacityOffset = 8;
constexpr std::size_t kConsumedOffset = 128;
constexpr std::uint32_t kPadLength = 0xffffffff;
constexpr std::size_t kPrefetchLines = 4;  // two small records ahead of the producer

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

bool RingProducer::refresh_consumed(std::uint64_t position) {
  const std::uint64_t consumed = ring_.consumed().load(std::memory_order_acquire);  // A2
  broken_ = broken_ || consumed < consumed_ || consumed > position || consumed % kRingLineBytes != 0;
  if (!broken_) consumed_ = consumed;
  return !broken_;
}

// A record may be preceded by a pad and is followed by one zeroed line, which must be free, too.
std::size_t RingProducer::wanted(std::uint64_t position, std::size_t bytes) const {
  const std::size_t needed = lines(bytes);
  const std::size_t rest = to_end(position);
  return (needed > rest ? rest : 0) + needed + kRingLineBytes;
}

bool RingProducer::has_room(std::size_t bytes) const {
  const std::uint64_t position = position_.load(std::memory_order_relaxed);
  // Beyond the capacity only when the consumer's position makes no sense: reserve() will say so.
  const std::uint64_t used = position - ring_.consumed().load(std::memory_order_acquire);  // A2
  return used > ring_.capacity() || used + wanted(position, bytes) <= ring_.capacity();
}

std::span<std::byte> RingProducer::reserve(std::size_t bytes) {
  std::uint64_t position = position_.load(std::memory_order_relaxed);
  const std::uint64_t end = position + wanted(position, bytes);
  if (end - consumed_ > ring_.capacity() &&
      (!refresh_consumed(position) || end - consumed_ > ring_.capacity()))
    return {};
  if (const std::size_t rest = to_end(position); lines(bytes) > rest) {
    ring_.word(position + rest).store(0, std::memory_order_relaxed);  // ordered by the release below
    ring_.word(position).store(make_word(kPadLength, position), std::memory_order_release);  // R1
    position += rest;
    position_.store(position, std::memory_order_relaxed);
  }
  reserved_ = bytes;
  return {ring_.data() + (position & (ring_.capacity() - 1)) + kRingPrefixBytes, bytes};
}

void RingProducer::publish() {
  const std::uint64_t position = position_.load(std::memory_order_relaxed);
  const std::uint64_t next = position + lines(reserved_);
  ring_.word(next).store(0, std::memory_order_relaxed);  // ordered by the release below
  ring_.word(position).store(make_word(static_cast<std::uint32_t>(reserved_), position),
                             std::memory_order_release);  // R1
  position_.store(next, std::memory_order_relaxed);
  reserved_ = 0;
  prefetch(next + kRingLineBytes);
}

// The lines that the next records will be written to are in the consumer's cache: fetch them back before a
// publish has to wait for them. They hold nothing that the consumer still reads (see wanted(): it may, when
// the ring is nearly full; then this is a waste, not a mistake).
void RingProducer::prefetch(std::uint64_t position) const {
  for (std::size_t line = 0; line < kPrefetchLines; ++line)
    prefetch_for_write(ring_.data() + ((position + line * kRingLineBytes) & (ring_.capacity() - 1)));
}

bool RingConsumer::has_record() const {
  const std::uint64_t position = position_.load(std::memory_order_acquire);           // pairs with advance()
  return is_current(ring_.word(position).load(std::memory_order_acquire), position);  // A1
}

std::span<const std::byte> RingConsumer::peek() {
  for (int pads = 0; pads < 2 && !broken_; ++pads) {
    const std::uint64_t position = position_.load(std::memory_order_relaxed);
    const std::uint64_t word = ring_.word(position).load(std::memory_order_acquire);  // A1
    if (!is_current(word, position)) return {};
    const auto length = static_cast<std::uint32_t>(word);
    const std::size_t at = static_cast<std::size_t>(position & (ring_.capacity() - 1));
    if (length != kPadLength) {
      if (length > ring_.capacity() / 4 || lines(length) > ring_.capacity() - at) break;
      current_ = lines(length);
      return {ring_.data() + at + kRingPrefixBytes, length};
    }
    advance(ring_.capacity() - at);
  }
  broken_ = true;
  return {};
}

void RingConsumer::consume() { advance(std::exchange(current_, 0)); }

void RingConsumer::advance(std::size_t bytes) {
  const std::uint64_t position = position_.load(std::memory_order_relaxed) + bytes;
  position_.store(position, std::memory_order_release);  // pairs with position() and has_record()
  if (position - released_ >= ring_.capacity() / 4) release();
}

void RingConsumer::release() {
  released_ = position_.load(std::memory_order_relaxed);
  ring_.consumed().store(released_, std::memory_order_release);  // R2
  has_released_ = true;
}

}  // namespace tf
