// SPDX-License-Identifier: Apache-2.0
// Runs one command with a deadline, with its output in a file. Any thread.
#pragma once

#include "transport/base/status.h"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tf::cpu::rtc {

class Guard;

// For the command and for each process that it starts; the kernel ends those that reach one, whoever is left
// to watch them. No core files.
struct Limits {
  unsigned long seconds = 0;  // of processor time
  unsigned long address_space_kib = 0;
  unsigned long file_kib = 0;
};

struct Surroundings {
  std::string output_path;           // of the file that takes its output
  std::string temporary_files = {};  // TMPDIR for the command; empty: the usual one
  std::optional<Limits> limits = {};
  Guard* guard = nullptr;  // ends it when this process ends; null: none
};

// Returns the exit status. kTimeout: time was up, and the command was killed with everything it had started.
Result<int> run_command(const std::vector<std::string>& command, const Surroundings& surroundings,
                        std::chrono::seconds limit);

// Whether the child ended within the limit; then it is reaped. If the kernel has no pidfd, there is no limit.
bool wait_until_over(pid_t pid, std::chrono::milliseconds limit);

}  // namespace tf::cpu::rtc
