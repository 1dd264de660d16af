// SPDX-License-Identifier: Apache-2.0
// Virtual memory management. Executor thread.
#include <cstring>
#include <span>
#include <vector>

#include "hipcore/wire/access_wish.h"
#include "worker/gen/custom.h"
#include "worker/handlers/share_name.h"
#include "worker/session/call.h"

namespace tf::worker::custom {
namespace {

// If the memory's own device may write it, so may the transport, whose copies stand in for that device's.
// This holds until it is unmapped, whatever rights kernels have later.
void tell_transport(SessionState& session, std::uint64_t address, std::uint64_t bytes) {
  const PhysicalMemory& memory = session.physical;
  memory.for_each_own(address, bytes, [&](std::uint64_t start, std::uint64_t length, int device) {
    unsigned long long flags = 0;
    if (memory.get_access(start, device, flags) == hipSuccess && flags == hipMemAccessFlagsProtReadWrite)
      session.device_regions.add(start, length, device);
  });
}

}  // namespace

void create_physical(Call& call, const protocol::CreatePhysicalRequest& request) {
  if (!call.use_device()) return;
  call.reply(call.session().physical.create(request.memory, static_cast<int>(call.header().device()),
                                            request.bytes,
                                            static_cast<hipMemAllocationHandleType>(request.shared_as)));
}

void release_physical(Call& call, const protocol::ReleasePhysicalRequest& request) {
  call.session().sharing.withdraw_physical(request.memory);
  call.finish(call.session().physical.release(request.memory));
}

void map_physical(Call& call, const protocol::MapPhysicalRequest& request) {
  call.reply(call.session().physical.map(request.address, request.bytes, request.offset, request.memory,
                                         {request.range, request.range_bytes}));
}

// The runtime would wait too, but then client callbacks that hold up its streams would never finish.
void unmap_physical(Call& call, const protocol::UnmapPhysicalRequest& request) {
  SessionState& session = call.session();
  if (session.streams.wait_all_idle() && session.direct_copies.let_go(request.address, request.bytes))
    call.reply(session.physical.unmap(request.address, request.bytes));
}

void set_access(Call& call, const protocol::SetAccessRequest& request) {
  const std::size_t count = call.tail().size() / sizeof(protocol::AccessWish);
  if (count > protocol::kDevicesMax || call.tail().size() % sizeof(protocol::AccessWish) != 0)
    return static_cast<void>(call.reject("SetAccess: malformed list of devices and access flags"));
  std::vector<hipMemAccessDesc> wishes;
  for (std::size_t index = 0; index < count; ++index) {
    protocol::AccessWish wish;
    std::memcpy(&wish, call.tail().data() + index * sizeof wish, sizeof wish);
    const bool known = wish.flags == hipMemAccessFlagsProtNone || wish.flags == hipMemAccessFlagsProtRead ||
                       wish.flags == hipMemAccessFlagsProtReadWrite;
    if (!known || wish.device < 0 || wish.device >= call.session().device.count())
      return call.reply(hipErrorInvalidValue);
    hipMemAccessDesc entry{};
    entry.location = {hipMemLocationTypeDevice, wish.device};
    entry.flags = static_cast<hipMemAccessFlags>(wish.flags);
    wishes.push_back(entry);
  }
  if (!call.session().late_fills.wait()) return;
  PhysicalMemory& memory = call.session().physical;
  const hipError_t error = memory.set_access(request.address, request.bytes, wishes);
  if (error == hipSuccess) tell_transport(call.session(), request.address, request.bytes);
  call.reply(error);
}

void get_access(Call& call, const protocol::GetAccessRequest& request) {
  unsigned long long flags = 0;
  const hipError_t error = call.session().physical.get_access(request.address, request.device, flags);
  const protocol::GetAccessReply reply{flags};
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void share_physical(Call& call, const protocol::SharePhysicalRequest& request) {
  if (!call.session().late_fills.wait()) return;
  net::Token name;
  const hipError_t error = call.session().sharing.share_physical(request.memory, name);
  reply_name<protocol::SharePhysicalReply>(call, error, name);
}

void import_physical(Call& call, const protocol::ImportPhysicalRequest& request) {
  if (!call.use_device()) return;
  protocol::ImportPhysicalReply reply{};
  SharedPiece piece;
  const hipError_t error = call.session().sharing.import(name_in(request), request.memory, piece);
  reply.bytes = piece.whole_bytes;
  reply.device = piece.device;
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

}  // namespace tf::worker::custom
