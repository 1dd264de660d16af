// SPDX-License-Identifier: Apache-2.0
#include "proxy/custom/copy_engine.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "proxy/graphs/graphs.h"

namespace tf::proxy {
namespace {

using Way = CopyWay;

// What stands at an end of a copy: device memory, host memory that devices reach too, or other memory.
enum class End { kDevice, kReachedHost, kHost };

struct Look {
  End end = End::kHost;
  bool whole = true;  // the copy stays inside one allocation
  bool here = true;   // it is memory of this process too
};

Look look(Session& session, std::uint64_t address, std::uint64_t bytes) {
  using Place = DeviceMemory::Place;
  switch (session.device_memory().look(address, bytes)) {
    case Place::kLease: return {End::kDevice, true, session.lease_mappings().complete()};
    case Place::kOther: return {End::kDevice, true, false};
    case Place::kBeyond: return {End::kDevice, false, false};
    case Place::kNone: break;
  }
  if (!session.host_memory().reaches(address, 1)) return {};
  return {End::kReachedHost, bytes <= 1 || session.host_memory().reaches(address, bytes), true};
}

// With memory that only the client has on one side and host memory on the other, the client makes the copy.
Way way_between(End to, End from) {
  if (to != End::kHost && from != End::kHost) return Way::kOnDevice;
  if (to == End::kDevice) return Way::kToDevice;
  return from == End::kDevice ? Way::kFromDevice : Way::kOnHost;
}

// The way a copy goes, from what its ends are. hipErrorInvalidValue: the end is not what `kind` says, or
// reaches beyond its allocation.
hipError_t resolve(const Look& target, const Look& source, hipMemcpyKind kind, Way& way) {
  if (!target.whole || !source.whole) return hipErrorInvalidValue;
  const End to = target.end;
  const End from = source.end;
  way = way_between(to, from);
  // Host memory that devices reach may go by either name.
  switch (kind) {
    case hipMemcpyHostToHost:
      return to == End::kDevice || from == End::kDevice ? hipErrorInvalidValue : hipSuccess;
    case hipMemcpyHostToDevice: return to != End::kHost ? hipSuccess : hipErrorInvalidValue;
    case hipMemcpyDeviceToHost: return from != End::kHost ? hipSuccess : hipErrorInvalidValue;
    case hipMemcpyDeviceToDevice:
      return to != End::kHost && from != End::kHost ? hipSuccess : hipErrorInvalidValue;
    case hipMemcpyDefault: return hipSuccess;
  }
  return hipErrorInvalidMemcpyDirection;
}

hipError_t synchronize(Session& session, const CopyMode& mode) {
  return session.synchronize_stream(mode.device, mode.stream);
}

// Waits until the stream has done what was posted to it so far, looking at shared memory where there is some.
hipError_t await_stream(Session& session, const CopyMode& mode) {
  if (session.pending_work().quiet() || !session.staging().ready()) return synchronize(session, mode);
  return session.synchronize_stream(mode.device, mode.stream, [&] {
    hipError_t error = hipSuccess;
    if (session.staging().wait(mode, error) == Staging::Outcome::kDone) return error;
    protocol::SynchronizeStreamRequest request{};
    request.stream = mode.stream;
    return session.call(mode.device, request);
  });
}

// Whether this thread makes a copy itself, between memory that is all its own: nothing, or hipSuccess when the
// stream has come to it, or why it will not. What the stream must do first is waited for where the call waits
// anyhow; copies to the device that a program may make while it keeps a stream busy are left to that stream.
std::optional<hipError_t> turn_here(Session& session, const CopyMode& mode, Way way, std::uint64_t bytes) {
  if (session.pending_work().idle()) {
    if (session.lost()) return kLostError;
    // A call that need not wait does not keep its caller for longer than a message would.
    const bool pageable = way == Way::kToDevice || way == Way::kFromDevice;
    if (mode.wait || pageable || bytes <= kBriefCopyBytesMax) return hipSuccess;
    return std::nullopt;
  }
  if (!mode.wait || (way == Way::kToDevice && bytes <= kPostedCopyBytesMax)) return std::nullopt;
  return await_stream(session, mode);
}

// A synchronous copy has happened when it returns. Only streams that do not order themselves after the null
// stream could tell the difference, and processes that share the memory; without any of them it stays posted.
hipError_t settle(Session& session, const CopyMode& mode, hipError_t posted) {
  if (posted != hipSuccess || !mode.wait) return posted;
  if (mode.stream == 0 && !session.has_unordered_streams() && !session.is_sharing()) return hipSuccess;
  return synchronize(session, mode);
}

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

hipError_t failed(Session& session, const Status& status) {
  session.lose(status);
  return kLostError;
}

hipError_t to_device_inline(Session& session, const CopyMode& mode, std::uint64_t target, const void* source,
                            std::uint64_t bytes) {
  protocol::CopyToDeviceInlineRequest request{};
  request.target = target;
  request.stream = mode.stream;
  return session.post(mode.device, request, {static_cast<const std::byte*>(source), bytes});
}

hipError_t to_device(Session& session, const CopyMode& mode, std::uint64_t target, const void* source,
                     std::uint64_t bytes) {
  if (bytes <= kInlineCopyBytesMax) return to_device_inline(session, mode, target, source, bytes);
  hipError_t staged = hipSuccess;
  if (session.staging().to_device(mode, target, source, bytes, staged) == Staging::Outcome::kDone)
    return staged;
  protocol::CopyToDeviceRequest request{};
  request.target = target;
  request.bytes = bytes;
  request.stream = mode.stream;
  std::span data(static_cast<const std::byte*>(source), bytes);
  bool leave_running = !mode.wait && session.host_memory().contains(source, bytes);
  auto transfer =
      leave_running ? session.transfers().add(mode.device, mode.stream) : std::make_shared<Transfer>();
  hipError_t error = hipSuccess;
  {
    std::lock_guard order(session.send_order());
    request.tag = session.next_tag();
    Status started = start(session, [&] {
      return session.queue().endpoint().bulk().send(request.tag, data, transfer->completion);
    });
    if (!started) {
      if (leave_running) session.transfers().drop(transfer);
      return failed(session, started);
    }
    error = session.post(mode.device, request);
  }
  if (leave_running && error == hipSuccess) {
    session.callbacks().transfer_started();
    return hipSuccess;
  }
  Status sent = session.queue().await(transfer->completion, Deadline::never());
  return error != hipSuccess ? error : transfer_error(sent);
}

hipError_t from_device(Session& session, const CopyMode& mode, void* target, std::uint64_t source,
                       std::uint64_t bytes) {
  hipError_t staged = hipSuccess;
  if (mode.wait &&
      session.staging().from_device(mode, target, source, bytes, staged) == Staging::Outcome::kDone)
    return session.synchronized_stream(mode.device, mode.stream, staged);
  protocol::CopyFromDeviceRequest request{};
  request.source = source;
  request.bytes = bytes;
  request.stream = mode.stream;
  request.tag = session.next_tag();
  std::span data(static_cast<std::byte*>(target), bytes);
  auto transfer =
      mode.wait ? std::make_shared<Transfer>() : session.transfers().add(mode.device, mode.stream);
  Status started = start(session, [&] {
    return session.queue().endpoint().bulk().receive(request.tag, data, transfer->completion);
  });
  if (!started) {
    if (!mode.wait) session.transfers().drop(transfer);
    return failed(session, started);
  }
  hipError_t error = session.post(mode.device, request);
  if (!mode.wait && error == hipSuccess) {
    session.callbacks().transfer_started();
    return hipSuccess;
  }
  // Also when posting failed: the session is lost then, which ends the transfer and frees the memory.
  Status received = session.queue().await(transfer->completion, Deadline::never());
  if (error != hipSuccess) return error;
  hipError_t copied = transfer_error(received);
  hipError_t fault = session.synchronized_stream(mode.device, mode.stream, copied);
  return copied != hipSuccess ? copied : fault;
}

// A synchronous copy that reads or writes host memory has done so when it returns.
hipError_t settle_on_device(Session& session, const CopyMode& mode, std::uint64_t target,
                            std::uint64_t source, hipError_t posted) {
  const HostMemory& host = session.host_memory();
  const bool touches_host = host.reaches(target, 1) || host.reaches(source, 1);
  if (posted != hipSuccess || !mode.wait || !touches_host) return settle(session, mode, posted);
  return await_stream(session, mode);
}

hipError_t on_device(Session& session, const CopyMode& mode, std::uint64_t target, std::uint64_t source,
                     std::uint64_t bytes) {
  return settle_on_device(session, mode, target, source, post_copy(session, mode, target, source, bytes));
}

// --- boxes ----------------------------------------------------------------------------------------------

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

Status finish(Session& session, RowBatches::Batch& batch) {
  if (batch.transfer == nullptr) return Status::ok();
  Status status = session.queue().await(batch.transfer->completion, Deadline::never());
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

hipError_t box_to_device(Session& session, const CopyMode& mode, const Box& box) {
  protocol::CopyBoxToDeviceRequest request{};
  fill_common(request, mode, box);
  request.target = box.target.address;
  request.target_pitch = box.target.pitch;
  request.target_slice = box.target.slice;
  RowBatches batches(box);
  std::lock_guard order(session.send_order());  // rows of one tag are not interleaved with other payloads
  request.tag = session.next_tag();
  hipError_t error = session.post(mode.device, request);
  if (error != hipSuccess) return error;
  Status status;
  for (std::uint64_t row = 0; row < box.rows() && status.is_ok(); row += batches.rows_per_batch()) {
    RowBatches::Batch& batch = batches.next();
    status = finish(session, batch);
    if (!status) break;
    batch.count = std::min(batches.rows_per_batch(), box.rows() - row);
    std::span<std::byte> packed = std::span(batch.bytes).first(batch.count * box.width);
    pack_rows(box, box.source, row, batch.count, packed);
    batch.transfer = std::make_shared<Transfer>();
    status = start(session, [&] {
      return session.queue().endpoint().bulk().send(request.tag, packed, batch.transfer->completion);
    });
    if (!status) batch.transfer = nullptr;
  }
  for (int i = 0; i < 2; ++i) {  // both, whatever happened: their buffers die here
    Status last = finish(session, batches.next());
    if (status.is_ok()) status = last;
  }
  return status ? hipSuccess : transfer_error(status);
}

hipError_t box_from_device(Session& session, const CopyMode& mode, const Box& box) {
  protocol::CopyBoxFromDeviceRequest request{};
  fill_common(request, mode, box);
  request.source = box.source.address;
  request.source_pitch = box.source.pitch;
  request.source_slice = box.source.slice;
  request.tag = session.next_tag();
  hipError_t error = session.post(mode.device, request);
  if (error != hipSuccess) return error;
  RowBatches batches(box);
  Status status;
  auto land = [&](RowBatches::Batch& batch) {
    bool pending = batch.transfer != nullptr;
    Status landed = finish(session, batch);
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
    Status started = start(session, [&] {
      return session.queue().endpoint().bulk().receive(
          request.tag, std::span(batch.bytes).first(batch.count * box.width), batch.transfer->completion);
    });
    if (!started) {
      batch.transfer = nullptr;
      status = started;
    }
  }
  for (int i = 0; i < 2; ++i) land(batches.next());
  hipError_t copied = status ? hipSuccess : transfer_error(status);
  return session.synchronized_stream(mode.device, mode.stream, copied);
}

hipError_t box_on_device(Session& session, const CopyMode& mode, const Box& box) {
  protocol::CopyBoxOnDeviceRequest request{};
  fill_common(request, mode, box);
  request.target = box.target.address;
  request.target_pitch = box.target.pitch;
  request.target_slice = box.target.slice;
  request.source = box.source.address;
  request.source_pitch = box.source.pitch;
  request.source_slice = box.source.slice;
  return settle_on_device(session, mode, request.target, request.source, session.post(mode.device, request));
}

// Is the copy captured instead of made?
Graphs::Verdict offer(Session& session, const CopyMode& mode, const Box& box, hipMemcpyKind kind) {
  return session.graphs().capturing() ? session.graphs().offer_copy(mode, box, kind) : std::nullopt;
}

}  // namespace

hipError_t post_copy(Session& session, const CopyMode& mode, std::uint64_t target, std::uint64_t source,
                     std::uint64_t bytes) {
  protocol::CopyOnDeviceRequest request{};
  request.target = target;
  request.source = source;
  request.bytes = bytes;
  request.stream = mode.stream;
  return session.post(mode.device, request);
}

CopyWay way_between(Session& session, std::uint64_t target, std::uint64_t source) {
  return way_between(look(session, target, 1).end, look(session, source, 1).end);
}

hipError_t write_host_part(Session& session, std::uint64_t address, std::uint64_t bytes) {
  protocol::WriteHostPartRequest request{};
  request.address = address;
  request.bytes = bytes;
  Transfer transfer;
  const std::span data(reinterpret_cast<const std::byte*>(address), bytes);
  hipError_t error = hipSuccess;
  {
    std::lock_guard order(session.send_order());
    request.tag = session.next_tag();
    const Status started = start(session, [&] {
      return session.queue().endpoint().bulk().send(request.tag, data, transfer.completion);
    });
    if (!started) return failed(session, started);
    error = session.post(0, request);
  }
  const Status sent = session.queue().await(transfer.completion, Deadline::never());
  return error != hipSuccess ? error : transfer_error(sent);
}

hipError_t read_host_part(Session& session, std::uint64_t address, std::uint64_t bytes) {
  protocol::ReadHostPartRequest request{};
  request.address = address;
  request.bytes = bytes;
  request.tag = session.next_tag();
  Transfer transfer;
  const std::span data(reinterpret_cast<std::byte*>(address), bytes);
  const Status started = start(session, [&] {
    return session.queue().endpoint().bulk().receive(request.tag, data, transfer.completion);
  });
  if (!started) return failed(session, started);
  const hipError_t error = session.post(0, request);
  // Also when posting failed: the session is lost then, which ends the transfer.
  const Status received = session.queue().await(transfer.completion, Deadline::never());
  return error != hipSuccess ? error : transfer_error(received);
}

hipError_t copy_way(Session& session, const Box& box, hipMemcpyKind kind, CopyWay& way) {
  return resolve(look(session, box.target.address, extent(box, box.target)),
                 look(session, box.source.address, extent(box, box.source)), kind, way);
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

hipError_t copy(Session& session, const CopyMode& mode, void* target, const void* source, std::uint64_t bytes,
                hipMemcpyKind kind) {
  if (bytes == 0) return hipSuccess;
  if (target == nullptr || source == nullptr) return hipErrorInvalidValue;
  std::uint64_t to = to_raw(target);
  std::uint64_t from = to_raw(source);
  Way way = Way::kOnHost;
  const Look there = look(session, to, bytes);
  const Look here = look(session, from, bytes);
  if (hipError_t error = resolve(there, here, kind, way); error != hipSuccess) return error;
  const Box line{{to, bytes, bytes}, {from, bytes, bytes}, bytes, 1, 1};
  if (const auto verdict = offer(session, mode, line, kind)) return *verdict;
  const bool among_devices = there.end == End::kDevice && here.end == End::kDevice;
  if (there.here && here.here && !among_devices) {
    if (const auto turn = turn_here(session, mode, way, bytes)) {
      if (*turn == hipSuccess) std::memmove(target, source, bytes);
      return *turn;
    }
  }
  switch (way) {
    case Way::kToDevice: return settle(session, mode, to_device(session, mode, to, source, bytes));
    case Way::kFromDevice: return from_device(session, mode, target, from, bytes);
    case Way::kOnDevice: return on_device(session, mode, to, from, bytes);
    case Way::kOnHost: break;
  }
  // In the order of the stream, as everything else on it.
  if (hipError_t error = synchronize(session, mode); error != hipSuccess) return error;
  std::memmove(target, source, bytes);
  return hipSuccess;
}

hipError_t copy_box(Session& session, const CopyMode& mode, const Box& box, hipMemcpyKind kind) {
  if (box.width == 0 || box.height == 0 || box.depth == 0) return hipSuccess;
  if (box.target.address == 0 || box.source.address == 0) return hipErrorInvalidValue;
  if (!is_valid(box)) return hipErrorInvalidPitchValue;
  Way way = Way::kOnHost;
  if (session.graphs().capturing()) {  // as the program said it, dense or not
    if (hipError_t error = copy_way(session, box, kind, way); error != hipSuccess) return error;
    if (const auto verdict = offer(session, mode, box, kind)) return *verdict;
  }
  if (is_dense(box, box.target) && is_dense(box, box.source)) {
    return copy(session, mode, reinterpret_cast<void*>(box.target.address),
                reinterpret_cast<const void*>(box.source.address), box.bytes(), kind);
  }
  hipError_t error = copy_way(session, box, kind, way);
  if (error != hipSuccess) return error;
  switch (way) {
    case Way::kToDevice: return settle(session, mode, box_to_device(session, mode, box));
    case Way::kFromDevice: return box_from_device(session, mode, box);
    case Way::kOnDevice: return box_on_device(session, mode, box);
    case Way::kOnHost: break;
  }
  if (error = synchronize(session, mode); error != hipSuccess) return error;
  copy_on_host(box);
  return hipSuccess;
}

}  // namespace tf::proxy
