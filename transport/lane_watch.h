// SPDX-License-Identifier: Apache-2.0
// LaneWatch: finds out that bytes which one side gave to the network never reach the other.
//
// TCP tells neither side of it: whoever stands between the hosts (a proxy, an attacker) may have acknowledged
// and dropped them, and the path of one connection alone may be gone. So each side tells the other, on the
// control connection, how many bytes its kernel has taken for each lane. If they have not arrived at the
// other side's kernel for as long as a host may be silent (TF_IO_TIMEOUT), the session has lost its peer.
//
// A spare lane (LaneTraffic) is dropped sooner, and the session goes on without it.
//
// A peer that is busy is not lost: its kernel counts bytes as they arrive, not as they are read. Bytes may
// wait at the sender because the receiver has no room; then the receiver has unread ones.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/base/status.h"
#include "transport/endpoint.h"

namespace tf {

// How long what was sent on a spare lane may take to arrive, if a host may be silent for longer.
inline constexpr std::chrono::milliseconds kSparePatience{4000};

// What one side tells the other: bytes that its kernel has taken, by lane, since the lane was connected.
struct LaneReport {
  std::array<std::uint64_t, kLanesMax> sent{};
  std::size_t count = 0;
};

// One thread at a time: the one that reads the control connection. Costs nothing else.
class LaneWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // `endpoint` outlives it.
  explicit LaneWatch(Endpoint& endpoint) : LaneWatch(endpoint, endpoint.lane_traffic()) {}

  // For poll(2): until turn() has something to do; -1 if this endpoint's lanes lose nothing.
  int sleep_ms(Clock::time_point now) const;
  // At any time. What the peer is to be told: nothing before the next turn is due, or if nothing was sent
  // since the last report. kPeerLost: bytes do not arrive.
  Result<std::optional<LaneReport>> turn(Clock::time_point now);
  // What the peer has told. kProtocol: it has other lanes, or takes back what it said.
  Status hear(const LaneReport& report);

 private:
  struct Lane {
    std::uint64_t told = 0;      // to the peer
    std::uint64_t promised = 0;  // by the peer
    std::uint64_t arrived = 0;   // when it last changed
    Clock::time_point since{};   // of the same
    int looks = 0;               // since then
  };

  LaneWatch(Endpoint& endpoint, const LaneTraffics& now);
  Status judge(Lane& lane, const LaneTraffic& traffic, Clock::time_point now) const;

  Endpoint& endpoint_;
  const std::size_t count_;
  const std::chrono::milliseconds patience_;
  const std::chrono::milliseconds interval_;
  Clock::time_point due_;
  std::array<Lane, kLanesMax> lanes_{};
};

}  // namespace tf
