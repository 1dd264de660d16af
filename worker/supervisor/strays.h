// SPDX-License-Identifier: Apache-2.0
// Strays: processes that a session process had started and left behind when it ended. They become children of
// the supervisor, which kills them: nothing of a session survives it. Belongs to the supervisor.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>

namespace tf::worker {

class Strays {
 public:
  // From now on what such processes leave behind is ours. Children that this process has already are not.
  void adopt();
  // Kills the children that are neither `known` nor from before.
  void kill(const std::function<bool(pid_t)>& known) const;

 private:
  std::set<pid_t> before_;
};

}  // namespace tf::worker
