// SPDX-License-Identifier: Apache-2.0
// Leases device memory from the worker, and returns it.
#include "proxy/memory/leases.h"

#include <string>

#include "proxy/base/log.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

hipError_t Leases::lease(int device, std::uint64_t bytes, unsigned flags, Lease& lease) {
  protocol::LeaseMemoryRequest request{};
  request.bytes = bytes;
  request.flags = flags;
  protocol::LeaseMemoryReply reply{};
  const MutexLock order(mappings_.order());
  const hipError_t error = connection_.call(device, request, reply);
  if (error != hipSuccess) return error;
  lease = Lease{reply.address, reply.bytes};
  const protocol::AddressWindow& window = snapshot_.devices[static_cast<std::size_t>(device)].window;
  const bool inside = window.contains(lease.address, lease.bytes);
  // Where all leases are such, addresses inside live allocations decide, reserved or not.
  const bool reserved = !inside && outside_.reserve(lease.address, lease.bytes);
  if (flags != hipDeviceMallocDefault) {
    if (reserved) return hipSuccess;
    log_debug("fine-grained memory would lie where this process has memory of its own");
    give_back(device, lease.address);
    return hipErrorNotSupported;
  }
  const Status taken = mappings_.take(lease.address, lease.bytes, reply.mapped != 0 && inside);
  if (!taken.is_ok()) log_debug("device memory is no longer mapped in this process: " + taken.to_string());
  return hipSuccess;
}

void Leases::return_lease(int device, std::uint64_t address) {
  huge_pages_.forget(address, mappings_.drop(address));
  outside_.drop(address);
  give_back(device, address);
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
