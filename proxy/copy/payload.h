// SPDX-License-Identifier: Apache-2.0
// Payload of copies on the bulk plane: sent or received for a request that names its tag. The plain forms
// have moved it on return; the later ones leave it to the Transfers (transfers.h). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "proxy/session/session.h"

namespace tf::proxy {

// Starts one send or receive. The bulk plane takes kBulkPendingMax of them; then the oldest copies finish
// first.
template <typename Start>
Status start(Session& session, Start start_transfer) {
  for (;;) {
    Status status = start_transfer();
    if (status.code() != Code::kResourceExhausted) return status;
    session.transfers().await_oldest();
    TF_RETURN_IF_ERROR(session.queue().poll());
  }
}

// Starts sending `data` and posts the request. `started` says whether there is something to wait for: when
// posting has failed, too, the session is lost then, which ends the transfer.
template <typename Request>
hipError_t start_sending(Session& session, int device, Request& request, std::span<const std::byte> data,
                         Transfer& transfer, bool& started) {
  const std::lock_guard order(session.send_order());
  request.tag = session.next_tag();
  const Status status = start(session, [&] {
    return session.queue().endpoint().bulk().send(request.tag, data, transfer.completion);
  });
  started = status.is_ok();
  if (started) return session.post(device, request);
  session.lose(status);
  return kLostError;
}

template <typename Request>
hipError_t start_receiving(Session& session, int device, Request& request, std::span<std::byte> data,
                           Transfer& transfer, bool& started) {
  request.tag = session.next_tag();
  const Status status = start(session, [&] {
    return session.queue().endpoint().bulk().receive(request.tag, data, transfer.completion);
  });
  started = status.is_ok();
  if (started) return session.post(device, request);
  session.lose(status);
  return kLostError;
}

// The end of a transfer that the call waits for.
inline hipError_t finish_transfer(Session& session, Transfer& transfer, bool started, hipError_t posted) {
  if (!started) return posted;
  const Status moved = session.queue().await(transfer.completion, Deadline::never());
  return posted != hipSuccess ? posted : session.transferred(moved);
}

// The end of one that it leaves running. REQUIRES: transfers().add() made it
inline hipError_t leave_transfer(Session& session, const std::shared_ptr<Transfer>& transfer, bool started,
                                 hipError_t posted) {
  if (!started) session.transfers().drop(transfer);
  if (posted != hipSuccess) return finish_transfer(session, *transfer, started, posted);
  session.callbacks().transfer_started();
  return hipSuccess;
}

template <typename Request>
hipError_t send_payload(Session& session, int device, Request& request, std::span<const std::byte> data) {
  Transfer transfer;
  bool started = false;
  const hipError_t posted = start_sending(session, device, request, data, transfer, started);
  return finish_transfer(session, transfer, started, posted);
}

template <typename Request>
hipError_t receive_payload(Session& session, int device, Request& request, std::span<std::byte> data) {
  Transfer transfer;
  bool started = false;
  const hipError_t posted = start_receiving(session, device, request, data, transfer, started);
  return finish_transfer(session, transfer, started, posted);
}

template <typename Request>
hipError_t send_payload_later(Session& session, int device, Request& request, std::span<const std::byte> data,
                              const std::shared_ptr<Transfer>& transfer) {
  bool started = false;
  const hipError_t posted = start_sending(session, device, request, data, *transfer, started);
  return leave_transfer(session, transfer, started, posted);
}

template <typename Request>
hipError_t receive_payload_later(Session& session, int device, Request& request, std::span<std::byte> data,
                                 const std::shared_ptr<Transfer>& transfer) {
  bool started = false;
  const hipError_t posted = start_receiving(session, device, request, data, *transfer, started);
  return leave_transfer(session, transfer, started, posted);
}

}  // namespace tf::proxy
