// SPDX-License-Identifier: Apache-2.0
// QueuePair: one reliable connected queue pair, with the bookkeeping of its send queue.
//
// Who posts. The send queue belongs to one role (a producer or a consumer, see producer.h and consumer.h), so
// there is no lock here. The thread that polls their completions posts receives, one thread at a time.
// to_error(): any thread.
//
// Requests are numbered from 1; the number is the wr_id. Only every kSignalEvery-th request makes a
// completion, unless its poster asks for one. A completion also covers all requests before it. When it has
// been polled (note_done()), their queue slots are free again, and so is the memory that they read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "rdma/retries.h"
#include "rdma/verbs.h"
#include "transport/base/status.h"

namespace tf::rdma {

inline constexpr unsigned kSendDepth = 64;
inline constexpr unsigned kSignalEvery = 8;
inline constexpr std::uint64_t kReceiveMark = std::uint64_t{1} << 63;  // the wr_id of every receive

// What the peer must know about a queue pair.
struct QueueAddress {
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;  // 24 bits
};

// How the two ends reach each other.
struct Route {
  std::uint8_t port = 1;
  std::uint8_t gid_index = 0;
  bool global = true;  // by GID (always so on RoCE); else by LID
  ibv_gid peer_gid{};
  std::uint16_t peer_lid = 0;
  ibv_mtu mtu = IBV_MTU_1024;
  std::uint8_t reads_out = 1;  // READs in flight that we start
  std::uint8_t reads_in = 1;   // and that the peer may start
  Retries retries;
};

// "what: the verbs status (meaning)". kPeerLost if the peer does not answer.
Status work_failed(const Verbs& verbs, const char* what, ibv_wc_status status);

class QueuePair {
 public:
  struct Plan {
    ibv_pd* pd = nullptr;
    ibv_cq* sends = nullptr;
    ibv_cq* receives = nullptr;
    unsigned receive_depth = 1;
    std::uint8_t port = 1;
    unsigned inline_bytes = 0;  // known to work on this device
  };
  // Returns it in state INIT, with all its receives posted. The peer may read and write what is registered
  // for it.
  static Result<std::unique_ptr<QueuePair>> create(const Verbs& verbs, const Plan& plan);
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;
  ~QueuePair();

  QueueAddress address() const { return {queue_->qp_num, first_packet_}; }
  // INIT to RTS.
  Status connect(const Route& route, const QueueAddress& peer);
  // Afterwards no request of the peer is executed; those in flight end with a flush.
  void to_error();
  unsigned inline_bytes() const { return inline_bytes_; }

  // --- The sender's role -------------------------------------------------------------------------------
  unsigned room() const { return kSendDepth - static_cast<unsigned>(posted_ - done_); }
  std::uint64_t posted() const { return posted_; }
  std::uint64_t done() const { return done_; }
  // Posts the requests as a chain with one doorbell; sets their wr_id, links and signal flag. If `wanted`,
  // the last one makes a completion, and cookie() returns `cookie` for it. kPeerLost: the queue pair had
  // failed. REQUIRES: chain.size() <= room().
  Status post(std::span<ibv_send_wr> chain, bool wanted, std::uint32_t cookie = 0);
  // The same for a single request whose completion nobody needs. REQUIRES: `next` is null; send_flags has no
  // IBV_SEND_SIGNALED.
  Status post(ibv_send_wr& request) {
    number(request);
    if (is_signal_due()) signal(request, 0);
    return ring(request);
  }
  std::uint32_t cookie(std::uint64_t number) const { return cookies_[number % kSendDepth]; }
  // Request `number` and all before it have completed.
  void note_done(std::uint64_t number);

  // Posts empty receives: an immediate needs no buffer.
  Status post_receives(unsigned count);

  // Asks the device whether the queue pair is in error: a system call. Any thread.
  bool has_failed() const;

 private:
  void number(ibv_send_wr& request) {
    request.wr_id = ++posted_;
    cookies_[posted_ % kSendDepth] = 0;
  }
  bool is_signal_due() const { return posted_ - signalled_ >= kSignalEvery; }
  // The request numbered last makes a completion.
  void signal(ibv_send_wr& request, std::uint32_t cookie) {
    request.send_flags |= IBV_SEND_SIGNALED;
    signalled_ = posted_;
    cookies_[posted_ % kSendDepth] = cookie;
  }
  Status ring(ibv_send_wr& first) {
    ibv_send_wr* bad = nullptr;
    const int error = verbs_.post_send(queue_, &first, &bad);
    return error == 0 ? Status::ok() : post_failed("posting a request", error);
  }
  Status post_failed(const char* what, int error) const;
  QueuePair(const Verbs& verbs, std::uint32_t first_packet) : verbs_(verbs), first_packet_(first_packet) {}

  const Verbs& verbs_;
  const std::uint32_t first_packet_;
  ibv_qp* queue_ = nullptr;
  unsigned inline_bytes_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t signalled_ = 0;  // the last one that makes a completion
  std::array<std::uint32_t, kSendDepth> cookies_{};
};

}  // namespace tf::rdma
