// SPDX-License-Identifier: Apache-2.0
// MirrorTraffic: how what is mirrored travels: in the order of requests, or at once, by orders on the control
// connection (hipcore/mirror/order.h). One call at a time.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "hipcore/mirror/changes.h"
#include "hipcore/mirror/piece.h"
#include "proxy/session/connection.h"
#include "proxy/session/payload.h"

namespace tf::proxy {

// Where what arrives belongs.
class MirroredPlaces {
 public:
  // The memory of a piece that the worker has named, and its address here; null: it is not mirrored.
  virtual mirror::Changes* place_of(const mirror::Piece& there, mirror::Piece& here) = 0;

 protected:
  ~MirroredPlaces() = default;
};

class MirrorTraffic {
 public:
  enum class Way : std::uint8_t {
    kInOrder,  // behind the requests posted so far, in front of later ones
    kAtOnce,   // done when the call returns, also while the worker's executor cannot go on
  };

  explicit MirrorTraffic(Connection& connection) : connection_(connection) {}
  MirrorTraffic(const MirrorTraffic&) = delete;
  MirrorTraffic& operator=(const MirrorTraffic&) = delete;

  // `here` has the bytes for the pieces `there`, one for one.
  hipError_t write(Way way, std::span<const mirror::Piece> here, std::span<const mirror::Piece> there);
  // Gets what has changed in the pieces. `idle`: no device was at work.
  hipError_t fetch(Way way, std::span<const mirror::Piece> asked, MirroredPlaces& places, bool& idle);

  std::uint64_t bytes_sent() const { return sent_.load(std::memory_order_relaxed); }  // a value of its own
  std::uint64_t bytes_fetched() const { return fetched_.load(std::memory_order_relaxed); }  // likewise

 private:
  using Pieces = std::span<const mirror::Piece>;
  hipError_t write_some(Pieces here, Pieces there);
  hipError_t write_inline(Pieces here, Pieces there, std::uint64_t bytes);
  hipError_t write_bulk(Pieces here, Pieces there, std::uint64_t bytes);
  hipError_t write_at_once(Pieces here, Pieces there);
  hipError_t fetch_in_order(Pieces asked, MirroredPlaces& places, bool& idle);
  hipError_t fetch_at_once(Pieces asked, MirroredPlaces& places);
  template <typename Tell>
  hipError_t receive(IncomingPayload& payload, std::span<std::byte> target, Tell tell);
  hipError_t land(IncomingPayload& payload, const std::vector<mirror::Piece>& there, std::uint64_t bytes,
                  MirroredPlaces& places);
  bool is_sane(Pieces asked, std::uint64_t pieces, std::uint64_t bytes);
  hipError_t distrust(const char* what);

  Connection& connection_;
  std::uint64_t posted_ = 0;  // WriteHostPieces
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> fetched_{0};
};

}  // namespace tf::proxy
