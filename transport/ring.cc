// SPDX-License-Identifier: Apache-2.0
// The rare paths of the record ring: formatting, attaching, pads, room.
#include "transport/ring.h"

#include <bit>
#include <cstring>
#include <string>

namespace tf {
namespace {

constexpr std::uint64_t kMagic = 0x0003'676e'6952'7069;  // "ipRing", layout 3
constexpr std::size_t kCapacityOffset = 8;

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

RingProducer::RingProducer(RingView ring, std::uint64_t position)
    : ring_(ring),
      position_(position),
      consumed_(position),
      stained_((ring.capacity() / kRingLineBytes + 63) / 64) {}

// Makes room up to `end`. REQUIRES: the producer's cached position of the consumer is too old.
bool RingProducer::make_room(std::uint64_t position, std::uint64_t end) {
  const std::uint64_t consumed = ring_.consumed().load(std::memory_order_acquire);  // A2
  broken_ = broken_ || consumed < consumed_ || consumed > position || consumed % kRingLineBytes != 0;
  if (broken_) return false;
  consumed_ = consumed;
  return end - consumed_ <= ring_.capacity();
}

bool RingProducer::has_room(std::size_t bytes) const {
  const std::uint64_t position = position_.load(std::memory_order_relaxed);
  // Exceeds the capacity only if the consumer's position is impossible: reserve() will say so.
  const std::uint64_t used = position - ring_.consumed().load(std::memory_order_acquire);  // A2
  return used > ring_.capacity() || used + wanted(position, bytes) <= ring_.capacity();
}

void RingProducer::pad(std::uint64_t& position) {
  const std::uint64_t next = position + to_end(position);
  commit(position, next, kRingPadLength);
  position = next;
}

void RingProducer::stain(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t position = begin; position < end; position += kRingLineBytes) {
    const std::size_t line = ring_.offset(position) / kRingLineBytes;
    stained_[line / 64] |= std::uint64_t{1} << line % 64;
  }
}

// The caller may have written anything, and the consumer reads the first of these lines.
void RingProducer::abandon() {
  const std::uint64_t position = position_.load(std::memory_order_relaxed);
  ring_.word(position).store(0, std::memory_order_relaxed);
  stain(position + kRingLineBytes, position + ring_lines(std::exchange(reserved_, 0)));
}

}  // namespace tf
