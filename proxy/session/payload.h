// SPDX-License-Identifier: Apache-2.0
// Payload on the bulk plane, sent or received for a request that names its tag. The plain forms return when
// it has moved; the later ones leave it to the Transfers (transfers.h). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "proxy/session/callbacks.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

// One outgoing payload. From its tag on it holds the payloads' order: they leave in the order of their
// messages, so that the worker's executor never waits for one that is stuck behind a later one. Destroy it
// when the message is posted and the bulk plane has all pieces.
class OutgoingPayload {
 public:
  explicit OutgoingPayload(Connection& connection);
  OutgoingPayload(const OutgoingPayload&) = delete;
  OutgoingPayload& operator=(const OutgoingPayload&) = delete;

  std::uint64_t tag() const { return tag_; }
  // Starts sending the payload's next bytes. The bulk plane takes kBulkPendingMax of them; then the oldest
  // ones must finish first. Not ok: the connection has failed.
  Status send(std::span<const std::byte> data, BulkCompletion& completion);

 private:
  Connection& connection_;
  [[maybe_unused]] const MutexLock<Mutex> order_;
  const std::uint64_t tag_;
};

// One incoming payload. Its message is posted after the first receive, except for payloads in pieces
// (keep_open()).
class IncomingPayload {
 public:
  explicit IncomingPayload(Connection& connection);
  IncomingPayload(const IncomingPayload&) = delete;
  IncomingPayload& operator=(const IncomingPayload&) = delete;
  ~IncomingPayload();

  std::uint64_t tag() const { return tag_; }
  // The receives follow one another: until this is gone the payload may come between them.
  void keep_open();
  // Starts receiving the payload's next bytes, as OutgoingPayload sends them.
  Status receive(std::span<std::byte> data, BulkCompletion& completion);

 private:
  Connection& connection_;
  const std::uint64_t tag_;
  bool open_ = false;
};

// Starts sending `data`, and has `tell` post or call the request. `started` says whether there is something
// to wait for. A post that fails has lost the connection, which ends the transfer. A call that fails was
// answered by the worker, which has taken the payload.
template <typename Request, typename Tell>
hipError_t start_sending(Connection& connection, Request& request, std::span<const std::byte> data,
                         BulkCompletion& completion, bool& started, Tell tell) {
  OutgoingPayload payload(connection);
  request.tag = payload.tag();
  const Status status = payload.send(data, completion);
  started = status.is_ok();
  if (started) return tell();
  return connection.transferred(status);
}

template <typename Request>
hipError_t start_receiving(Connection& connection, int device, Request& request, std::span<std::byte> data,
                           BulkCompletion& completion, bool& started) {
  IncomingPayload payload(connection);
  request.tag = payload.tag();
  const Status status = payload.receive(data, completion);
  started = status.is_ok();
  if (started) return connection.post(device, request);
  return connection.transferred(status);
}

// Finishes a transfer that the call waits for.
hipError_t finish_transfer(Connection& connection, const BulkCompletion& completion, bool started,
                           hipError_t told);
// Ends a transfer that was left running, with `pump` moving it along. REQUIRES: transfers().add() made it
hipError_t leave_transfer(Connection& connection, Callbacks& pump, const std::shared_ptr<Transfer>& transfer,
                          bool started, hipError_t posted);

template <typename Request>
hipError_t send_payload(Connection& connection, int device, Request& request,
                        std::span<const std::byte> data) {
  BulkCompletion completion;
  bool started = false;
  const hipError_t posted = start_sending(connection, request, data, completion, started,
                                          [&] { return connection.post(device, request); });
  return finish_transfer(connection, completion, started, posted);
}

// The same for a request that is answered when the payload has arrived.
template <typename Request>
hipError_t call_with_payload(Connection& connection, int device, Request& request,
                             std::span<const std::byte> data) {
  BulkCompletion completion;
  bool started = false;
  const hipError_t answered = start_sending(connection, request, data, completion, started,
                                            [&] { return connection.call(device, request); });
  return finish_transfer(connection, completion, started, answered);
}

template <typename Request>
hipError_t receive_payload(Connection& connection, int device, Request& request, std::span<std::byte> data) {
  BulkCompletion completion;
  bool started = false;
  const hipError_t posted = start_receiving(connection, device, request, data, completion, started);
  return finish_transfer(connection, completion, started, posted);
}

template <typename Request>
hipError_t send_payload_later(Connection& connection, Callbacks& pump, int device, Request& request,
                              std::span<const std::byte> data, const std::shared_ptr<Transfer>& transfer) {
  bool started = false;
  const hipError_t posted = start_sending(connection, request, data, transfer->completion, started,
                                          [&] { return connection.post(device, request); });
  return leave_transfer(connection, pump, transfer, started, posted);
}

template <typename Request>
hipError_t receive_payload_later(Connection& connection, Callbacks& pump, int device, Request& request,
                                 std::span<std::byte> data, const std::shared_ptr<Transfer>& transfer) {
  bool started = false;
  const hipError_t posted = start_receiving(connection, device, request, data, transfer->completion, started);
  return leave_transfer(connection, pump, transfer, started, posted);
}

}  // namespace tf::proxy
