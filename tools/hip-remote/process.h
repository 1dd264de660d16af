// SPDX-License-Identifier: Apache-2.0
// Child processes: start with an environment, wait, end by id; nothing outlives an Ending.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/hip-remote/ending.h"
#include "transport/base/status.h"

namespace tf::tools {

// Changes to the parent's environment; nullopt unsets.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

struct Command {
  std::vector<std::string> arguments;  // [0] is looked up in PATH
  EnvironmentChanges environment;
  int keep_fd = -1;    // inherited by the child under the same number
  int stdout_fd = -1;  // becomes the child's standard output
  // A helper of ours: it has its own process group, so that we pass on Ctrl-C, and it gets SIGTERM if we die
  // without having ended it.
  bool helper = false;
};

Result<pid_t> start(const Command& command);
// Exit code, or 128 + signal. Requests to end are passed to the child, which may take its time.
Result<int> wait_for(pid_t child, Ending& ending);
// SIGTERM, then SIGKILL after `grace`. Returns the exit code.
int end(pid_t child, std::chrono::milliseconds grace);
// Runs a helper to its end. If we are asked to end, ends it with everything it started; then ending.asked()
// is set.
Result<int> run_helper(Command command, Ending& ending);
// The same, and returns its standard output; the exit code goes to `exit_code`.
Result<std::string> capture(Command command, Ending& ending, int& exit_code);

}  // namespace tf::tools
