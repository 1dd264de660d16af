// SPDX-License-Identifier: Apache-2.0
// UnderWay: transfers of payload in one direction, oldest first: READs or WRITEs that the device has, which
// ends them in this order, and between them what keeps its place without the device. Enough of them that the
// device always has the next when it ends one; no more, since records wait behind them in the same queue. One
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
// With so many bytes under way nothing is added, but to one by itself: 40 us at 400 Gbit/s, many round trips.
inline constexpr std::uint64_t kUnderWayBytes = std::uint64_t{2} << 20;

struct Transfer {
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint64_t place = 0;  // where the bytes will be in the end, here or there; 0: nowhere
  Lease lease = {};
  std::byte* target = nullptr;            // of a READ through a slot
  std::span<const std::byte> small = {};  // of what goes in a record
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
  // The device has finished with `count` more, the oldest of those that it has.
  void end(unsigned count) {
    for (unsigned index = 0; index < count_ && count != 0; ++index) {
      Transfer& transfer = at(index);
      if (std::exchange(transfer.posted, false)) --count;
    }
  }
  // What is to be there may come from a slot or from the device: two for the same place would not keep their
  // order.
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
  // Removes the oldest, and gives back what it leased. REQUIRES: !empty(), and the device does not have it
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
