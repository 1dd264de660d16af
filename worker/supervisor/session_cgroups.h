// SPDX-License-Identifier: Apache-2.0
// SessionCgroups: a cgroup (version 2, cgroups(7)) for each session process and all that it starts, where a
// subtree is delegated to the worker: its own cgroup is writable, and no other process is in it. systemd does
// that for a service with Delegate=yes. The worker itself moves to a leaf of its own, since a cgroup with
// processes gives its children no controllers. Belongs to the supervisor.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/base/status.h"
#include "worker/base/options.h"

namespace tf::worker {

class SessionCgroups {
 public:
  SessionCgroups() = default;
  SessionCgroups(const SessionCgroups&) = delete;
  SessionCgroups& operator=(const SessionCgroups&) = delete;
  ~SessionCgroups();

  // `own`: the path of this process's cgroup in the file system (own_cgroup()). Not ok: there are none, and
  // why; nothing was changed.
  Status open(const std::string& own, const LimitOptions& limits);
  // Whether sessions get one. Else the calls below do nothing.
  bool available() const { return !own_.empty(); }
  // Whether the limits that a controller sets ("memory", "pids", "cpu") hold.
  bool controls(const std::string& controller) const;

  // Makes the cgroup of a process that has just started, and moves it there. Returns its name.
  Result<std::string> enter(pid_t process);
  // Seconds of processor time that it and all it has started have used; nothing: unknown.
  std::optional<double> processor_seconds(const std::string& name) const;
  // Ends whatever is still in it, and removes it; at the latest when it is empty.
  void remove(const std::string& name);

 private:
  void sweep();

  LimitOptions limits_;
  std::string own_;
  std::vector<std::string> controllers_;  // that children have
  std::vector<std::string> leaving_;      // not empty yet
  std::uint64_t next_ = 1;
};

// The directory of this process's cgroup. kUnavailable: cgroup v2 is not mounted.
Result<std::string> own_cgroup();
// How many processors' time the cgroup `own` and those above it grant, rounded up (cpu.max, cgroups(7)), as a
// container's limit does. None: no limit that can be seen.
std::optional<unsigned> processors_granted(const std::string& own);

}  // namespace tf::worker
