// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/copy_engine.h"

#include "proxy/copy/copy_route.h"
#include "proxy/copy/copy_steps.h"
#include "proxy/copy/copy_turns.h"
#include "proxy/session/payload.h"

namespace tf::proxy {
namespace {

using Way = CopyWay;

hipError_t to_device_inline(CopyEngine& engine, const CopyMode& mode, std::uint64_t target,
                            const void* source, std::uint64_t bytes) {
  protocol::CopyToDeviceInlineRequest request{};
  request.target = target;
  request.stream = mode.stream;
  return engine.connection().post(mode.device, request, {static_cast<const std::byte*>(source), bytes});
}

hipError_t to_device(CopyEngine& engine, const CopyMode& mode, std::uint64_t target, const void* source,
                     std::uint64_t bytes) {
  if (bytes <= engine.connection().capabilities().inline_payload_bytes)
    return to_device_inline(engine, mode, target, source, bytes);
  const CopyEnd host{to_raw(source), bytes};
  hipError_t staged = hipSuccess;
  if (!staging_would_wait(engine, mode, host, bytes, kStagingBytes) &&
      engine.staging().to_device(mode, target, source, bytes, staged) == Staging::Outcome::kDone)
    return staged;
  protocol::CopyToDeviceRequest request{};
  request.target = target;
  request.bytes = bytes;
  request.stream = mode.stream;
  const std::span data(static_cast<const std::byte*>(source), bytes);
  if (!may_return_early(engine, mode, host))
    return send_payload(engine.connection(), mode.device, request, data);
  return send_payload_later(engine.connection(), engine.callbacks(), mode.device, request, data,
                            engine.streams().transfer_on(mode.device, mode.stream));
}

hipError_t from_device(CopyEngine& engine, const CopyMode& mode, void* target, std::uint64_t source,
                       std::uint64_t bytes) {
  hipError_t staged = hipSuccess;
  if (mode.wait &&
      engine.staging().from_device(mode, target, source, bytes, staged) == Staging::Outcome::kDone)
    return engine.connection().synchronized_stream(mode.device, mode.stream, staged);
  protocol::CopyFromDeviceRequest request{};
  request.source = source;
  request.bytes = bytes;
  request.stream = mode.stream;
  const std::span data(static_cast<std::byte*>(target), bytes);
  if (!mode.wait)
    return receive_payload_later(engine.connection(), engine.callbacks(), mode.device, request, data,
                                 engine.streams().transfer_on(mode.device, mode.stream, data));
  const hipError_t copied = receive_payload(engine.connection(), mode.device, request, data);
  if (copied == kLostError) return copied;
  const hipError_t fault = engine.connection().synchronized_stream(mode.device, mode.stream, copied);
  return copied != hipSuccess ? copied : fault;
}

hipError_t on_device(CopyEngine& engine, const CopyMode& mode, std::uint64_t target, std::uint64_t source,
                     std::uint64_t bytes) {
  return settle_on_device(engine, mode, target, source,
                          post_copy(engine.connection(), mode, target, source, bytes));
}

}  // namespace

hipError_t post_copy(Connection& connection, const CopyMode& mode, std::uint64_t target, std::uint64_t source,
                     std::uint64_t bytes) {
  protocol::CopyOnDeviceRequest request{};
  request.target = target;
  request.source = source;
  request.bytes = bytes;
  request.stream = mode.stream;
  return connection.post(mode.device, request);
}

namespace {

// REQUIRES: find_route() says that both ends are here.
void copy_here(CopyEngine& engine, std::uint64_t to, std::uint64_t from, void* target, const void* source,
               std::uint64_t bytes) {
  for (const std::uint64_t end : {to, from}) {
    if (bytes < kHugeCopyBytesMin) break;
    const bool is_ours = engine.host_window().is_ours(end) || engine.device_memory().find_block(end);
    if (is_ours) engine.huge_pages().use(end, bytes);
  }
  engine.threads().copy(target, source, bytes);
}

}  // namespace

hipError_t copy(CopyEngine& engine, const CopyMode& asked, void* target, const void* source,
                std::uint64_t bytes, hipMemcpyKind kind) {
  if (bytes == 0) return hipSuccess;
  if (target == nullptr || source == nullptr) return hipErrorInvalidValue;
  std::uint64_t to = to_raw(target);
  std::uint64_t from = to_raw(source);
  const Box line = graph::line(to, from, bytes);
  to = engine.host_memory().seen_by_devices(to, bytes);
  from = engine.host_memory().seen_by_devices(from, bytes);
  Route route;
  if (hipError_t error = find_route(engine, {to, bytes}, {from, bytes}, kind, route); error != hipSuccess)
    return error;
  if (const auto verdict = offer(engine, asked, line, kind)) return *verdict;
  const CopyMode mode = ruled(engine, asked, route, {to_raw(target), bytes});
  if (!mode.in_turn) count_copy(engine, to, from, bytes);
  if (const auto turn = turn_here(engine, mode, route, bytes)) {
    if (*turn == hipSuccess) copy_here(engine, to, from, target, source, bytes);
    return *turn;
  }
  const CopyEnd host{route.way == Way::kToDevice ? to_raw(source) : to_raw(target), bytes};
  if (waits_for_turn(engine, mode, route.way, host)) return take_turn(engine, mode, line, kind);
  if (hipError_t error = await_turns(engine, mode, route.way); error != hipSuccess) return error;
  switch (route.way) {
    case Way::kToDevice: return settle(engine.connection(), mode, to_device(engine, mode, to, source, bytes));
    case Way::kFromDevice: return from_device(engine, mode, target, from, bytes);
    case Way::kOnDevice: return on_device(engine, mode, to, from, bytes);
    case Way::kOnHost: break;
  }
  // In the order of the stream, as everything else on it.
  if (hipError_t error = synchronize(engine.connection(), mode); error != hipSuccess) return error;
  engine.threads().copy(target, source, bytes);
  return hipSuccess;
}

}  // namespace tf::proxy
