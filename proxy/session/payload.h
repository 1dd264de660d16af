// SPDX-License-Identifier: Apache-2.0
// Payload on the bulk plane: sent or received for a request that names its tag. The plain forms have moved it
// on return; the later ones leave it to the Transfers (transfers.h). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "proxy/session/session.h"

namespace tf::proxy {

// One payload that leaves. Holds the order of payloads from its tag on: they leave in the order of their
// messages, so that the worker's executor never waits for one that is stuck behind a later one. Goes when the
// message is posted and all pieces have been given to the bulk plane.
class OutgoingPayload {
 public:
  explicit OutgoingPayload(Session& session)
      : session_(session), order_(session.send_order()), tag_(session.next_tag()) {}
  OutgoingPayload(const OutgoingPayload&) = delete;
  OutgoingPayload& operator=(const OutgoingPayload&) = delete;

  std::uint64_t tag() const { return tag_; }
  // Starts sending the payload's next bytes. The bulk plane takes kBulkPendingMax of them; then the oldest
  // copies finish first. Not ok: the connection has failed.
  Status send(std::span<const std::byte> data, BulkCompletion& completion);

 private:
  Session& session_;
  std::lock_guard<std::mutex> order_;
  const std::uint64_t tag_;
};

// The same for the next bytes of a payload that comes.
Status start_receive(Session& session, std::uint64_t tag, std::span<std::byte> data,
                     BulkCompletion& completion);

// Starts sending `data` and has `tell` post or call the request. `started` says whether there is something to
// wait for: when telling has failed, too, the session is lost then, which ends the transfer.
template <typename Request, typename Tell>
hipError_t start_sending(Session& session, Request& request, std::span<const std::byte> data,
                         BulkCompletion& completion, bool& started, Tell tell) {
  OutgoingPayload payload(session);
  request.tag = payload.tag();
  const Status status = payload.send(data, completion);
  started = status.is_ok();
  if (started) return tell();
  session.lose(status);
  return kLostError;
}

template <typename Request>
hipError_t start_receiving(Session& session, int device, Request& request, std::span<std::byte> data,
                           BulkCompletion& completion, bool& started) {
  request.tag = session.next_tag();
  const Status status = start_receive(session, request.tag, data, completion);
  started = status.is_ok();
  if (started) return session.post(device, request);
  session.lose(status);
  return kLostError;
}

// The end of a transfer that the call waits for.
hipError_t finish_transfer(Session& session, const BulkCompletion& completion, bool started,
                           hipError_t told);
// The end of one that it leaves running. REQUIRES: transfers().add() made it
hipError_t leave_transfer(Session& session, const std::shared_ptr<Transfer>& transfer, bool started,
                          hipError_t posted);

template <typename Request>
hipError_t send_payload(Session& session, int device, Request& request, std::span<const std::byte> data) {
  BulkCompletion completion;
  bool started = false;
  const hipError_t posted = start_sending(session, request, data, completion, started,
                                          [&] { return session.post(device, request); });
  return finish_transfer(session, completion, started, posted);
}

// The same for a request that is answered when the payload has arrived.
template <typename Request>
hipError_t call_with_payload(Session& session, int device, Request& request,
                             std::span<const std::byte> data) {
  BulkCompletion completion;
  bool started = false;
  const hipError_t answered = start_sending(session, request, data, completion, started,
                                            [&] { return session.call(device, request); });
  return finish_transfer(session, completion, started, answered);
}

template <typename Request>
hipError_t receive_payload(Session& session, int device, Request& request, std::span<std::byte> data) {
  BulkCompletion completion;
  bool started = false;
  const hipError_t posted = start_receiving(session, device, request, data, completion, started);
  return finish_transfer(session, completion, started, posted);
}

template <typename Request>
hipError_t send_payload_later(Session& session, int device, Request& request, std::span<const std::byte> data,
                              const std::shared_ptr<Transfer>& transfer) {
  bool started = false;
  const hipError_t posted = start_sending(session, request, data, transfer->completion, started,
                                          [&] { return session.post(device, request); });
  return leave_transfer(session, transfer, started, posted);
}

template <typename Request>
hipError_t receive_payload_later(Session& session, int device, Request& request, std::span<std::byte> data,
                                 const std::shared_ptr<Transfer>& transfer) {
  bool started = false;
  const hipError_t posted =
      start_receiving(session, device, request, data, transfer->completion, started);
  return leave_transfer(session, transfer, started, posted);
}

}  // namespace tf::proxy
