// SPDX-License-Identifier: Apache-2.0
// Who uses the devices: the tenant's other sessions, by the program's process. These may throw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "smi/vendor/answers.h"

namespace tf::smi {

// A process may have several sessions, as one of each library; they count as one.
struct Process {
  std::uint32_t pid = 0;  // where the program runs
  std::string name;
  std::vector<std::uint64_t> memory_bytes;  // of each device

  std::uint64_t memory() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : memory_bytes) sum += bytes;
    return sum;
  }
};

// In the order of the worker's list.
template <typename Vendor>
typename Vendor::Code list_processes(std::vector<Process>& processes) {
  return Answers<Vendor>::code_of(with_remote([&](Remote& remote) {
    Result<std::vector<Session>> sessions = remote.sessions();
    if (!sessions) return sessions.status();
    const auto devices = static_cast<std::size_t>(remote.device_count());
    for (const Session& session : *sessions) {
      const auto pid = static_cast<std::uint32_t>(session.client_pid);
      auto found = std::ranges::find(processes, pid, &Process::pid);
      if (found == processes.end()) {
        processes.push_back({pid, text_of(session.program), std::vector<std::uint64_t>(devices)});
        found = processes.end() - 1;
      }
      for (std::size_t device = 0; device < devices; ++device)
        found->memory_bytes[device] += session.memory_bytes[device];
    }
    return Status::ok();
  }));
}

template <typename Vendor>
typename Vendor::Code find_process(std::uint32_t pid, Process& process) {
  std::vector<Process> all;
  if (const auto code = list_processes<Vendor>(all); code != Vendor::kSuccess) return code;
  const auto found = std::ranges::find(all, pid, &Process::pid);
  if (found == all.end()) return Vendor::kNotFound;
  process = std::move(*found);
  return Vendor::kSuccess;
}

// Without a buffer: how many there are. A small buffer gets what fits.
template <typename Vendor, typename Info>
typename Vendor::Code write_processes(Info (*info_of)(const Process&), Info* list, std::uint32_t* count) {
  if (count == nullptr) return Vendor::kInvalidArguments;
  std::vector<Process> all;
  if (const auto code = list_processes<Vendor>(all); code != Vendor::kSuccess) return code;
  const auto there = static_cast<std::uint32_t>(all.size());
  const std::uint32_t fitting = list != nullptr ? std::min(there, *count) : 0;
  for (std::uint32_t each = 0; each < fitting; ++each) list[each] = info_of(all[each]);
  const bool cut = list != nullptr && fitting < there;
  *count = list != nullptr ? fitting : there;
  return cut ? Vendor::kInsufficientSize : Vendor::kSuccess;
}

// The devices that the process has memory of. `count` gets how many, whatever fits.
template <typename Vendor>
typename Vendor::Code write_devices_of(std::uint32_t pid, std::uint32_t* devices, std::uint32_t* count) {
  if (count == nullptr) return Vendor::kInvalidArguments;
  Process process;
  if (const auto code = find_process<Vendor>(pid, process); code != Vendor::kSuccess) return code;
  const std::uint32_t room = devices != nullptr ? *count : 0;
  std::uint32_t used = 0;
  for (std::uint32_t device = 0; device < process.memory_bytes.size(); ++device) {
    if (process.memory_bytes[device] == 0) continue;
    if (used < room) devices[used] = device;
    ++used;
  }
  *count = used;
  return devices == nullptr || used <= room ? Vendor::kSuccess : Vendor::kInsufficientSize;
}

}  // namespace tf::smi
