// SPDX-License-Identifier: Apache-2.0
// Memory shared between sessions. Executor thread.
#include <span>

#include "worker/gen/custom.h"
#include "worker/handlers/share_name.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void share_lease(Call& call, const protocol::ShareLeaseRequest& request) {
  if (!call.session().late_fills.wait()) return;
  net::Token name;
  const hipError_t error = call.session().sharing.share_lease(request.address, request.bytes, name);
  reply_name<protocol::ShareLeaseReply>(call, error, name);
}

void withdraw_shared(Call& call, const protocol::WithdrawSharedRequest& request) {
  call.finish(call.session().sharing.withdraw(name_in(request)));
}

void open_shared(Call& call, const protocol::OpenSharedRequest& request) {
  if (!call.use_device()) return;
  protocol::OpenSharedReply reply{};
  SharedPiece piece;
  const auto device = static_cast<int>(call.header().device());
  const hipError_t error = call.session().sharing.open(name_in(request), device, reply.address, piece);
  reply.bytes = piece.bytes;
  reply.device = piece.device;
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void close_shared(Call& call, const protocol::CloseSharedRequest& request) {
  SessionState& session = call.session();
  if (!session.streams.wait_all_idle()) return;
  const int device = session.leases.opener_of(request.address);
  const hipError_t error = device < 0 ? hipErrorInvalidValue : session.device.use(device);
  call.reply(error != hipSuccess ? error : session.leases.drop(request.address));
}

void share_event(Call& call, const protocol::ShareEventRequest& request) {
  net::Token name;
  const hipError_t error = call.session().sharing.share_event(request.event, name);
  reply_name<protocol::ShareEventReply>(call, error, name);
}

void open_event(Call& call, const protocol::OpenEventRequest& request) {
  if (!call.use_device()) return;
  hipEvent_t event = nullptr;
  int device = 0;
  const hipError_t error = call.session().sharing.open_event(name_in(request), event, device);
  if (error == hipSuccess && !call.bind(protocol::HandleKind::kEvent, request.event, event)) return;
  protocol::OpenEventReply reply{};
  reply.device = device;
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

}  // namespace tf::worker::custom
