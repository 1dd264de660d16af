// SPDX-License-Identifier: Apache-2.0
// The memory that both ends of a shm endpoint map: one sealed memfd, made by the worker's side.
//
//   offset           size                        what
//   0x0000           4096                        SegmentHeader
//   kClientRing      ring_bytes(512 KiB)         messages, client -> worker
//   kWorkerRing      ring_bytes(256 KiB)         messages, worker -> client
//   kClientBulk      ring_bytes(1 MiB)           payload chunks, client -> worker
//   kWorkerBulk      ring_bytes(1 MiB)           payload chunks, worker -> client
//
// All offsets are multiples of 4096. The opener checks the size, the seals and every header field. Afterwards
// only the rings and doorbells are read, and they check what they read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "transport/ring.h"
#include "transport/wakeup.h"

namespace tf::shm {

inline constexpr std::uint64_t kSegmentMagic = 0x6d68'7372'7069'6831;
inline constexpr std::uint32_t kSegmentVersion = 4;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kClientRingBytes = 512 * 1024;
inline constexpr std::size_t kWorkerRingBytes = 256 * 1024;
inline constexpr std::size_t kBulkRingBytes = 1024 * 1024;

constexpr std::size_t pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
inline constexpr std::size_t kClientRing = kPage;
inline constexpr std::size_t kWorkerRing = kClientRing + pages(ring_bytes(kClientRingBytes));
inline constexpr std::size_t kClientBulk = kWorkerRing + pages(ring_bytes(kWorkerRingBytes));
inline constexpr std::size_t kWorkerBulk = kClientBulk + pages(ring_bytes(kBulkRingBytes));
inline constexpr std::size_t kSegmentBytes = kWorkerBulk + pages(ring_bytes(kBulkRingBytes));

struct SegmentHeader {
  std::uint64_t magic = kSegmentMagic;
  std::uint32_t version = kSegmentVersion;
  std::uint32_t reserved = 0;
  std::uint64_t segment_bytes = kSegmentBytes;
  std::uint64_t ring_offsets[4] = {kClientRing, kWorkerRing, kClientBulk, kWorkerBulk};
};
static_assert(sizeof(SegmentHeader) == 56 && offsetof(SegmentHeader, segment_bytes) == 16);
static_assert(offsetof(SegmentHeader, ring_offsets) == 24);
static_assert(std::has_unique_object_representations_v<SegmentHeader>);

// The doorbells that wake the client and the worker, each on its own cache line.
inline constexpr std::size_t kClientDoorbell = 1024;
inline constexpr std::size_t kWorkerDoorbell = 2048;

enum class Side : std::uint8_t { kClient, kWorker };

// One side's view of the segment.
struct Rings {
  RingView messages_out;
  RingView messages_in;
  RingView bulk_out;
  RingView bulk_in;
  Doorbell own;   // wakes us
  Doorbell peer;  // wakes the other side
};

// A mapping of a segment; unmapped with its owner.
class Segment {
 public:
  // Makes, maps and seals a fresh segment. `fd` is what the other side needs.
  static Result<Segment> create(net::OwnedFd& fd);
  // Maps a segment that the worker's side made. kProtocol names what is wrong with it.
  static Result<Segment> open(const net::OwnedFd& fd);
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  Result<Rings> rings(Side side) const;

 private:
  explicit Segment(std::byte* base) : base_(base) {}
  std::span<std::byte> part(std::size_t offset, std::size_t capacity) const {
    return {base_ + offset, ring_bytes(capacity)};
  }
  std::byte* base_ = nullptr;
};

// Ok, or why this kernel cannot make such a segment.
Status segments_available();

}  // namespace tf::shm
