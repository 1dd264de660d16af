// SPDX-License-Identifier: Apache-2.0
// The strided copies of the copy engine. Between pageable memory and the device their rows are packed:
// through shared buffers where there are some (staging.h), else into batches for the bulk plane.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "proxy/copy/copy_route.h"
#include "proxy/copy/copy_steps.h"
#include "proxy/copy/copy_turns.h"
#include "proxy/session/payload.h"

namespace tf::proxy {
namespace {

// Two buffers of packed rows, so that one travels while the other is filled or emptied.
class RowBatches {
 public:
  explicit RowBatches(const Box& box)
      : rows_per_batch_(std::max<std::uint64_t>(1, std::min(box.rows(), kPackBytesMax / box.width))) {
    for (Batch& batch : batches_) batch.bytes.resize(rows_per_batch_ * box.width);
  }
  struct Batch {
    std::vector<std::byte> bytes;
    std::shared_ptr<Transfer> transfer;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  Batch& next() { return batches_[turn_++ % 2]; }
  std::uint64_t rows_per_batch() const { return rows_per_batch_; }

 private:
  std::uint64_t rows_per_batch_;
  std::uint64_t turn_ = 0;
  Batch batches_[2];
};

Status finish(Connection& connection, RowBatches::Batch& batch) {
  if (batch.transfer == nullptr) return Status::ok();
  Status status = connection.queue().await(batch.transfer->completion, Deadline::never());
  batch.transfer = nullptr;
  return status;
}

template <typename Request>
void fill_common(Request& request, const CopyMode& mode, const Box& box) {
  request.width = box.width;
  request.height = box.height;
  request.depth = box.depth;
  request.stream = mode.stream;
}

// Where the program leaves its memory alone meanwhile. Nothing: there is no memory to pack so many rows.
std::shared_ptr<Transfer> transfer_for_later(CopyEngine& engine, const CopyMode& mode, const Box& box,
                                             std::span<std::byte> target = {}) {
  return engine.streams().packed_transfer_on(mode.device, mode.stream, box.bytes(), target);
}

hipError_t box_to_device(CopyEngine& engine, const CopyMode& mode, const Box& box) {
  const CopyEnd host{box.source.address, extent(box, box.source)};
  hipError_t staged = hipSuccess;
  if (!staging_would_wait(engine, mode, host, box.bytes(), kStagingChunkBytes) &&
      engine.staging().box_to_device(mode, box, staged) == Staging::Outcome::kDone)
    return staged;
  protocol::CopyBoxToDeviceRequest request{};
  fill_common(request, mode, box);
  request.target = box.target.address;
  request.target_pitch = box.target.pitch;
  request.target_slice = box.target.slice;
  if (may_return_early(engine, mode, host)) {
    if (const auto transfer = transfer_for_later(engine, mode, box)) {
      const std::span packed(transfer->packed.get(), transfer->packed_bytes);
      pack_rows(box, box.source, 0, box.rows(), packed);
      return send_payload_later(engine.connection(), engine.callbacks(), mode.device, request, packed,
                                transfer);
    }
  }
  RowBatches batches(box);
  OutgoingPayload payload(engine.connection());
  request.tag = payload.tag();
  hipError_t error = engine.connection().post(mode.device, request);
  if (error != hipSuccess) return error;
  Status status;
  for (std::uint64_t row = 0; row < box.rows() && status.is_ok(); row += batches.rows_per_batch()) {
    RowBatches::Batch& batch = batches.next();
    status = finish(engine.connection(), batch);
    if (!status) break;
    batch.count = std::min(batches.rows_per_batch(), box.rows() - row);
    std::span<std::byte> packed = std::span(batch.bytes).first(batch.count * box.width);
    pack_rows(box, box.source, row, batch.count, packed);
    batch.transfer = std::make_shared<Transfer>();
    status = payload.send(packed, batch.transfer->completion);
    if (!status) batch.transfer = nullptr;
  }
  for (int i = 0; i < 2; ++i) {  // both, whatever happened: their buffers die here
    Status last = finish(engine.connection(), batches.next());
    if (status.is_ok()) status = last;
  }
  return status ? hipSuccess : engine.connection().transferred(status);
}

// Waits where there is no memory to do without, too.
hipError_t box_from_device(CopyEngine& engine, const CopyMode& mode, const Box& box) {
  protocol::CopyBoxFromDeviceRequest request{};
  fill_common(request, mode, box);
  request.source = box.source.address;
  request.source_pitch = box.source.pitch;
  request.source_slice = box.source.slice;
  const std::span target(reinterpret_cast<std::byte*>(box.target.address), extent(box, box.target));
  const auto later = mode.wait ? nullptr : transfer_for_later(engine, mode, box, target);
  if (later) {
    const std::span packed(later->packed.get(), later->packed_bytes);
    later->unpack = [box, packed] { unpack_rows(box, box.target, 0, box.rows(), packed); };
    return receive_payload_later(engine.connection(), engine.callbacks(), mode.device, request, packed,
                                 later);
  }
  hipError_t staged = hipSuccess;
  if (engine.staging().box_from_device(mode, box, staged) == Staging::Outcome::kDone)
    return engine.connection().synchronized_stream(mode.device, mode.stream, staged);
  IncomingPayload payload(engine.connection());
  request.tag = payload.tag();
  payload.keep_open();
  hipError_t error = engine.connection().post(mode.device, request);
  if (error != hipSuccess) return error;
  RowBatches batches(box);
  Status status;
  auto land = [&](RowBatches::Batch& batch) {
    bool pending = batch.transfer != nullptr;
    Status landed = finish(engine.connection(), batch);
    if (pending && landed) {
      unpack_rows(box, box.target, batch.first, batch.count,
                  std::span(batch.bytes).first(batch.count * box.width));
    }
    if (status.is_ok()) status = landed;
  };
  for (std::uint64_t row = 0; row < box.rows() && status.is_ok(); row += batches.rows_per_batch()) {
    RowBatches::Batch& batch = batches.next();
    land(batch);
    if (!status) break;
    batch.first = row;
    batch.count = std::min(batches.rows_per_batch(), box.rows() - row);
    batch.transfer = std::make_shared<Transfer>();
    Status started =
        payload.receive(std::span(batch.bytes).first(batch.count * box.width), batch.transfer->completion);
    if (!started) {
      batch.transfer = nullptr;
      status = started;
    }
  }
  for (int i = 0; i < 2; ++i) land(batches.next());
  hipError_t copied = status ? hipSuccess : engine.connection().transferred(status);
  return engine.connection().synchronized_stream(mode.device, mode.stream, copied);
}

hipError_t box_on_device(CopyEngine& engine, const CopyMode& mode, const Box& box) {
  return settle_on_device(engine, mode, box.target.address, box.source.address,
                          post_box(engine.connection(), mode, box));
}

}  // namespace

hipError_t post_box(Connection& connection, const CopyMode& mode, const Box& box) {
  protocol::CopyBoxOnDeviceRequest request{};
  fill_common(request, mode, box);
  request.target = box.target.address;
  request.target_pitch = box.target.pitch;
  request.target_slice = box.target.slice;
  request.source = box.source.address;
  request.source_pitch = box.source.pitch;
  request.source_slice = box.source.slice;
  return connection.post(mode.device, request);
}

void copy_on_host(const Box& box) {
  BoxSide row = box.source;
  Box one = box;
  one.height = 1;
  one.depth = 1;
  for (std::uint64_t i = 0; i < box.rows(); ++i) {
    row.address = box.source.address + i / box.height * box.source.slice + i % box.height * box.source.pitch;
    std::uint64_t target =
        box.target.address + i / box.height * box.target.slice + i % box.height * box.target.pitch;
    pack_rows(one, row, 0, 1, {reinterpret_cast<std::byte*>(target), box.width});
  }
}

hipError_t copy_box(CopyEngine& engine, const CopyMode& asked, const Box& box, hipMemcpyKind kind) {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return hipSuccess;
  if (box.target.address == 0 || box.source.address == 0) return hipErrorInvalidValue;
  if (!is_valid(box)) return hipErrorInvalidPitchValue;
  if (engine.connection().is_capturing()) {  // as the program said it, dense or not
    CopyWay way = CopyWay::kOnHost;
    if (hipError_t error = copy_way(engine, box, kind, way); error != hipSuccess) return error;
    if (const auto verdict = offer(engine, asked, box, kind)) return *verdict;
  }
  if (flattened(box).is_line()) {
    return copy(engine, asked, reinterpret_cast<void*>(box.target.address),
                reinterpret_cast<const void*>(box.source.address), box.bytes(), kind);
  }
  Box seen = box;
  for (BoxSide* side : {&seen.target, &seen.source})
    side->address = engine.host_memory().seen_by_devices(side->address, extent(box, *side));
  Route route;
  hipError_t error = find_route(engine, {seen.target.address, extent(box, box.target)},
                                {seen.source.address, extent(box, box.source)}, kind, route);
  if (error != hipSuccess) return error;
  const CopyMode mode = ruled(engine, asked, route, {box.target.address, extent(box, box.target)});
  if (!mode.in_turn) count_copy(engine, box.target.address, box.source.address, box.bytes());
  if (const auto turn = turn_here(engine, mode, route, box.bytes())) {
    if (*turn == hipSuccess) copy_on_host(box);
    return *turn;
  }
  const BoxSide& side = route.way == CopyWay::kToDevice ? box.source : box.target;
  if (waits_for_turn(engine, mode, route.way, {side.address, extent(box, side)}))
    return take_turn(engine, mode, box, kind);
  if (error = await_turns(engine, mode, route.way); error != hipSuccess) return error;
  switch (route.way) {
    case CopyWay::kToDevice: return settle(engine.connection(), mode, box_to_device(engine, mode, seen));
    case CopyWay::kFromDevice: return box_from_device(engine, mode, seen);
    case CopyWay::kOnDevice: return box_on_device(engine, mode, seen);
    case CopyWay::kOnHost: break;
  }
  if (error = synchronize(engine.connection(), mode); error != hipSuccess) return error;
  copy_on_host(box);
  return hipSuccess;
}

}  // namespace tf::proxy
