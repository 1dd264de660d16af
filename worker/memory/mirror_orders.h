// SPDX-License-Identifier: Apache-2.0
// MirrorOrders: carries out what the client orders of the mirror on the control connection
// (hipcore/mirror/order.h), on a thread of its own: the executor may be in a call of the runtime that waits
// for one of the client's host functions, and the function for the order.
//
// The thread starts with the first order. order() and wrote() may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "hipcore/mirror/order.h"
#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "transport/endpoint.h"
#include "worker/base/life.h"
#include "worker/base/mover.h"
#include "worker/memory/host_mirror.h"

namespace tf::worker {

class MirrorOrders {
 public:
  // All outlive it.
  MirrorOrders(HostMirror& mirror, BulkPlane& bulk, Mover& mover, Life& life)
      : mirror_(mirror), bulk_(bulk), mover_(mover), life_(life) {}
  MirrorOrders(const MirrorOrders&) = delete;
  MirrorOrders& operator=(const MirrorOrders&) = delete;
  ~MirrorOrders();

  // kProtocol: one waits already. Does not wait. What is no order ends the session.
  Status order(std::vector<std::byte> message);
  // Ends the thread. The thread may end the session, so this comes before the members that ending needs are
  // destroyed. A second call does nothing.
  void stop();
  // The executor has done one more WriteHostPieces, whatever came of it.
  void wrote();

 private:
  void run();
  Status carry_out(const mirror::OrderParts& parts);
  Status answer(std::uint64_t tag, HostMirror::Found& found);

  HostMirror& mirror_;
  BulkPlane& bulk_;
  Mover& mover_;
  Life& life_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::byte> message_ TF_GUARDED_BY(mutex_);  // the next; empty: there is none
  std::uint64_t written_ TF_GUARDED_BY(mutex_) = 0;
  bool stopping_ TF_GUARDED_BY(mutex_) = false;
  std::thread thread_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::worker
