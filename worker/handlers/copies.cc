// SPDX-License-Identifier: Apache-2.0
// Copies between the client's memory and the device, and on the device. Executor thread.
//
// Whatever is wrong with a request, its payload is accounted for: thrown away, or its tag aborted.
#include "hipcore/wire/control_message.h"
#include "worker/copy/array_copies.h"
#include "worker/copy/direct_copies.h"
#include "worker/copy/slot_copies.h"
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {
namespace {

// Resolves the stream and makes the right device current: the stream's own, since events that mark its
// progress must be of the same device.
hipError_t enter_stream(Call& call, std::uint64_t raw, StreamRef& stream) {
  SessionState& session = call.session();
  hipError_t error = session.device.use(static_cast<int>(call.header().device()));
  if (error != hipSuccess) return error;
  if (!session.streams.find(raw, stream.stream, stream.device)) return hipErrorInvalidHandle;
  return session.device.use(stream.device);
}

ExecutionScope executed_on(Call& call, StreamRef stream, std::uint64_t raw_stream, std::uint64_t bytes) {
  return {call.session().executions, call.header(), stream.stream, stream.device, raw_stream, bytes};
}

// One end of the box is the session's memory, or in an array of the session.
hipError_t check(Call& call, const Box& box, const BoxSide& side) {
  if (array::is_name(side.address))
    return stands_in_array(call.session().arrays, box, side) ? hipSuccess : hipErrorInvalidValue;
  return call.session().addresses.holds_box(side.address, side.pitch, side.slice, box.width, box.height,
                                            box.depth)
             ? hipSuccess
             : hipErrorInvalidValue;
}

// Starts a linear copy without staging. hipErrorNotReady: not possible here; other errors: earlier work has
// failed. After hipSuccess only the transfer is left to wait for.
hipError_t start_direct(Call& call, DirectCopies::Way way, const Box& box, StreamRef stream,
                        std::uint64_t raw_stream, std::uint64_t tag) {
  DirectCopies& direct = call.session().direct_copies;
  if (!box.is_line() || box.width == 0 || names_array(box) || !call.header().has(kFlagNoReply)) {
    direct.settle();
    return hipErrorNotReady;
  }
  std::byte* const memory = (way == DirectCopies::Way::kToDevice ? box.target : box.source).memory();
  return direct.start({way, {memory, static_cast<std::size_t>(box.width)}, tag, call.header(), raw_stream},
                      stream);
}

void box_to_device(Call& call, const Box& box, std::uint64_t raw_stream, std::uint64_t tag) {
  SlotCopies& copies = call.session().copies;
  const auto bytes = packed_bytes(box);
  if (!bytes) {
    call.reject("a box of more than 2^64 bytes");
    return;
  }
  StreamRef stream;
  hipError_t error = check(call, box, box.target);
  if (error == hipSuccess) error = enter_stream(call, raw_stream, stream);
  if (error == hipSuccess)
    error = start_direct(call, DirectCopies::Way::kToDevice, box, stream, raw_stream, tag);
  if (error == hipSuccess) return;
  if (error == hipErrorNotReady) {
    const ExecutionScope executed = executed_on(call, stream, raw_stream, *bytes);
    error = copies.to_device(box, stream, tag);
  } else if (*bytes != 0) {
    copies.discard(tag, *bytes);
  }
  call.finish(error, raw_stream);
}

void box_from_device(Call& call, const Box& box, std::uint64_t raw_stream, std::uint64_t tag) {
  SlotCopies& copies = call.session().copies;
  StreamRef stream;
  hipError_t error = check(call, box, box.source);
  if (error == hipSuccess) error = enter_stream(call, raw_stream, stream);
  if (error == hipSuccess)
    error = start_direct(call, DirectCopies::Way::kFromDevice, box, stream, raw_stream, tag);
  if (error == hipSuccess) return;
  if (error == hipErrorNotReady) {
    const ExecutionScope executed = executed_on(call, stream, raw_stream, packed_bytes(box).value_or(0));
    error = copies.from_device(box, stream, tag);
  } else {
    copies.abort(tag, error);
  }
  call.finish(error, raw_stream);
}

void box_on_device(Call& call, const Box& box, std::uint64_t raw_stream) {
  StreamRef stream;
  hipError_t error = check(call, box, box.target);
  if (error == hipSuccess) error = check(call, box, box.source);
  if (error == hipSuccess) error = enter_stream(call, raw_stream, stream);
  if (error == hipSuccess) {
    const hipMemcpyKind kind = call.session().host_parts.kind(box.target.address, box.source.address);
    const ExecutionScope executed = executed_on(call, stream, raw_stream, packed_bytes(box).value_or(0));
    error = call.session().copies.copy_in_stream(flattened(box), kind, stream);
  }
  call.finish(error, raw_stream);
}

static_assert(protocol::kTurnPayloadMax <= kLargeSlotBytes);

// `is_due`: the client will hear of it, or has, and answers.
hipError_t put_copy_in_turn(Call& call, const Box& box, const protocol::CopyInTurnRequest& request,
                            bool& is_due) {
  SessionState& session = call.session();
  StreamRef stream;
  hipError_t error = check(call, box, box.target);
  if (error == hipSuccess) error = enter_stream(call, request.stream, stream);
  if (error != hipSuccess) return error;
  const auto stop = [&](std::span<std::byte> landing) {
    if (!session.callbacks.wait_for_room(session.life)) return hipErrorUnknown;
    const hipError_t put =
        session.callbacks.enqueue(session.hip, stream.stream, {request.cookie, landing, request.follows});
    is_due = put == hipSuccess;
    return put;
  };
  const ExecutionScope executed = executed_on(call, stream, request.stream, packed_bytes(box).value_or(0));
  return session.copies.in_turn(box, stream, stop);
}

}  // namespace

void copy_to_device(Call& call, const protocol::CopyToDeviceRequest& request) {
  box_to_device(call, graph::line(request.target, 0, request.bytes), request.stream, request.tag);
}

void copy_to_device_inline(Call& call, const protocol::CopyToDeviceInlineRequest& request) {
  StreamRef stream;
  const Box box = graph::line(request.target, 0, call.tail().size());
  hipError_t error = check(call, box, box.target);
  if (error == hipSuccess) error = enter_stream(call, request.stream, stream);
  if (error == hipSuccess) {
    const ExecutionScope executed = executed_on(call, stream, request.stream, call.tail().size());
    error = call.session().copies.inline_to_device(request.target, call.tail(), stream);
  }
  call.finish(error, request.stream);
}

void copy_from_device(Call& call, const protocol::CopyFromDeviceRequest& request) {
  box_from_device(call, graph::line(0, request.source, request.bytes), request.stream, request.tag);
}

void copy_on_device(Call& call, const protocol::CopyOnDeviceRequest& request) {
  box_on_device(call, graph::line(request.target, request.source, request.bytes), request.stream);
}

void copy_box_to_device(Call& call, const protocol::CopyBoxToDeviceRequest& request) {
  Box box{{}, {}, request.width, request.height, request.depth};
  box.target = {request.target, request.target_pitch, request.target_slice};
  box.source = packed_at(0, box);
  box_to_device(call, box, request.stream, request.tag);
}

void copy_box_from_device(Call& call, const protocol::CopyBoxFromDeviceRequest& request) {
  Box box{{}, {}, request.width, request.height, request.depth};
  box.target = packed_at(0, box);
  box.source = {request.source, request.source_pitch, request.source_slice};
  box_from_device(call, box, request.stream, request.tag);
}

void copy_in_turn(Call& call, const protocol::CopyInTurnRequest& request) {
  Box box{{}, {}, request.width, request.height, request.depth};
  box.target = {request.target, request.target_pitch, request.target_slice};
  box.source = packed_at(0, box);
  const auto bytes = packed_bytes(box);
  if (!bytes || *bytes == 0 || *bytes > protocol::kTurnPayloadMax) {
    call.reject("a copy in turn of a size that no client sends");
    return;
  }
  bool is_due = false;
  const hipError_t error = put_copy_in_turn(call, box, request, is_due);
  call.finish(error, request.stream);
  if (!is_due) return call.session().callbacks.refuse(request.cookie);
  call.session().attendant.callback_queued();
}

void copy_box_on_device(Call& call, const protocol::CopyBoxOnDeviceRequest& request) {
  Box box{{}, {}, request.width, request.height, request.depth};
  box.target = {request.target, request.target_pitch, request.target_slice};
  box.source = {request.source, request.source_pitch, request.source_slice};
  box_on_device(call, box, request.stream);
}

}  // namespace tf::worker::custom
