// SPDX-License-Identifier: Apache-2.0
// Mover: the endpoint's mover role. A thread of its own moves payload; the executor helps while it waits.
#pragma once

#include <mutex>
#include <thread>

#include "transport/endpoint.h"
#include "worker/base/life.h"

namespace tf::worker {

class Mover {
 public:
  // Both outlive it.
  Mover(Endpoint& endpoint, Life& life) : endpoint_(endpoint), life_(life) {}
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  // Its thread runs until the session ends.
  void start();
  // REQUIRES: the session ends. Without effect where it was not started.
  void join();

  // Moves payload, unless another thread is doing so or the transport wants one mover only. Any thread.
  void drive();

 private:
  void run();

  Endpoint& endpoint_;
  Life& life_;
  std::mutex mutex_;  // the endpoint's mover role
  std::thread thread_;
};

}  // namespace tf::worker
