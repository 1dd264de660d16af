// SPDX-License-Identifier: Apache-2.0
// Fuzz entry: a record ring in memory that a hostile peer writes while it is used. Whatever stands there,
// both sides stay inside the data area and come to an end.
#include <array>
#include <cstring>

#include "input.h"
#include "transport/ring.h"

namespace {

constexpr std::size_t kCapacity = tf::kRingCapacityMin;
constexpr int kStepsMax = 512;

void expect_inside(const tf::RingView& ring, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (bytes.data() < ring.data() || bytes.data() + bytes.size() > ring.data() + ring.capacity())
    __builtin_trap();
}

void step(tf::fuzz::Input& input, const tf::RingView& ring, tf::RingProducer& producer,
          tf::RingConsumer& consumer) {
  const std::size_t bytes =
      tf::kRingMessageMin + input.take<std::uint16_t>() % (producer.bytes_max() - tf::kRingMessageMin + 1);
  const std::span<std::byte> slot = producer.reserve(bytes);
  expect_inside(ring, slot);
  if (!slot.empty()) {
    if (slot.size() != bytes) __builtin_trap();
    std::memset(slot.data(), 1, slot.size());
    if (input.take<std::uint8_t>() % 4 != 0)
      producer.publish();
    else
      producer.abandon();
  }
  const std::span<const std::byte> record = consumer.peek();
  expect_inside(ring, record);
  unsigned char sum = 0;  // every byte must be readable
  for (const std::byte value : record)
    sum = static_cast<unsigned char>(sum + static_cast<unsigned char>(value));
  static_cast<void>(sum);
  if (!record.empty()) consumer.consume();
  if (input.take<std::uint8_t>() % 8 == 0) consumer.release();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  alignas(tf::kRingLineBytes) static std::array<std::byte, tf::ring_bytes(kCapacity)> memory;
  memory.fill(std::byte{0});
  tf::fuzz::Input input(data, size);
  if (!tf::RingView::format(memory, kCapacity)) __builtin_trap();
  for (int hits = input.take<std::uint8_t>() % 4; hits > 0; --hits)
    memory[input.take<std::uint16_t>() % tf::kRingHeaderBytes] = input.take<std::byte>();
  tf::Result<tf::RingView> ring = tf::RingView::attach(memory, kCapacity);
  if (!ring) return 0;
  tf::RingProducer producer(*ring);
  tf::RingConsumer consumer(*ring);
  for (int steps = 0; steps < kStepsMax && !input.empty(); ++steps) {
    if (input.take<std::uint8_t>() % 2 == 0) {  // the peer strikes: mostly commit words
      std::size_t at = input.take<std::uint16_t>() % (memory.size() - sizeof(std::uint64_t));
      if (at % 4 != 0) at = at / tf::kRingLineBytes * tf::kRingLineBytes + tf::kRingWordOffset;
      const auto value = input.take<std::uint64_t>();
      std::memcpy(memory.data() + at, &value, sizeof value);
    }
    step(input, *ring, producer, consumer);
  }
  return 0;
}
