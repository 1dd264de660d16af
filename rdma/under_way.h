// SPDX-License-Identifier: Apache-2.0
// UnderWay: the READs or WRITEs of payload that the device has, oldest first; it ends them in this order.
// Enough of them that the device always has the next when it ends one; no more, since records wait behind
// them in the same queue. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "rdma/regions.h"

namespace tf::rdma {

inline constexpr unsigned kTransfersMax = 8;
// With so many bytes under way nothing is added: 40 us at 400 Gbit/s, many round trips.
inline constexpr std::uint64_t kUnderWayBytes = std::uint64_t{2} << 20;

struct Transfer {
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  Lease lease;
  std::byte* target = nullptr;  // of a READ through a slot
};

class UnderWay {
 public:
  bool empty() const { return count_ == 0; }
  bool may_add() const { return count_ < kTransfersMax && bytes_ < kUnderWayBytes; }
  // REQUIRES: may_add()
  void add(Transfer transfer) {
    bytes_ += transfer.bytes;
    transfers_[(first_ + count_) % kTransfersMax] = std::move(transfer);
    ++count_;
  }
  // The device has finished with `count` more, the oldest of those that it had.
  void end(unsigned count) { ended_ = std::min(ended_ + count, count_); }
  bool has_ended() const { return ended_ != 0; }
  bool all_ended() const { return ended_ == count_; }
  // REQUIRES: !empty()
  Transfer& oldest() { return transfers_[first_]; }
  // Removes the oldest, and gives back what it leased. REQUIRES: has_ended()
  void remove() {
    bytes_ -= oldest().bytes;
    oldest().lease.release();
    first_ = (first_ + 1) % kTransfersMax;
    --count_;
    --ended_;
  }

 private:
  std::array<Transfer, kTransfersMax> transfers_;
  unsigned first_ = 0;
  unsigned count_ = 0;
  unsigned ended_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace tf::rdma
