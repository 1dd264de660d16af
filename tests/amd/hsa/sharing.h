// SPDX-License-Identifier: Apache-2.0
// Memory and signals of another process: a handle names that process, a file of its and a place there.
// Whoever may open the files of that process (/proc/PID/fd: the same user) may attach, as long as it lives.
#pragma once

#include <hsa/hsa_ext_amd.h>

#include <optional>

#include "tests/amd/hsa/memory.h"

namespace tf::amd::hsa {

class Runtime;

// `inner`: how far behind the start of the allocation the object lies.
hsa_amd_ipc_memory_t shared_handle(const Place& place, unsigned owner, std::uint32_t inner);

struct Attached {
  char* base = nullptr;
  std::size_t bytes = 0;
  std::uint32_t inner = 0;
};
// Nothing: the handle is none of ours, or the process has ended, or it is another user's.
std::optional<Attached> attach_shared(Runtime& runtime, const hsa_amd_ipc_memory_t& handle, AgentMask agents);

}  // namespace tf::amd::hsa
