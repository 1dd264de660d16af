// SPDX-License-Identifier: Apache-2.0
// Sends, receives and checks the Hello, Ready and Bye messages.
#include "rdma/handshake.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "transport/base/peers_words.h"
#include "transport/net/socket.h"

namespace tf::rdma {
namespace {

constexpr std::uint8_t kReadsMax = 16;  // more in flight gain nothing here

Status malformed(const std::string& what) { return {Code::kProtocol, "rdma handshake: " + what}; }

template <typename Message>
std::span<const std::byte> bytes_of(const Message& message) {
  return std::as_bytes(std::span(&message, 1));
}

Status check(const Hello& hello) {
  if (hello.magic != kHelloMagic) return malformed("these bytes are not a Hello");
  if (hello.version != kHandshakeVersion)
    return malformed("the peer has version " + std::to_string(hello.version) + ", this is version " +
                     std::to_string(kHandshakeVersion));
  if (hello.code != 0) {
    if (hello.code > static_cast<std::uint32_t>(Code::kInternal)) return malformed("an unknown refusal");
    return {static_cast<Code>(hello.code), "the worker refused: " + peers_words(hello.reason)};
  }
  if (hello.mtu < IBV_MTU_256 || hello.mtu > IBV_MTU_4096) return malformed("an impossible MTU");
  if (hello.global > 1 || hello.reserved[0] != 0 || hello.reserved[1] != 0)
    return malformed("a flag or reserved field has another value");
  if (hello.reads_answered == 0) return malformed("the peer's device answers no READs");
  return Status::ok();
}

}  // namespace

Hello make_hello(const Device& device, const PlaneFacts& messages, const PlaneFacts& bulk) {
  Hello hello;
  const Path& path = device.path();
  std::memcpy(hello.gid, path.gid.gid.raw, sizeof hello.gid);
  hello.lid = path.lid;
  hello.mtu = static_cast<std::uint8_t>(path.mtu);
  hello.global = path.is_global ? 1 : 0;
  hello.reads_asked = std::min(device.limits().reads_asked, kReadsMax);
  hello.reads_answered = std::min(device.limits().reads_answered, kReadsMax);
  hello.messages = messages;
  hello.bulk = bulk;
  return hello;
}

Status send_hello(int socket, const Hello& hello, Deadline deadline) {
  return net::write_all(socket, bytes_of(hello), deadline);
}

void refuse(int socket, const Status& reason) {
  Hello hello;
  hello.code = static_cast<std::uint32_t>(reason.code());
  reason.message().copy(hello.reason, sizeof hello.reason - 1);
  // The client gets it or sees the socket close: either ends its attempt.
  (void)::send(socket, &hello, sizeof hello, MSG_DONTWAIT | MSG_NOSIGNAL);
}

Result<Hello> receive_hello(int socket, Deadline deadline) {
  Hello hello;
  TF_RETURN_IF_ERROR(net::read_all(socket, std::as_writable_bytes(std::span(&hello, 1)), deadline));
  TF_RETURN_IF_ERROR(check(hello));
  return hello;
}

Status send_ready(int socket, Deadline deadline) {
  const Ready ready;
  return net::write_all(socket, bytes_of(ready), deadline);
}

Status receive_ready(int socket, Deadline deadline) {
  Ready ready{.magic = 0};
  TF_RETURN_IF_ERROR(net::read_all(socket, std::as_writable_bytes(std::span(&ready, 1)), deadline));
  return ready.magic == kReadyMagic ? Status::ok() : malformed("these bytes are not a Ready");
}

Result<Route> route_between(const Device& own, const Hello& peer, const Retries& retries) {
  const Path& path = own.path();
  if (path.is_global != (peer.global == 1))
    return Status{Code::kUnavailable,
                  "rdma: one end is found by GID, the other by LID; TF_RDMA_DEVICE and TF_RDMA_GID_INDEX at "
                  "both ends choose (here: " +
                      own.describe() + ")"};
  Route route;
  route.port = path.port;
  route.global = path.is_global;
  route.gid_index = static_cast<std::uint8_t>(path.gid.index);
  std::memcpy(route.peer_gid.raw, peer.gid, sizeof peer.gid);
  route.peer_lid = peer.lid;
  route.mtu = std::min(path.mtu, static_cast<ibv_mtu>(peer.mtu));
  const DeviceLimits& limits = own.limits();
  // One end's reads_in equals the other's reads_out: less room would end the queue pair.
  route.reads_out = std::min({limits.reads_asked, peer.reads_answered, kReadsMax});
  route.reads_in = std::min({limits.reads_answered, peer.reads_asked, kReadsMax});
  route.retries = retries;
  if (route.reads_out == 0) return Status{Code::kUnavailable, "rdma: " + own.describe() + " starts no READs"};
  if (limits.reads_answered == 0)
    return Status{Code::kUnavailable, "rdma: " + own.describe() + " answers no READs"};
  if (route.reads_in == 0) return Status{Code::kUnavailable, "rdma: the peer's device starts no READs"};
  return route;
}

}  // namespace tf::rdma
