// SPDX-License-Identifier: Apache-2.0
// Child processes: start with an environment, wait with a deadline, end by id.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transport/status.h"

namespace tf::tools {

// Changes to the parent's environment; nullopt unsets.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

struct Command {
  std::vector<std::string> arguments;  // [0] is looked up in PATH
  EnvironmentChanges environment;
  int keep_fd = -1;    // inherited by the child under the same number
  int stdout_fd = -1;  // becomes the child's standard output
};

Result<pid_t> start(const Command& command);
// Exit code, or 128 + signal. Forwards SIGINT and SIGTERM to the child meanwhile.
Result<int> wait_for(pid_t child);
// SIGTERM, then SIGKILL after `grace`. Returns the exit code.
int end(pid_t child, std::chrono::milliseconds grace);
// Runs to the end and returns what it wrote to standard output; the exit code goes to `exit_code`.
Result<std::string> capture(Command command, int& exit_code);

}  // namespace tf::tools
