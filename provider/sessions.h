// SPDX-License-Identifier: Apache-2.0
// Processes of this host, as /proc shows them: workers' sessions, and how to stop and continue a process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "smi/runtime/runtime.h"
#include "transport/base/status.h"

namespace tf::provider {

inline constexpr std::chrono::seconds kFreezeTime{5};  // for all processes of one call to stop, or to go on

// Processors that this process may use.
unsigned usable_processors();

// Session processes of hip-worker that have touched shared memory: of the CPU runtime, whose device memory
// that is.
class Sessions {
 public:
  // The load is that since the last call; unknown in the first one.
  std::vector<smi::Process> list();

 private:
  struct Reading {
    std::chrono::steady_clock::time_point when;
    std::uint64_t ticks = 0;
  };
  std::map<pid_t, Reading> last_;
};

// Stops them (SIGSTOP), and waits until each has stopped. All or none: if one cannot be stopped, those that
// this call has stopped go on. kUnavailable: one does not exist, or is no session process of hip-worker. What
// they hold of a device stays there.
Status freeze(std::span<const pid_t> processes);
// Lets them go on (SIGCONT). One that does not stand still is left as it is.
Status thaw(std::span<const pid_t> processes);

}  // namespace tf::provider
