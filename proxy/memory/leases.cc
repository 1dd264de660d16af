// SPDX-License-Identifier: Apache-2.0
// Leases device memory from the worker, and returns it.
#include "proxy/memory/leases.h"

#include <algorithm>
#include <string>
#include <vector>

#include "proxy/base/log.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

constexpr std::size_t kOutsideAttemptsMax = 8;  // to find memory at addresses that this process does not use

}  // namespace

hipError_t Leases::lease(int device, std::uint64_t bytes, unsigned flags, Lease& lease) {
  if (flags != hipDeviceMallocDefault) return lease_outside(device, bytes, flags, lease);
  const MutexLock order(mappings_.order());
  protocol::LeaseMemoryReply reply{};
  const hipError_t error = ask(device, bytes, flags, reply);
  if (error != hipSuccess) return error;
  lease = Lease{reply.address, reply.bytes};
  const protocol::AddressWindow& window = snapshot_.devices[static_cast<std::size_t>(device)].window;
  const bool inside = window.contains(lease.address, lease.bytes);
  // Without windows, addresses inside live allocations decide, reserved or not.
  if (window.bytes == 0) static_cast<void>(outside_.reserve(lease.address, lease.bytes));
  const Status taken = mappings_.take(lease.address, lease.bytes, reply.mapped != 0 && inside);
  if (!taken.is_ok()) log_debug("device memory is no longer mapped in this process: " + taken.to_string());
  return hipSuccess;
}

// What lies where this process has something of its own is kept until other memory is found: else it would
// come again.
hipError_t Leases::lease_outside(int device, std::uint64_t bytes, unsigned flags, Lease& lease) {
  std::vector<std::uint64_t> in_the_way;
  hipError_t error = hipErrorOutOfMemory;
  while (in_the_way.size() < kOutsideAttemptsMax) {
    protocol::LeaseMemoryReply reply{};
    error = ask(device, bytes, flags, reply);
    if (error != hipSuccess) break;
    lease = Lease{reply.address, reply.bytes};
    if (outside_.reserve(lease.address, lease.bytes)) break;
    log_debug("fine-grained memory would lie where this process has memory of its own");
    in_the_way.push_back(lease.address);
    error = hipErrorOutOfMemory;
  }
  for (const std::uint64_t address : in_the_way) give_back(device, address);
  return error;
}

hipError_t Leases::ask(int device, std::uint64_t bytes, unsigned flags, protocol::LeaseMemoryReply& reply) {
  protocol::LeaseMemoryRequest request{};
  request.bytes = bytes;
  request.flags = flags;
  if (const hipError_t error = connection_.call(device, request, reply); error != hipSuccess) return error;
  const std::uint64_t most = snapshot_.devices[static_cast<std::size_t>(device)].total_memory;
  return reply.bytes < bytes || reply.bytes > std::max(most, bytes) ? hipErrorUnknown : hipSuccess;
}

void Leases::return_lease(int device, std::uint64_t address) {
  huge_pages_.forget(address, mappings_.drop(address));
  give_back(device, address);
  outside_.drop(address);
}

void Leases::give_back(int device, std::uint64_t address) {
  protocol::ReturnLeaseRequest request{};
  request.address = address;
  (void)connection_.post(device, request);
}

hipError_t Leases::find_free(int device, std::uint64_t& bytes) {
  protocol::FindFreeMemoryReply reply{};
  const hipError_t error = connection_.call(device, protocol::FindFreeMemoryRequest{}, reply);
  bytes = reply.bytes;
  return error;
}

}  // namespace tf::proxy
