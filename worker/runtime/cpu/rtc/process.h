// SPDX-License-Identifier: Apache-2.0
// Runs one command with a deadline, its output in a file. Any thread.
#pragma once

#include "transport/status.h"

#include <chrono>
#include <string>
#include <vector>

namespace tf::cpu::rtc {

// The exit status. kTimeout: it was killed, with everything it had started, when the time was over.
Result<int> run_command(const std::vector<std::string>& command, const std::string& output_path,
                        std::chrono::seconds limit);

}  // namespace tf::cpu::rtc
