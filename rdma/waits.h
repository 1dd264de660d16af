// SPDX-License-Identifier: Apache-2.0
// The state of an endpoint's waits: per kind of wait, per sleep, and who sleeps.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <utility>

#include "rdma/producer.h"
#include "transport/base/spin.h"

namespace tf::rdma {

// One for the waits of a consumer, one for those of a mover.
struct Waiter {
  // While payload is in flight waits last as long as the payload takes, and say nothing about other waits.
  SpinBudget spin;
  SpinBudget payload_spin;
  // The refusal for which this waiter was told that there is room again.
  std::atomic<std::uint64_t> told{Producer::kNotRefused};
};
struct Sleep {
  std::array<pollfd, 5> entries{};
  int cap_ms = 60'000;
};
// Counts a thread as a sleeper on a plane's completions, from before it asks for events.
class OnPlane {
 public:
  OnPlane(std::atomic<unsigned>& sleepers, bool sleeps) : sleepers_(sleepers), sleeps_(sleeps) {
    if (sleeps_) sleepers_.fetch_add(1, std::memory_order_seq_cst);
  }
  ~OnPlane() { end(); }
  void end() {
    if (std::exchange(sleeps_, false)) sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  }
  bool sleeps() const { return sleeps_; }

 private:
  std::atomic<unsigned>& sleepers_;
  bool sleeps_;
};

}  // namespace tf::rdma
