// SPDX-License-Identifier: Apache-2.0
// Stamp: tells a consumer that polls its memory that an unannounced record (stream.h, "Quiet push") has
// arrived, complete, and in this lap of the ring. It is the last 16 bytes of the record's last line:
//
//   offset  size  field
//   0       8     mark   bits 31-0   of the record's position and the ring's secret
//                        bits 63-32  what the producer's end has consumed of the opposite stream, in lines
//   8       8     seal   XXH3-64 of header and payload, seeded with secret, position and mark
//
// A WRITE without a completion may become visible in parts and in any order: devices promise no order, and
// the one emulated in software sometimes copies backwards. So the seal covers the whole record. Bytes left
// from earlier laps, or payload of earlier records, do not match: their position differs, and the secret, 64
// random bits from the ring's owner, is known only to the two ends, not to whoever chooses the payload.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rdma/stream.h"

namespace tf::rdma {

struct Stamp {
  std::uint64_t mark = 0;
  std::uint64_t seal = 0;
};
static_assert(sizeof(Stamp) == kStampBytes);

// The stamp of `record`, header and payload, at `position`. `told`: lines, mod 2^32.
Stamp make_stamp(std::uint64_t secret, std::uint64_t position, std::uint32_t told,
                 std::span<const std::byte> record);

// A stamped record, copied out of memory that a device may be writing meanwhile.
class StampedCopy {
 public:
  // In two steps, for polling loops. find() looks at the start of `place`, which extends to the ring's end.
  // It returns the bytes of header and payload of a record that is marked for `position`; 0: there is none
  // yet.
  static std::size_t find(std::span<const std::byte> place, std::uint64_t secret, std::uint64_t position);
  // True: all `bytes` have arrived. REQUIRES: find() returned them, for this place and position.
  bool take(std::span<const std::byte> place, std::size_t bytes, std::uint64_t secret,
            std::uint64_t position);
  // The record that take() found; valid until its next call.
  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return size_; }
  std::uint32_t told() const { return told_; }

 private:
  static std::uint64_t load(const std::byte* word) {
    return word_at(const_cast<std::byte*>(word)).load(std::memory_order_relaxed);
  }

  alignas(kLineBytes) std::array<std::byte, kStampedMax + kStampBytes> bytes_{};
  std::size_t size_ = 0;
  std::uint32_t told_ = 0;
};

constexpr std::uint32_t tag_of(std::uint64_t secret, std::uint64_t position) {
  return static_cast<std::uint32_t>(position / kLineBytes) ^ static_cast<std::uint32_t>(secret >> 32);
}

inline std::size_t StampedCopy::find(std::span<const std::byte> place, std::uint64_t secret,
                                     std::uint64_t position) {
  const std::uint64_t payload = load(place.data() + offsetof(FrameHeader, payload_length));
  if (payload > kStampedMax - kFrameHeaderBytes) return 0;
  const std::size_t bytes = kFrameHeaderBytes + payload;
  const std::size_t span = record_span(bytes);
  if (span > place.size()) return 0;
  const std::uint64_t mark = load(place.data() + span - kStampBytes);
  return static_cast<std::uint32_t>(mark) == tag_of(secret, position) ? bytes : 0;
}

}  // namespace tf::rdma
