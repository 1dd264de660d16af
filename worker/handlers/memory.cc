// SPDX-License-Identifier: Apache-2.0
// Leases, what is left, and the barrier behind hipFree. Executor thread.
#include <algorithm>
#include <span>

#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void lease_memory(Call& call, const protocol::LeaseMemoryRequest& request) {
  if (!call.use_device()) return;
  protocol::LeaseMemoryReply reply{};
  const hipError_t error = call.session().leases.grant(
      static_cast<int>(call.header().device()), request.bytes, request.flags, reply.address, reply.bytes);
  if (error != hipSuccess) return call.reply(error);
  hipMemGenericAllocationHandle_t memory{};
  if (call.session().leases.memory_at(reply.address, memory))
    reply.mapped = call.session().lease_files.pass(reply.address, memory) ? 1 : 0;
  // One allocation that cannot be registered would turn it off for all memory of the device.
  if (request.flags == hipDeviceMallocDefault)
    call.session().device_regions.add(reply.address, reply.bytes, static_cast<int>(call.header().device()));
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

// The runtime counts what the session has leased as used, and knows nothing of the tenant's limit.
void find_free_memory(Call& call, const protocol::FindFreeMemoryRequest&) {
  if (!call.use_device()) return;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  const hipError_t error = call.hip().hipMemGetInfo(&free_bytes, &total_bytes);
  if (error != hipSuccess) return call.reply(error);
  const Share& share = call.session().share;
  const Counter memory = memory_of(static_cast<int>(call.header().device()));
  protocol::FindFreeMemoryReply reply{};
  reply.bytes = free_bytes + share.used_here(memory);
  if (const std::uint64_t limit = share.memory_limit(call.header().device()); limit != 0)
    reply.bytes = std::min(reply.bytes, limit - std::min(limit, share.used_by_others(memory)));
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void return_lease(Call& call, const protocol::ReturnLeaseRequest& request) {
  SessionState& session = call.session();
  const int device = session.leases.device_of(request.address);
  if (device < 0) return call.finish(hipErrorInvalidValue);
  const std::uint64_t bytes = session.addresses.find(request.address, 1)->bytes;
  if (!session.streams.wait_device_idle(device) || !session.direct_copies.let_go(request.address, bytes))
    return;
  session.sharing.withdraw_lease(request.address);
  const hipError_t error = session.device.use(device);
  call.finish(error != hipSuccess ? error : session.leases.give_back(request.address));
}

// The block stays part of its lease. The client may allocate it again at once, so its later requests must not
// overtake work that still uses the block.
void free_memory(Call& call, const protocol::FreeMemoryRequest& request) {
  SessionState& session = call.session();
  const AddressMap::Range* range = session.addresses.find(request.address, 1);
  if (range == nullptr) return call.finish(hipErrorInvalidValue);
  const int device = range->device;
  if (session.streams.wait_device_idle(device)) call.finish(hipSuccess);
}

}  // namespace tf::worker::custom
