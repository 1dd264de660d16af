// SPDX-License-Identifier: Apache-2.0
// How the two ends of an rdma endpoint exchange the addresses of their queue pairs. Over the lane's socket,
// after the attach frame: a Hello from the client; a Hello from the worker, whose queue pairs are connected
// by then; a Ready from the client when its own are connected too. The socket stays open as the liveness
// signal; the end that closes says Bye on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rdma/device.h"
#include "rdma/plane.h"
#include "rdma/retries.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"

namespace tf::rdma {

inline constexpr std::uint64_t kHelloMagic = 0x414d445250494824;  // "$HIPRDMA"
inline constexpr std::uint64_t kReadyMagic = 0x5944525250494824;
inline constexpr std::uint64_t kByeMagic = 0x4559425250494824;
inline constexpr std::uint32_t kHandshakeVersion = 2;

//   offset  size  field
//   0       8     magic       kHelloMagic
//   8       4     version     kHandshakeVersion
//   12      4     code        0, or the tf::Code with which the worker refuses; then only `reason` counts
//   16      16    gid         as on the wire
//   32      2     lid
//   34      1     mtu         ibv_mtu
//   35      1     global      1: packets carry GIDs
//   36      1     reads_asked     READs in flight that this end starts,
//   37      1     reads_answered  and that it lets the peer start
//   38      2     reserved    zero
//   40      56    messages    the planes
//   96      56    bulk
//   152     104   reason      text, ends with the first zero; all zero with code 0
struct Hello {
  std::uint64_t magic = kHelloMagic;
  std::uint32_t version = kHandshakeVersion;
  std::uint32_t code = 0;
  std::uint8_t gid[16] = {};
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;
  std::uint8_t global = 0;
  std::uint8_t reads_asked = 0;
  std::uint8_t reads_answered = 0;
  std::uint8_t reserved[2] = {};
  PlaneFacts messages;
  PlaneFacts bulk;
  char reason[104] = {};
};
static_assert(sizeof(Hello) == 256 && offsetof(Hello, messages) == 40 && offsetof(Hello, reason) == 152);
static_assert(std::has_unique_object_representations_v<Hello>);

struct Ready {
  std::uint64_t magic = kReadyMagic;
};

// Positions of the closing end's producers. Everything before them is in the peer's rings.
struct Bye {
  std::uint64_t magic = kByeMagic;
  std::uint64_t messages = 0;
  std::uint64_t bulk = 0;
};
static_assert(sizeof(Bye) == 24);

// This end's description of itself and its planes.
Hello make_hello(const Device& device, const PlaneFacts& messages, const PlaneFacts& bulk);
Status send_hello(int socket, const Hello& hello, Deadline deadline);
// Worker side, instead of its Hello. Best effort; never blocks.
void refuse(int socket, const Status& reason);
// The peer's Hello, checked except for the planes (Plane::check_facts() does those). If the peer refused, its
// reason.
Result<Hello> receive_hello(int socket, Deadline deadline);
Status send_ready(int socket, Deadline deadline);
Status receive_ready(int socket, Deadline deadline);

// kUnavailable: the two ports are on networks that are not connected.
Result<Route> route_between(const Device& own, const Hello& peer, const Retries& retries);

}  // namespace tf::rdma
