// SPDX-License-Identifier: Apache-2.0
// Mover: the endpoint's mover role. A separate thread moves payload; the executor helps while it waits.
#pragma once

#include <thread>

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

 private:
  void run();

  Endpoint& endpoint_;
  Life& life_;
  Mutex mutex_;  // the endpoint's mover role
  std::thread thread_;
};

}  // namespace tf::worker
