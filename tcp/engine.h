// SPDX-License-Identifier: Apache-2.0
// Socket I/O: a Receiver and a Sender per lane, of one of two kinds.
//
//   poll    non-blocking recv/send; poll(2) on the socket while waiting
//   uring   operations on an io_uring; poll(2) on the ring while waiting
//
// Both look like asynchronous I/O. start() hands memory to the engine, until finish() returns how many bytes
// moved or cancel() takes it back.
//
// What "auto" picks, and why (measured on the project's reference machine). For one hot connection a direct
// system call beats a ring: 6.4 against 7.7 us for a 64 byte round trip, 10.5 against 8.7-9.9 GB/s at 1 MiB.
// A ring wins by batching many operations, and a lane has one. So message lanes, and all lanes of a route
// that stays on this host, use direct calls. Bulk lanes to another host use the ring: the kernel then moves
// payload while the mover sleeps (and may use SEND_ZC, see options.h).
//
// One thread at a time per object; a lane's receiver and sender are independent of each other.
#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <span>

#include "tcp/options.h"
#include "transport/base/status.h"

namespace tf::tcp {

class Receiver {
 public:
  virtual ~Receiver() = default;
  // Memory for the bytes that come next. REQUIRES: !busy()
  virtual void start(std::span<std::byte> target) = 0;
  // Between start() and the finish() that ends it.
  virtual bool busy() const = 0;
  // Bytes that arrived at the front of the target (then no longer busy), or 0: nothing yet. If the operation
  // ended without bytes, busy() is false: start again. kPeerLost at the end of the stream.
  virtual Result<std::size_t> finish() = 0;
  // Afterwards the engine holds none of the caller's memory. Bytes that had arrived are lost with the
  // connection.
  virtual void cancel() = 0;
  // What to pass to poll(2), busy or idle.
  virtual pollfd wait_for() const = 0;
  virtual bool uses_ring() const = 0;
};

// Nothing this short stays with a sender: its memory is free as soon as finish() has reported it.
inline constexpr std::size_t kHeldBytesMin = 65;

class Sender {
 public:
  virtual ~Sender() = default;
  // `more`: further bytes follow at once. REQUIRES: !busy()
  virtual void start(std::span<const std::byte> source, bool more) = 0;
  virtual bool busy() const = 0;
  // Bytes taken from the front of the source (then no longer busy), or 0: nothing yet. Call it also while
  // nothing was started and some bytes are held: it may go on with them, or say why it cannot.
  virtual Result<std::size_t> finish() = 0;
  // Of the bytes that finish() reported, in order: how many more the caller may overwrite now. Memory of
  // zero-copy sends is freed late, all other at once.
  virtual std::size_t take_released() = 0;
  // Bytes reported and not released yet.
  virtual std::size_t held() const = 0;
  virtual void cancel() = 0;
  virtual pollfd wait_for() const = 0;
};

struct LaneIo {
  std::unique_ptr<Receiver> receiver;
  std::unique_ptr<Sender> sender;
};

enum class Lane { kMessage, kBulk };

// Engines for `socket`, which must outlive them. An explicit kUring that is not possible is an error; kAuto
// falls back silently.
Result<LaneIo> make_lane_io(int socket, Lane lane, const Options& options);

}  // namespace tf::tcp
