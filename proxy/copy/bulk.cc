// SPDX-License-Identifier: Apache-2.0
// Copies whose payload travels in the message or on the bulk plane. A line goes as it is. Of other boxes the
// rows are packed: all of them if the call does not wait, else in batches.
#include "proxy/copy/bulk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "proxy/copy/mapped.h"
#include "proxy/session/payload.h"

namespace tf::proxy {
namespace {

constexpr std::uint64_t kPackBytesMax = 1 << 20;  // of rows in one batch

// A piece of the box, packed in a buffer on one side.
struct Batch {
  std::vector<std::byte> bytes;
  Box piece;
  std::optional<BulkCompletion> moved;

  std::span<std::byte> packed() { return std::span(bytes).first(piece.bytes()); }
};

// Two buffers: one travels while the other is filled or emptied.
class Batches {
 public:
  explicit Batches(const Box& box) : pieces_(box, kPackBytesMax) {
    for (Batch& batch : batches_) batch.bytes.resize(std::min(box.bytes(), kPackBytesMax));
  }
  Batch& turn() { return batches_[turn_++ % 2]; }
  std::optional<Box> next_piece() { return pieces_.next(); }

 private:
  graph::BoxPieces pieces_;
  std::uint64_t turn_ = 0;
  Batch batches_[2];
};

Status finish(Connection& connection, Batch& batch) {
  if (!batch.moved) return Status::ok();
  const Status status = connection.queue().await(*batch.moved, Deadline::never());
  batch.moved.reset();
  return status;
}

hipError_t send_in_batches(Connection& connection, const CopyPlan& plan,
                           protocol::CopyBoxToDeviceRequest& request) {
  Batches batches(plan.box);
  OutgoingPayload payload(connection);
  request.tag = payload.tag();
  const hipError_t error = connection.post(plan.mode.device, request);
  if (error != hipSuccess) return error;
  Status status;
  for (auto piece = batches.next_piece(); piece && status.is_ok(); piece = batches.next_piece()) {
    Batch& batch = batches.turn();
    status = finish(connection, batch);
    if (!status) break;
    batch.piece = *piece;
    batch.piece.target = packed_at(to_raw(batch.bytes.data()), *piece);
    copy_rows(batch.piece);
    status = payload.send(batch.packed(), batch.moved.emplace());
    if (!status) batch.moved.reset();
  }
  for (int i = 0; i < 2; ++i) {  // both, whatever happened: their buffers are destroyed here
    const Status last = finish(connection, batches.turn());
    if (status.is_ok()) status = last;
  }
  return status ? hipSuccess : connection.transferred(status);
}

// Waits for what the batch has requested, and unpacks it.
Status land(Connection& connection, Batch& batch) {
  const bool pending = batch.moved.has_value();
  const Status landed = finish(connection, batch);
  if (pending && landed) copy_rows(batch.piece);
  return landed;
}

hipError_t receive_in_batches(Connection& connection, const CopyPlan& plan,
                              protocol::CopyBoxFromDeviceRequest& request) {
  IncomingPayload payload(connection);
  request.tag = payload.tag();
  payload.keep_open();
  const hipError_t error = connection.post(plan.mode.device, request);
  if (error != hipSuccess) return error;
  Batches batches(plan.box);
  Status status;
  for (auto piece = batches.next_piece(); piece && status.is_ok(); piece = batches.next_piece()) {
    Batch& batch = batches.turn();
    status = land(connection, batch);
    if (!status) break;
    batch.piece = *piece;
    batch.piece.source = packed_at(to_raw(batch.bytes.data()), *piece);
    status = payload.receive(batch.packed(), batch.moved.emplace());
    if (!status) batch.moved.reset();
  }
  for (int i = 0; i < 2; ++i) {
    const Status last = land(connection, batches.turn());
    if (status.is_ok()) status = last;
  }
  return status ? hipSuccess : connection.transferred(status);
}

template <typename Request>
void say_box(Request& request, const CopyPlan& plan) {
  request.width = plan.box.width;
  request.height = plan.box.height;
  request.depth = plan.box.depth;
  request.stream = plan.mode.stream;
}

// For a call that does not wait: memory for all rows, until they have moved. Null: there is none.
std::shared_ptr<Transfer> keep_rows(Connection& connection, CopyPlan& plan,
                                    std::span<std::byte> target = {}) {
  if (!plan.early) return nullptr;
  auto kept =
      connection.streams().packed_transfer_on(plan.mode.device, plan.mode.stream, plan.box.bytes(), target);
  plan.early = kept != nullptr;
  return kept;
}

hipError_t line_to_device(Connection& connection, Callbacks& pump, const CopyPlan& plan) {
  protocol::CopyToDeviceRequest request{};
  request.target = plan.box.target.address;
  request.bytes = plan.box.width;
  request.stream = plan.mode.stream;
  const std::span<const std::byte> data(plan.box.source.memory(), plan.box.width);
  if (!plan.early) return send_payload(connection, plan.mode.device, request, data);
  return send_payload_later(connection, pump, plan.mode.device, request, data,
                            connection.streams().transfer_on(plan.mode.device, plan.mode.stream));
}

hipError_t rows_to_device(Connection& connection, Callbacks& pump, CopyPlan& plan) {
  protocol::CopyBoxToDeviceRequest request{};
  say_box(request, plan);
  request.target = plan.box.target.address;
  request.target_pitch = plan.box.target.pitch;
  request.target_slice = plan.box.target.slice;
  const auto kept = keep_rows(connection, plan);
  if (!kept) return send_in_batches(connection, plan, request);
  Box rows = plan.box;
  rows.target = packed_at(to_raw(kept->packed.get()), rows);
  copy_rows(rows);
  return send_payload_later(connection, pump, plan.mode.device, request,
                            std::span(kept->packed.get(), kept->packed_bytes), kept);
}

// Of two copies to the same memory the later one must land last.
void await_landing(Connection& connection, std::span<const std::byte> target) {
  connection.streams().transfers().await_landing(target, connection.bulk().fills_in_order());
}

hipError_t line_from_device(Connection& connection, Callbacks& pump, const CopyPlan& plan) {
  protocol::CopyFromDeviceRequest request{};
  request.source = plan.box.source.address;
  request.bytes = plan.box.width;
  request.stream = plan.mode.stream;
  const std::span data(plan.box.target.memory(), plan.box.width);
  await_landing(connection, data);
  if (!plan.early) return receive_payload(connection, plan.mode.device, request, data);
  return receive_payload_later(connection, pump, plan.mode.device, request, data,
                               connection.streams().transfer_on(plan.mode.device, plan.mode.stream, data));
}

hipError_t rows_from_device(Connection& connection, Callbacks& pump, CopyPlan& plan) {
  protocol::CopyBoxFromDeviceRequest request{};
  say_box(request, plan);
  request.source = plan.box.source.address;
  request.source_pitch = plan.box.source.pitch;
  request.source_slice = plan.box.source.slice;
  const std::span target(plan.box.target.memory(), extent(plan.box, plan.box.target));
  await_landing(connection, target);
  const auto kept = keep_rows(connection, plan, target);
  if (!kept) return receive_in_batches(connection, plan, request);
  Box rows = plan.box;
  rows.source = packed_at(to_raw(kept->packed.get()), rows);
  kept->unpack = [rows] { copy_rows(rows); };
  return receive_payload_later(connection, pump, plan.mode.device, request,
                               std::span(kept->packed.get(), kept->packed_bytes), kept);
}

}  // namespace

hipError_t copy_inline(Connection& connection, const CopyPlan& plan) {
  protocol::CopyToDeviceInlineRequest request{};
  request.target = plan.box.target.address;
  request.stream = plan.mode.stream;
  // Registered memory has another address here than for devices.
  const std::span data(reinterpret_cast<const std::byte*>(plan.source), plan.box.width);
  const hipError_t error = connection.send(protocol::kTraits<decltype(request)>, plan.mode.device,
                                           protocol::wire_of(request), data);
  connection.streams().note_posted(plan.mode.device, {Leaves::kArrival, plan.mode.stream});
  return error;
}

hipError_t copy_by_bulk(Connection& connection, Callbacks& pump, CopyPlan& plan) {
  const bool line = plan.box.is_line();
  if (plan.way == CopyWay::kToDevice)
    return line ? line_to_device(connection, pump, plan) : rows_to_device(connection, pump, plan);
  return line ? line_from_device(connection, pump, plan) : rows_from_device(connection, pump, plan);
}

}  // namespace tf::proxy
