// SPDX-License-Identifier: Apache-2.0
// Memory shared between sessions. Executor thread.
#include "worker/memory/shared_memory.h"

#include <cstring>
#include <span>

#include "worker/gen/custom.h"
#include "worker/session/call.h"
#include "worker/session/session.h"

namespace tf::worker::custom {
namespace {

template <typename Request>
net::Token name_in(const Request& request) {
  net::Token name;
  std::memcpy(name.bytes.data(), &request.key_low, sizeof request.key_low);
  std::memcpy(name.bytes.data() + sizeof request.key_low, &request.key_high, sizeof request.key_high);
  return name;
}

template <typename Reply>
void reply_name(Call& call, hipError_t error, const net::Token& name) {
  Reply reply{};
  std::memcpy(&reply.key_low, name.bytes.data(), sizeof reply.key_low);
  std::memcpy(&reply.key_high, name.bytes.data() + sizeof reply.key_low, sizeof reply.key_high);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

}  // namespace

void share_lease(Call& call, const protocol::ShareLeaseRequest& request) {
  net::Token name;
  const hipError_t error = call.session().shared_memory().share_lease(request.address, request.bytes, name);
  reply_name<protocol::ShareLeaseReply>(call, error, name);
}

void share_physical(Call& call, const protocol::SharePhysicalRequest& request) {
  net::Token name;
  const hipError_t error = call.session().shared_memory().share_physical(request.memory, name);
  reply_name<protocol::SharePhysicalReply>(call, error, name);
}

void withdraw_shared(Call& call, const protocol::WithdrawSharedRequest& request) {
  call.finish(call.session().shared_memory().withdraw(name_in(request)));
}

void open_shared(Call& call, const protocol::OpenSharedRequest& request) {
  if (!call.use_device()) return;
  protocol::OpenSharedReply reply{};
  SharedPiece piece;
  const hipError_t error = call.session().shared_memory().open(name_in(request), reply.address, piece);
  reply.bytes = piece.bytes;
  reply.device = piece.device;
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void close_shared(Call& call, const protocol::CloseSharedRequest& request) {
  Session& session = call.session();
  if (session.wait_all_idle()) call.reply(session.leases().drop(request.address));
}

void import_physical(Call& call, const protocol::ImportPhysicalRequest& request) {
  if (!call.use_device()) return;
  protocol::ImportPhysicalReply reply{};
  SharedPiece piece;
  const hipError_t error = call.session().shared_memory().import(name_in(request), request.memory, piece);
  reply.bytes = piece.whole_bytes;
  reply.device = piece.device;
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void share_event(Call& call, const protocol::ShareEventRequest& request) {
  net::Token name;
  const hipError_t error = call.session().shared_memory().share_event(request.event, name);
  reply_name<protocol::ShareEventReply>(call, error, name);
}

void open_event(Call& call, const protocol::OpenEventRequest& request) {
  if (!call.use_device()) return;
  hipEvent_t event = nullptr;
  int device = 0;
  const hipError_t error = call.session().shared_memory().open_event(name_in(request), event, device);
  if (error == hipSuccess && !call.bind(protocol::HandleKind::kEvent, request.event, event)) return;
  protocol::OpenEventReply reply{};
  reply.device = device;
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

}  // namespace tf::worker::custom
