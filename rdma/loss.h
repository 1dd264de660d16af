// SPDX-License-Identifier: Apache-2.0
// Loss: what an endpoint knows of its peer's end. The socket says when the peer has closed (Bye: all that it
// published is in our rings) or died (the end, without a Bye). A queue pair that fails may mean the same,
// seen from the other side, so the socket has a while to tell before the failure counts. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

#include "rdma/handshake.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::rdma {

struct LossPatience {
  std::chrono::milliseconds socket{300};  // that it has to say why a queue pair failed
  std::chrono::milliseconds drain{5000};  // until what a peer left behind need not be fetched any more
};

class Loss {
 public:
  explicit Loss(net::OwnedFd socket, const LossPatience& patience = {})
      : socket_(std::move(socket)), patience_(patience) {}

  int socket() const { return socket_.get(); }
  // Reads what the socket has. kProtocol: bytes that are no Bye.
  Status look();
  bool is_gone() const { return gone_.load(std::memory_order_acquire); }  // pairs with look()
  // What a peer that closed has published. REQUIRES: is_gone()
  std::optional<Bye> bye() const;
  // It has been gone for so long that nobody waits for the rest to be fetched.
  bool is_late() const;

  // A queue pair failed.
  void note_broken(Status reason);
  bool is_broken() const { return broken_.load(std::memory_order_acquire); }  // pairs with note_broken()
  // The failure, when the socket had its time and said nothing.
  Status overdue() const;

 private:
  net::OwnedFd socket_;
  const LossPatience patience_;
  std::atomic<bool> gone_{false};
  std::atomic<bool> broken_{false};
  mutable std::mutex mutex_;  // guards:
  std::array<std::byte, sizeof(Bye)> bytes_{};
  std::size_t have_ = 0;
  Status reason_;
  Deadline overdue_at_ = Deadline::never();
  Deadline late_at_ = Deadline::never();
};

}  // namespace tf::rdma
