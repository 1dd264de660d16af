// SPDX-License-Identifier: Apache-2.0
// Runs one command with a deadline, its output in a file. Any thread.
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
  std::string temporary_files = {};  // the directory for them (TMPDIR); empty: the usual one
  Guard* guard = nullptr;            // ends it when this process ends; null: none
};

// The exit status. kTimeout: it was killed, with everything it had started, when the time was over.
Result<int> run_command(const std::vector<std::string>& command, const Surroundings& surroundings,
                        std::chrono::seconds limit);

// Whether the child ended within the limit; it is reaped then. Where the kernel has no pidfd, there is no
// limit.
bool wait_until_over(pid_t pid, std::chrono::milliseconds limit);

}  // namespace tf::cpu::rtc
