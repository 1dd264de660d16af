// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/copy_turns.h"

#include "proxy/copy/copy_steps.h"

namespace tf::proxy {
namespace {

// A stream that waits for no other. 0: there is none to be had.
std::uint64_t other_stream(Session& session, int device) {
  const std::lock_guard lock(session.turns().streams_mutex());
  std::uint64_t& stream = session.turns().stream(device);
  if (stream != 0) return stream;
  const auto handle = session.handles().of(protocol::HandleKind::kStream).create(device);
  if (!handle) return 0;
  protocol::StreamCreateWithFlagsRequest request{};
  request.stream = handle->raw();
  request.flags = hipStreamNonBlocking;
  if (session.post(device, request) == hipSuccess) stream = handle->raw();
  return stream;
}

}  // namespace

bool waits_for_turn(Session& session, const CopyMode& mode, CopyWay way, const CopyEnd& host) {
  if (mode.wait || mode.in_turn) return false;
  const bool has_turns = session.turns().any();
  if (way == CopyWay::kFromDevice) return has_turns;
  if (way != CopyWay::kToDevice) return false;
  const bool has_callbacks = session.callbacks().any();
  if (!has_callbacks && session.transfers().none_running()) return false;
  const bool may_be_written =
      has_turns || has_callbacks || session.transfers().writes(host.address, host.bytes);
  return may_be_written && may_return_early(session, mode, host);
}

hipError_t take_turn(Session& session, const CopyMode& mode, const Box& box, hipMemcpyKind kind) {
  const int device = session.stream_device(mode.device, mode.stream);
  const std::uint64_t other = other_stream(session, device);
  if (other == 0) return session.lost() ? kLostError : hipErrorOutOfMemory;
  const auto make = [&session, mode, box, kind, device, other](hipError_t error) {
    if (error == hipSuccess) error = copy_box(session, {device, other, true, true}, box, kind);
    if (error != hipSuccess) session.faults().note(device, mode.stream, error);
    session.turns().end();
  };
  session.turns().begin();
  const hipError_t error = session.callbacks().add(mode.device, mode.stream, make);
  if (error != hipSuccess) session.turns().end();
  return error;
}

hipError_t await_turns(Session& session, const CopyMode& mode, CopyWay way) {
  const bool has_payload = way == CopyWay::kToDevice || way == CopyWay::kFromDevice;
  return has_payload && !mode.in_turn && session.turns().any() ? synchronize(session, mode) : hipSuccess;
}

}  // namespace tf::proxy
