// SPDX-License-Identifier: Apache-2.0
// Sends and receives payload on the bulk plane, whatever the request.
#include "proxy/session/payload.h"

namespace tf::proxy {
namespace {

// Starts one send or receive.
template <typename Start>
Status start(Connection& connection, Start start_transfer) {
  for (;;) {
    Status status = start_transfer();
    if (status.code() != Code::kResourceExhausted) return status;
    connection.streams().transfers().await_oldest();
    TF_RETURN_IF_ERROR(connection.queue().poll());
  }
}

}  // namespace

// Both relaxed: they only have to be unique.
OutgoingPayload::OutgoingPayload(Connection& connection)
    : connection_(connection),
      order_(connection.send_order_),
      tag_(connection.next_tag_.fetch_add(1, std::memory_order_relaxed)) {}

Status OutgoingPayload::send(std::span<const std::byte> data, BulkCompletion& completion) {
  return start(connection_, [&] { return connection_.bulk().send(tag_, data, completion); });
}

IncomingPayload::IncomingPayload(Connection& connection)
    : connection_(connection), tag_(connection.next_tag_.fetch_add(1, std::memory_order_relaxed)) {}

IncomingPayload::~IncomingPayload() {
  if (open_) connection_.bulk().keep_open(tag_, false);
}

void IncomingPayload::keep_open() {
  connection_.bulk().keep_open(tag_, true);
  open_ = true;
}

Status IncomingPayload::receive(std::span<std::byte> data, BulkCompletion& completion) {
  return start(connection_, [&] { return connection_.bulk().receive(tag_, data, completion); });
}

hipError_t finish_transfer(Connection& connection, const BulkCompletion& completion, bool started,
                           hipError_t told) {
  if (!started) return told;
  const Status moved = connection.queue().await(completion, Deadline::never());
  return told != hipSuccess ? told : connection.transferred(moved);
}

hipError_t leave_transfer(Connection& connection, Callbacks& pump, const std::shared_ptr<Transfer>& transfer,
                          bool started, hipError_t posted) {
  if (!started) connection.streams().transfers().drop(transfer);
  if (posted != hipSuccess) return finish_transfer(connection, transfer->completion, started, posted);
  pump.transfer_started();
  return hipSuccess;
}

}  // namespace tf::proxy
