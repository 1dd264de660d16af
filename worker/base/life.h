// SPDX-License-Identifier: Apache-2.0
// Life: a session as its parts see it: whether it continues, how to wait in it, and how to end it.
#pragma once

#include <atomic>

#include "transport/base/status.h"

namespace tf::worker {

class Life {
 public:
  // Any thread: the session has ended or is about to.
  bool ending() const { return ending_.load(std::memory_order_acquire); }  // pairs with note_end()
  // Any thread: ends the session with `reason` (the first one counts).
  virtual void end(Status reason) = 0;
  // Any thread: takes no further requests; the session ends when everything sent so far is done.
  virtual void drain() = 0;

  // Executor thread. Waits until `done()`; false: the session ends instead. Meanwhile payload moves, and
  // requests are taken from the ring, but none is executed.
  template <typename Done>
  bool wait_until(Done done) {
    for (unsigned round = 0; !done(); ++round) {
      if (ending()) return false;
      pause(round);
    }
    return true;
  }

 protected:
  ~Life() = default;
  void note_end() { ending_.store(true, std::memory_order_release); }  // pairs with ending()

 private:
  virtual void pause(unsigned round) = 0;

  std::atomic<bool> ending_{false};
};

}  // namespace tf::worker
