// SPDX-License-Identifier: Apache-2.0
// UnderWay: payload transfers in flight in one direction, oldest first. Some are READs or WRITEs that the
// device has, and it ends them in this order; others only keep their place between these. There are enough
// that the device always has a next one, and no more, since records wait behind them in the same queue. One
// thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "rdma/regions.h"

namespace tf::rdma {

inline constexpr unsigned kTransfersMax = 8;
// With this many bytes in flight nothing is added, except to a single transfer: 40 us at 400 Gbit/s, many
// round trips.
inline constexpr std::uint64_t kUnderWayBytes = std::uint64_t{2} << 20;

struct Transfer {
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint64_t place = 0;  // final address of the bytes, on either side; 0: none
  Lease lease = {};
  std::byte* target = nullptr;            // for a READ through a slot
  std::span<const std::byte> small = {};  // bytes that go inside a record
  bool posted = false;                    // the device has it
};

class UnderWay {
 public:
  bool empty() const { return count_ == 0; }
  bool may_add() const { return count_ < kTransfersMax && (bytes_ < kUnderWayBytes || count_ < 2); }
  // REQUIRES: may_add()
  void add(Transfer transfer) {
    bytes_ += transfer.bytes;
    at(count_++) = std::move(transfer);
  }
  // The device has finished `count` more, the oldest of those that it has.
  void end(unsigned count) {
    for (unsigned index = 0; index < count_ && count != 0; ++index) {
      Transfer& transfer = at(index);
      if (std::exchange(transfer.posted, false)) --count;
    }
  }
  // The final bytes may come from a slot or from the device; two transfers to the same place would not keep
  // their order.
  bool overlaps(std::uint64_t place, std::uint64_t bytes) const {
    for (unsigned index = 0; index < count_; ++index) {
      const Transfer& other = transfers_[(first_ + index) % kTransfersMax];
      if (other.place != 0 && (place - other.place < other.bytes || other.place - place < bytes)) return true;
    }
    return false;
  }
  bool has_ended() const { return count_ != 0 && !transfers_[first_].posted; }
  // The device has none of them.
  bool all_ended() {
    for (unsigned index = 0; index < count_; ++index)
      if (at(index).posted) return false;
    return true;
  }
  // REQUIRES: !empty()
  Transfer& oldest() { return transfers_[first_]; }
  // Removes the oldest and returns its lease. REQUIRES: !empty(), and the device does not have it
  void remove() {
    bytes_ -= oldest().bytes;
    oldest().lease.release();
    first_ = (first_ + 1) % kTransfersMax;
    --count_;
  }

 private:
  Transfer& at(unsigned index) { return transfers_[(first_ + index) % kTransfersMax]; }

  std::array<Transfer, kTransfersMax> transfers_;
  unsigned first_ = 0;
  unsigned count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace tf::rdma
