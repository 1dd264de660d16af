// SPDX-License-Identifier: Apache-2.0
// Which files of the worker, and of its operator's choice, sessions and their compilers reach.
#pragma once

#include <string>

#include "worker/base/options.h"
#include "worker/sandbox/landlock.h"

namespace tf::worker {

// Opens the runtime library (`runtime`: its name or path), what belongs to it, the compiler of the CPU
// runtime, what the operator's variables and --readable name; and the session's own folder, to be written.
void open_own_files(Landlock& rules, const SandboxOptions& options, const std::string& runtime);
// What reads as nothing or as noise, and takes what is thrown away.
void open_streams(Landlock& rules);

}  // namespace tf::worker
