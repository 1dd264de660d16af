// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/copy_engine.h"

#include "proxy/copy/copy_route.h"
#include "proxy/copy/copy_steps.h"
#include "proxy/copy/copy_turns.h"
#include "proxy/session/payload.h"

namespace tf::proxy {
namespace {

using Way = CopyWay;

hipError_t to_device_inline(Session& session, const CopyMode& mode, std::uint64_t target, const void* source,
                            std::uint64_t bytes) {
  protocol::CopyToDeviceInlineRequest request{};
  request.target = target;
  request.stream = mode.stream;
  return session.post(mode.device, request, {static_cast<const std::byte*>(source), bytes});
}

hipError_t to_device(Session& session, const CopyMode& mode, std::uint64_t target, const void* source,
                     std::uint64_t bytes) {
  if (bytes <= session.queue().endpoint().capabilities().inline_payload_bytes)
    return to_device_inline(session, mode, target, source, bytes);
  const CopyEnd host{to_raw(source), bytes};
  hipError_t staged = hipSuccess;
  if (!staging_would_wait(session, mode, host, bytes, kStagingBytes) &&
      session.staging().to_device(mode, target, source, bytes, staged) == Staging::Outcome::kDone)
    return staged;
  protocol::CopyToDeviceRequest request{};
  request.target = target;
  request.bytes = bytes;
  request.stream = mode.stream;
  const std::span data(static_cast<const std::byte*>(source), bytes);
  if (!may_return_early(session, mode, host)) return send_payload(session, mode.device, request, data);
  return send_payload_later(session, mode.device, request, data,
                            session.transfer_on(mode.device, mode.stream));
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
  const std::span data(static_cast<std::byte*>(target), bytes);
  if (!mode.wait)
    return receive_payload_later(session, mode.device, request, data,
                                 session.transfer_on(mode.device, mode.stream, data));
  const hipError_t copied = receive_payload(session, mode.device, request, data);
  if (copied == kLostError) return copied;
  const hipError_t fault = session.synchronized_stream(mode.device, mode.stream, copied);
  return copied != hipSuccess ? copied : fault;
}

hipError_t on_device(Session& session, const CopyMode& mode, std::uint64_t target, std::uint64_t source,
                     std::uint64_t bytes) {
  return settle_on_device(session, mode, target, source, post_copy(session, mode, target, source, bytes));
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

hipError_t write_host_part(Session& session, std::uint64_t address, std::uint64_t bytes) {
  protocol::WriteHostPartRequest request{};
  request.address = address;
  request.bytes = bytes;
  return send_payload(session, 0, request, {reinterpret_cast<const std::byte*>(address), bytes});
}

hipError_t read_host_part(Session& session, std::uint64_t address, std::uint64_t bytes) {
  protocol::ReadHostPartRequest request{};
  request.address = address;
  request.bytes = bytes;
  return receive_payload(session, 0, request, {reinterpret_cast<std::byte*>(address), bytes});
}

namespace {

// REQUIRES: find_route() says that both ends are here.
void copy_here(Session& session, std::uint64_t to, std::uint64_t from, void* target, const void* source,
               std::uint64_t bytes) {
  for (const std::uint64_t end : {to, from}) {
    if (bytes < kHugeCopyBytesMin) break;
    const bool is_ours = session.host_window().is_ours(end) || session.device_memory().find_block(end);
    if (is_ours) session.huge_pages().use(end, bytes);
  }
  session.copy_threads().copy(target, source, bytes);
}

}  // namespace

hipError_t copy(Session& session, const CopyMode& asked, void* target, const void* source,
                std::uint64_t bytes, hipMemcpyKind kind) {
  if (bytes == 0) return hipSuccess;
  if (target == nullptr || source == nullptr) return hipErrorInvalidValue;
  std::uint64_t to = to_raw(target);
  std::uint64_t from = to_raw(source);
  const Box line{{to, bytes, bytes}, {from, bytes, bytes}, bytes, 1, 1};
  to = session.host_memory().seen_by_devices(to, bytes);
  from = session.host_memory().seen_by_devices(from, bytes);
  Route route;
  if (hipError_t error = find_route(session, {to, bytes}, {from, bytes}, kind, route); error != hipSuccess)
    return error;
  if (const auto verdict = offer(session, asked, line, kind)) return *verdict;
  const CopyMode mode = ruled(session, asked, route, {to_raw(target), bytes});
  if (!mode.in_turn) count_copy(session, to, from, bytes);
  if (const auto turn = turn_here(session, mode, route, bytes)) {
    if (*turn == hipSuccess) copy_here(session, to, from, target, source, bytes);
    return *turn;
  }
  const CopyEnd host{route.way == Way::kToDevice ? to_raw(source) : to_raw(target), bytes};
  if (waits_for_turn(session, mode, route.way, host)) return take_turn(session, mode, line, kind);
  if (hipError_t error = await_turns(session, mode, route.way); error != hipSuccess) return error;
  switch (route.way) {
    case Way::kToDevice: return settle(session, mode, to_device(session, mode, to, source, bytes));
    case Way::kFromDevice: return from_device(session, mode, target, from, bytes);
    case Way::kOnDevice: return on_device(session, mode, to, from, bytes);
    case Way::kOnHost: break;
  }
  // In the order of the stream, as everything else on it.
  if (hipError_t error = synchronize(session, mode); error != hipSuccess) return error;
  session.copy_threads().copy(target, source, bytes);
  return hipSuccess;
}

}  // namespace tf::proxy
