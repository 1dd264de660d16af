// SPDX-License-Identifier: Apache-2.0
// CompilerWalls: what a compiler of a session reaches, which is less than the session does: programs with the
// libraries and headers that belong to them, and the session's folder. Sources and options come from the
// client, and a compiler reads what they name. The walls are around a thread: some runtimes compile in the
// session's process, others start programs, which the thread's walls then hold, too. All else that the
// session's own walls hold stays so: no network, no other processes.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "transport/base/status.h"
#include "worker/base/options.h"
#include "worker/sandbox/landlock.h"

namespace tf::worker {

class CompilerWalls {
 public:
  // Not ok: why there can be none here. `runtime`: the name or path of the runtime that compiles.
  static Result<std::shared_ptr<const CompilerWalls>> make(const SandboxOptions& options,
                                                           const std::string& runtime);

  explicit CompilerWalls(Landlock rules) : rules_(std::move(rules)) {}

  // For the calling thread and all that it starts; there is no way back. Any thread, at most a few times
  // each. REQUIRES: no_new_privs is set
  Status enter() const { return rules_.close_the_rest(); }

 private:
  Landlock rules_;
};

}  // namespace tf::worker
