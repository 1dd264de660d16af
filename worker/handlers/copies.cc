// SPDX-License-Identifier: Apache-2.0
// Copies between the client's memory and the device, and on the device. Executor thread.
//
// Whatever is wrong with a request, its payload is accounted for: thrown away, or its tag aborted.
#include <algorithm>

#include "worker/copy/copies.h"
#include "worker/copy/direct_copies.h"
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

hipError_t check(Call& call, const Box& box) {
  return call.session().addresses.holds_box(box.address, box.pitch, box.slice, box.width, box.height,
                                            box.depth)
             ? hipSuccess
             : hipErrorInvalidValue;
}

// Starts a linear copy without staging, where that is possible: else hipErrorNotReady, or the failure of work
// before it. What is left to wait for after hipSuccess is the transfer.
hipError_t start_direct(Call& call, DirectCopies::Way way, const Box& box, StreamRef stream,
                        std::uint64_t raw_stream, std::uint64_t tag) {
  DirectCopies& direct = call.session().direct_copies;
  if (box.height != 1 || box.depth != 1 || box.width == 0 || !call.header().has(kFlagNoReply)) {
    direct.settle();
    return hipErrorNotReady;
  }
  auto* memory = reinterpret_cast<std::byte*>(box.address);
  return direct.start({way, {memory, static_cast<std::size_t>(box.width)}, tag, call.header(), raw_stream},
                      stream);
}

void box_to_device(Call& call, const Box& box, std::uint64_t raw_stream, std::uint64_t tag) {
  CopyEngine& copies = call.session().copies;
  std::uint64_t bytes = 0;
  if (!box.bytes(bytes)) {
    call.reject("a box of more than 2^64 bytes");
    return;
  }
  StreamRef stream;
  hipError_t error = check(call, box);
  if (error == hipSuccess) error = enter_stream(call, raw_stream, stream);
  if (error == hipSuccess)
    error = start_direct(call, DirectCopies::Way::kToDevice, box, stream, raw_stream, tag);
  if (error == hipSuccess) return;
  if (error == hipErrorNotReady)
    error = copies.to_device(box, stream, tag);
  else if (bytes != 0)
    copies.discard(tag, bytes);
  call.finish(error, raw_stream);
}

void box_from_device(Call& call, const Box& box, std::uint64_t raw_stream, std::uint64_t tag) {
  CopyEngine& copies = call.session().copies;
  StreamRef stream;
  hipError_t error = check(call, box);
  if (error == hipSuccess) error = enter_stream(call, raw_stream, stream);
  if (error == hipSuccess)
    error = start_direct(call, DirectCopies::Way::kFromDevice, box, stream, raw_stream, tag);
  if (error == hipSuccess) return;
  if (error == hipErrorNotReady)
    error = copies.from_device(box, stream, tag);
  else
    copies.abort(tag, error);
  call.finish(error, raw_stream);
}

Box linear(std::uint64_t address, std::uint64_t bytes) { return {address, bytes, bytes, bytes, 1, 1}; }

}  // namespace

void copy_to_device(Call& call, const protocol::CopyToDeviceRequest& request) {
  box_to_device(call, linear(request.target, request.bytes), request.stream, request.tag);
}

void copy_to_device_inline(Call& call, const protocol::CopyToDeviceInlineRequest& request) {
  StreamRef stream;
  hipError_t error = check(call, linear(request.target, call.tail().size()));
  if (error == hipSuccess) error = enter_stream(call, request.stream, stream);
  if (error == hipSuccess)
    error = call.session().copies.inline_to_device(request.target, call.tail(), stream);
  call.finish(error, request.stream);
}

void copy_from_device(Call& call, const protocol::CopyFromDeviceRequest& request) {
  box_from_device(call, linear(request.source, request.bytes), request.stream, request.tag);
}

void copy_on_device(Call& call, const protocol::CopyOnDeviceRequest& request) {
  StreamRef stream;
  hipError_t error = check(call, linear(request.target, request.bytes));
  if (error == hipSuccess) error = check(call, linear(request.source, request.bytes));
  if (error == hipSuccess) error = enter_stream(call, request.stream, stream);
  if (error == hipSuccess && request.bytes != 0)
    error = call.hip().hipMemcpyAsync(
        reinterpret_cast<void*>(request.target), reinterpret_cast<const void*>(request.source), request.bytes,
        call.session().host_parts.kind(request.target, request.source), stream.stream);
  call.finish(error, request.stream);
}

void copy_box_to_device(Call& call, const protocol::CopyBoxToDeviceRequest& request) {
  box_to_device(call,
                {request.target, request.target_pitch, request.target_slice, request.width, request.height,
                 request.depth},
                request.stream, request.tag);
}

void copy_box_from_device(Call& call, const protocol::CopyBoxFromDeviceRequest& request) {
  box_from_device(call,
                  {request.source, request.source_pitch, request.source_slice, request.width, request.height,
                   request.depth},
                  request.stream, request.tag);
}

namespace {

// Slices that follow each other as rows do are rows: one call of the runtime, not one for each.
void flatten(Box& target, Box& source) {
  if (target.depth <= 1) return;
  if (target.height == 1) {
    target.pitch = target.slice;
    source.pitch = source.slice;
  } else if (target.slice != target.pitch * target.height || source.slice != source.pitch * source.height) {
    return;
  }
  target.height = source.height = target.height * target.depth;
  target.depth = source.depth = 1;
}

// Slice by slice: the three-dimensional call wants slices that are whole numbers of rows apart.
// REQUIRES: both boxes are the session's, so their numbers do not wrap.
hipError_t copy_slices(Call& call, Box target, Box source, hipStream_t stream) {
  if (target.width == 0 || target.height == 0) return hipSuccess;
  flatten(target, source);
  const hipMemcpyKind kind = call.session().host_parts.kind(target.address, source.address);
  hipError_t error = hipSuccess;
  for (std::uint64_t slice = 0; error == hipSuccess && slice < target.depth; ++slice) {
    if (call.session().life.ending()) return hipErrorUnknown;  // there may be many
    // With one row the pitch does not count, but the runtime insists on one that is wide enough.
    error = call.hip().hipMemcpy2DAsync(
        reinterpret_cast<void*>(target.address + slice * target.slice), std::max(target.pitch, target.width),
        reinterpret_cast<const void*>(source.address + slice * source.slice),
        std::max(source.pitch, source.width), target.width, target.height, kind, stream);
  }
  return error;
}

}  // namespace

void copy_box_on_device(Call& call, const protocol::CopyBoxOnDeviceRequest& request) {
  const Box target{request.target, request.target_pitch, request.target_slice,
                   request.width,  request.height,       request.depth};
  const Box source{request.source, request.source_pitch, request.source_slice,
                   request.width,  request.height,       request.depth};
  StreamRef stream;
  hipError_t error = check(call, target);
  if (error == hipSuccess) error = check(call, source);
  if (error == hipSuccess) error = enter_stream(call, request.stream, stream);
  if (error == hipSuccess) error = copy_slices(call, target, source, stream.stream);
  call.finish(error, request.stream);
}

}  // namespace tf::worker::custom
