// SPDX-License-Identifier: Apache-2.0
// Payload on the bulk plane: what is the same for every request.
#include "proxy/session/payload.h"

namespace tf::proxy {
namespace {

// Starts one send or receive.
template <typename Start>
Status start(Session& session, Start start_transfer) {
  for (;;) {
    Status status = start_transfer();
    if (status.code() != Code::kResourceExhausted) return status;
    session.transfers().await_oldest();
    TF_RETURN_IF_ERROR(session.queue().poll());
  }
}

}  // namespace

Status OutgoingPayload::send(std::span<const std::byte> data, BulkCompletion& completion) {
  BulkPlane& bulk = session_.queue().endpoint().bulk();
  return start(session_, [&] { return bulk.send(tag_, data, completion); });
}

Status start_receive(Session& session, std::uint64_t tag, std::span<std::byte> data,
                     BulkCompletion& completion) {
  BulkPlane& bulk = session.queue().endpoint().bulk();
  return start(session, [&] { return bulk.receive(tag, data, completion); });
}

hipError_t finish_transfer(Session& session, const BulkCompletion& completion, bool started,
                           hipError_t told) {
  if (!started) return told;
  const Status moved = session.queue().await(completion, Deadline::never());
  return told != hipSuccess ? told : session.transferred(moved);
}

hipError_t leave_transfer(Session& session, const std::shared_ptr<Transfer>& transfer, bool started,
                          hipError_t posted) {
  if (!started) session.transfers().drop(transfer);
  if (posted != hipSuccess) return finish_transfer(session, transfer->completion, started, posted);
  session.callbacks().transfer_started();
  return hipSuccess;
}

}  // namespace tf::proxy
