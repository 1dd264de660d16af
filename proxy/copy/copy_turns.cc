// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/copy_turns.h"

#include "proxy/copy/copy_steps.h"

namespace tf::proxy {
namespace {

// A stream that waits for no other. 0: there is none to be had.
std::uint64_t other_stream(CopyEngine& engine, int device) {
  const std::lock_guard lock(engine.turns().streams_mutex());
  std::uint64_t& stream = engine.turns().stream(device);
  if (stream != 0) return stream;
  const auto handle = engine.connection().handles().of(protocol::HandleKind::kStream).create(device);
  if (!handle) return 0;
  protocol::StreamCreateWithFlagsRequest request{};
  request.stream = handle->raw();
  request.flags = hipStreamNonBlocking;
  if (engine.connection().post(device, request) == hipSuccess) stream = handle->raw();
  return stream;
}

}  // namespace

bool waits_for_turn(CopyEngine& engine, const CopyMode& mode, CopyWay way, const CopyEnd& host) {
  if (mode.wait || mode.in_turn) return false;
  const bool has_turns = engine.turns().any();
  if (way == CopyWay::kFromDevice) return has_turns;
  if (way != CopyWay::kToDevice) return false;
  const bool has_callbacks = engine.callbacks().any();
  if (!has_callbacks && engine.streams().transfers().none_running()) return false;
  const bool may_be_written =
      has_turns || has_callbacks || engine.streams().transfers().writes(host.address, host.bytes);
  return may_be_written && may_return_early(engine, mode, host);
}

hipError_t take_turn(CopyEngine& engine, const CopyMode& mode, const Box& box, hipMemcpyKind kind) {
  const int device = engine.streams().device_of(mode.device, mode.stream);
  const std::uint64_t other = other_stream(engine, device);
  if (other == 0) return engine.connection().lost() ? kLostError : hipErrorOutOfMemory;
  const auto make = [&engine, mode, box, kind, device, other](hipError_t error) {
    if (error == hipSuccess) error = copy_box(engine, {device, other, true, true}, box, kind);
    if (error != hipSuccess) engine.streams().faults().note(device, mode.stream, error);
    engine.turns().end();
  };
  engine.turns().begin();
  const hipError_t error = engine.callbacks().add(mode.device, mode.stream, make);
  if (error != hipSuccess) engine.turns().end();
  return error;
}

hipError_t await_turns(CopyEngine& engine, const CopyMode& mode, CopyWay way) {
  const bool has_payload = way == CopyWay::kToDevice || way == CopyWay::kFromDevice;
  return has_payload && !mode.in_turn && engine.turns().any() ? synchronize(engine.connection(), mode)
                                                              : hipSuccess;
}

}  // namespace tf::proxy
