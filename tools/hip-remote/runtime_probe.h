// SPDX-License-Identifier: Apache-2.0
// Asks a HIP runtime library for its devices, in a child process, so that a library which crashes, hangs or
// leaves threads behind does no harm.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/hip-remote/process.h"

namespace tf::tools {

struct ProbedDevice {
  std::string name;
  std::string architecture;
  std::uint64_t memory_bytes = 0;
  int compute_units = 0;
};

struct ProbedRuntime {
  std::string name;      // cpu, amd, cuda, worker
  std::string library;   // what was loaded
  std::string unusable;  // empty, or why it cannot be used
  std::vector<ProbedDevice> devices;
  std::string walls = {};   // of a worker: those around its sessions
  std::string limits = {};  // likewise: what one of them may have of the host
  std::string share = {};   // of a worker: what this tenant may have, as hip-worker --limit takes it
};

// `library` may be a path or a name for the dynamic loader. `environment` applies to the child.
ProbedRuntime probe_runtime(const std::string& name, const std::string& library,
                            const EnvironmentChanges& environment, std::chrono::seconds timeout);

}  // namespace tf::tools
