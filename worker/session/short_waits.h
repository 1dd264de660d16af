// SPDX-License-Identifier: Apache-2.0
// ShortWaits: requests that wait for the device and may be answered before a thread could be woken for them.
//
// The executor looks at them between requests, letting others run meanwhile, and gives those that last to the
// waiter threads. How long it looks is learned: not at all where waits are long. Belongs to the executor
// thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "transport/base/spin.h"

namespace tf::worker {

inline constexpr std::size_t kShortWaitsMax = 64;  // the next one is a waiter thread's at once

class ShortWaits {
 public:
  using Clock = std::chrono::steady_clock;

  struct Wait {
    const void* object = nullptr;     // the runtime's object that is waited for, or null
    std::function<bool()> answer;     // false: not ready yet
    std::function<void()> hand_over;  // to a waiter thread, which answers
    Clock::time_point since = Clock::now();
  };

  // Looks at it from now on, or hands it over at once.
  void add(Wait wait);
  // Answers what is ready and hands over what has lasted.
  void progress();
  bool empty() const { return waits_.empty(); }
  // It must not be destroyed yet.
  bool uses(const void* object) const;

 private:
  void learn(bool was_short);

  std::vector<Wait> waits_;
  const std::chrono::nanoseconds patience_max_{many_processors() ? kPatienceAmongMany : kPatienceMax};
  std::chrono::nanoseconds patience_{patience_max_};
  unsigned handed_over_ = 0;

  static constexpr std::chrono::microseconds kPatienceMax{100};  // two wake-ups and a little
  static constexpr std::chrono::microseconds kPatienceAmongMany{
      2000};                                                   // where the look takes nothing from others
  static constexpr std::chrono::microseconds kPatienceMin{2};  // below it is none
  static constexpr unsigned kProbeEvery = 64;                  // then one is looked at after all
};

}  // namespace tf::worker
