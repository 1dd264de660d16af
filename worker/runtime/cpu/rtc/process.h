// SPDX-License-Identifier: Apache-2.0
// Runs one command with a deadline, with its output in a file. Any thread.
#pragma once

#include "transport/base/status.h"

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace tf::cpu::rtc {

class Guard;

struct Surroundings {
  std::string output_path;           // of the file that takes its output
  std::string temporary_files = {};  // TMPDIR for the command; empty: the usual one
  Guard* guard = nullptr;            // ends it when this process ends; null: none
};

// Returns the exit status. kTimeout: time was up, and the command was killed with everything it had started.
Result<int> run_command(const std::vector<std::string>& command, const Surroundings& surroundings,
                        std::chrono::seconds limit);

// Whether the child ended within the limit; then it is reaped. If the kernel has no pidfd, there is no limit.
bool wait_until_over(pid_t pid, std::chrono::milliseconds limit);

}  // namespace tf::cpu::rtc
