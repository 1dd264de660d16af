// SPDX-License-Identifier: Apache-2.0
// ShortWaits: requests that wait for the device, and may be done before a thread could be woken for them.
//
// The executor polls them between requests, yielding meanwhile, and gives those that take long to the waiter
// threads. It learns how long to poll: not at all where waits are long. While others want the processors
// (CrowdSign) it polls for a moment only. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "transport/base/spin.h"
#include "worker/session/awaited_objects.h"

namespace tf::worker {

inline constexpr std::size_t kShortWaitsMax = 64;  // any further one goes to a waiter thread at once

class ShortWaits {
 public:
  using Clock = std::chrono::steady_clock;

  struct Wait {
    AwaitedObjects objects{};
    std::function<bool()> answer;     // false: not ready yet
    std::function<void()> hand_over;  // gives it to a waiter thread, which answers
    Clock::time_point since = Clock::now();
  };

  // Polls it from now on, or hands it over at once.
  void add(Wait wait);
  // Answers those that are ready, and hands over those that take long.
  void progress();
  bool empty() const { return waits_.empty(); }
  // A wait uses `object`. REQUIRES: it is not null
  bool uses(const void* object) const;

 private:
  void learn(bool was_short);

  std::vector<Wait> waits_;
  const std::chrono::nanoseconds patience_max_{many_processors() ? kPatienceAmongMany : kPatienceMax};
  std::chrono::nanoseconds patience_{patience_max_};
  unsigned handed_over_ = 0;

  static constexpr std::chrono::microseconds kPatienceMax{100};         // two wake-ups and a little
  static constexpr std::chrono::microseconds kPatienceAmongMany{2000};  // where polling costs others nothing
  static constexpr std::chrono::microseconds kPatienceInCrowds{20};
  static constexpr std::chrono::microseconds kPatienceMin{2};  // below this, do not poll
  static constexpr unsigned kProbeEvery = 64;                  // then one is polled nevertheless
};

}  // namespace tf::worker
