// SPDX-License-Identifier: Apache-2.0
// The program that a user names: its file, and whether it can run with our libraries.
#pragma once

#include <string>

#include "tools/hip-remote/process.h"

namespace tf::tools {

// As in env(1) and sh(1).
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;

struct ProgramFile {
  std::string path;   // empty when it cannot be run
  int exit_code = 0;  // then: kExitCannotRun or kExitNotFound,
  std::string why;    // and what to say
};

// Searches like execvp().
ProgramFile find_program(const std::string& name);

}  // namespace tf::tools
