// SPDX-License-Identifier: Apache-2.0
// Mover: the endpoint's mover role. A separate thread moves payload; the executor helps while it waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "transport/base/mutex.h"
#include "transport/endpoint.h"
#include "worker/base/life.h"

namespace tf::worker {

class Mover {
 public:
  // Both outlive it.
  Mover(Endpoint& endpoint, Life& life) : endpoint_(endpoint), life_(life) {}
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  // Starts its thread, which runs until the session ends.
  void start();
  // REQUIRES: the session ends. Does nothing if it was not started.
  void join();

  // Moves payload, unless another thread does or the transport allows only one mover. Any thread.
  void drive();

  // From now on `ended_ns` gets the worker's CLOCK_MONOTONIC when the transfer is done, or shortly after.
  // Both live until forget(). Any thread.
  void note_end(const BulkCompletion& completion, std::uint64_t& ended_ns);
  // Done already, it has its time afterwards.
  void forget(const BulkCompletion& completion);

 private:
  struct Watched {
    const BulkCompletion* completion = nullptr;
    std::uint64_t* ended_ns = nullptr;
  };

  void run();
  // After payload was moved: costs a load while nothing is watched.
  void look() {
    if (any_watched_.load(std::memory_order_relaxed)) [[unlikely]]
      look_at_watched();
  }
  void look_at_watched();
  static void note_if_done(const Watched& watched);

  Endpoint& endpoint_;
  Life& life_;
  Mutex mutex_;  // the endpoint's mover role
  std::thread thread_;
  Mutex watching_;
  std::vector<Watched> watched_ TF_GUARDED_BY(watching_);  // as many as there are transfers of who traces
  std::atomic<bool> any_watched_{false};                   // relaxed: who is seen late is noted late
};

}  // namespace tf::worker
