// SPDX-License-Identifier: Apache-2.0
// HostParts: opens and closes parts of the host window at the worker, and has it map the program's files
// there. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "proxy/memory/host_window.h"
#include "proxy/memory/huge_pages.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

class HostParts final : public HostPartSource {
 public:
  HostParts(Connection& connection, HugePages& huge_pages)
      : connection_(connection), huge_pages_(huge_pages) {}

  hipError_t open_host_part(std::uint64_t address, std::uint64_t bytes, Use use) override;
  void close_host_part(std::uint64_t address, std::uint64_t bytes) override;
  hipError_t map_host_file(std::uint64_t address, std::uint64_t bytes, int file,
                           std::uint64_t offset) override;
  void unmap_host_file(std::uint64_t address) override;

 private:
  Connection& connection_;
  HugePages& huge_pages_;
};

}  // namespace tf::proxy
