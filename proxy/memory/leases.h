// SPDX-License-Identifier: Apache-2.0
// Leases: device memory from the worker, mapped into this process where possible. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/memory/device_memory.h"
#include "proxy/memory/huge_pages.h"
#include "proxy/memory/lease_mappings.h"
#include "proxy/memory/outside_windows.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

class Leases final : public LeaseSource {
 public:
  Leases(Connection& connection, const protocol::WorkerSnapshot& snapshot, LeaseMappings& mappings,
         HugePages& huge_pages, OutsideWindows& outside)
      : connection_(connection),
        snapshot_(snapshot),
        mappings_(mappings),
        huge_pages_(huge_pages),
        outside_(outside) {}

  hipError_t lease(int device, std::uint64_t bytes, unsigned flags, Lease& lease) override;
  void return_lease(int device, std::uint64_t address) override;
  hipError_t find_free(int device, std::uint64_t& bytes) override;
  hipError_t drain(int device) override { return connection_.drain(device); }

 private:
  hipError_t ask(int device, std::uint64_t bytes, unsigned flags, protocol::LeaseMemoryReply& reply);
  hipError_t lease_outside(int device, std::uint64_t bytes, unsigned flags, Lease& lease);
  void give_back(int device, std::uint64_t address);

  Connection& connection_;
  const protocol::WorkerSnapshot& snapshot_;
  LeaseMappings& mappings_;
  HugePages& huge_pages_;
  OutsideWindows& outside_;
};

}  // namespace tf::proxy
