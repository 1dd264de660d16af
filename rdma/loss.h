// SPDX-License-Identifier: Apache-2.0
// Loss: what an endpoint knows about the end of its peer. The socket says whether the peer closed (Bye:
// everything it published is in our rings) or died (end of stream without a Bye). A failed queue pair may
// mean the same, so the socket gets some time to say which before the failure counts. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>

#include "rdma/handshake.h"
#include "transport/base/deadline.h"
#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::rdma {

struct LossPatience {
  std::chrono::milliseconds socket{300};  // time for it to say why a queue pair failed
  std::chrono::milliseconds drain{5000};  // time to fetch what a closed peer left behind
};

class Loss {
 public:
  explicit Loss(net::OwnedFd socket, const LossPatience& patience = {})
      : socket_(std::move(socket)), patience_(patience) {}

  int socket() const { return socket_.get(); }
  // Reads the socket. kProtocol: bytes that are not a Bye.
  Status look();
  bool is_gone() const { return gone_.load(std::memory_order_acquire); }  // pairs with look()
  // The positions that a closed peer published. REQUIRES: is_gone()
  std::optional<Bye> bye() const;
  // The peer has been gone so long that nobody waits any more for the rest to be fetched.
  bool is_late() const;

  // A queue pair failed.
  void note_broken(Status reason);
  bool is_broken() const { return broken_.load(std::memory_order_acquire); }  // pairs with note_broken()
  // The failure, once the socket had its time and said nothing.
  Status overdue() const;

 private:
  net::OwnedFd socket_;
  const LossPatience patience_;
  std::atomic<bool> gone_{false};
  std::atomic<bool> broken_{false};
  mutable Mutex mutex_;
  std::array<std::byte, sizeof(Bye)> bytes_ TF_GUARDED_BY(mutex_){};
  std::size_t have_ TF_GUARDED_BY(mutex_) = 0;
  Status reason_ TF_GUARDED_BY(mutex_);
  Deadline overdue_at_ TF_GUARDED_BY(mutex_) = Deadline::never();
  Deadline late_at_ TF_GUARDED_BY(mutex_) = Deadline::never();
};

}  // namespace tf::rdma
