// SPDX-License-Identifier: Apache-2.0
// Waits for streams and devices of the worker, and for the transfers that belong to them.
#include "proxy/session/connection.h"

#include <type_traits>

namespace tf::proxy {

hipError_t Connection::synchronize_stream(int device, std::uint64_t stream) {
  if (streams_.quiet()) return synchronized_stream(device, stream, lost() ? kLostError : hipSuccess);
  return synchronize_stream(device, stream, [&] {
    protocol::SynchronizeStreamRequest request{};
    request.stream = stream;
    return call(device, request);
  });
}

// What it posts is no work to wait for.
hipError_t Connection::leave_wait(int device, std::uint64_t stream) {
  hipError_t error = hipSuccess;
  const auto send_unnoted = [&](const auto& request) {
    using Request = std::remove_cvref_t<decltype(request)>;
    if (error == hipSuccess) error = send(protocol::kTraits<Request>, device, protocol::wire_of(request), {});
  };
  const bool follows = streams_.asks_for_null(device, stream);
  if (follows) send_unnoted(protocol::FollowNullRequest{.stream = stream, .polls = false});
  const bool is_null = protocol::Handle(stream).is_constant();
  if (follows || is_null || streams_.pending_work().may_have_work(PendingWork::mark_of(device, stream)))
    send_unnoted(protocol::FinishStreamRequest{.stream = stream});
  const hipError_t fault = land_copies(device, stream);
  return error != hipSuccess ? error : fault;
}

hipError_t Connection::synchronize_device(int device) {
  if (streams_.quiet()) return synchronized_device(device, lost() ? kLostError : hipSuccess);
  const std::uint64_t starts = streams_.output().starts();
  PendingWork& pending = streams_.pending_work();
  const PendingWork::Proof proof = pending.begin(PendingWork::mark_of(device, 0), devices_.count == 1);
  const hipError_t error = synchronized_device(device, call(device, protocol::SynchronizeDeviceRequest{}));
  pending.end(proof, error == hipSuccess);
  if (pending.idle()) streams_.output().settle(starts);
  return error;
}

// Waits for the copies left running that belong to the stream, and takes its fault.
hipError_t Connection::land_copies(int device, std::uint64_t stream) {
  streams_.await_copies(device, stream);
  const hipError_t fault = streams_.faults().take_stream(device, stream);
  if (fault == kLostError) [[unlikely]]
    lose_endpoint(Status(Code::kPeerLost, "a copy did not finish"));
  return fault;
}

hipError_t Connection::synchronized_stream(int device, std::uint64_t stream, hipError_t error) {
  hipError_t fault = land_copies(device, stream);
  if (error == hipSuccess) {
    if (stream == 0) {
      // The null stream waits for every blocking stream; it also reports their failures.
      fault = fault != hipSuccess ? fault : streams_.faults().take_stream(device, 1);
    }
    error = observer_.stream_waited(device, stream);
  }
  return error != hipSuccess ? error : fault;
}

hipError_t Connection::synchronized_device(int device, hipError_t error) {
  error = finish_device(device, error);
  const hipError_t fault = streams_.faults().take_device(device);
  if (fault == kLostError) [[unlikely]]
    lose_endpoint(Status(Code::kPeerLost, "a copy did not finish"));
  return error != hipSuccess ? error : fault;
}

hipError_t Connection::finish_device(int device, hipError_t error) {
  streams_.transfers().await_device(device);
  if (error != hipSuccess) return error;
  return observer_.device_waited(device);
}

void Connection::await_output() {
  if (!streams_.output().outstanding()) return;
  for (int device = 0; device < devices_.count && !lost(); ++device)
    static_cast<void>(finish_device(device, drain(device)));
}

hipError_t Connection::drain(int device) {
  const hipError_t error = call(device, protocol::SynchronizeDeviceRequest{});
  if (error != hipSuccess && error != kLostError) streams_.faults().note(device, 0, error);
  return error;
}

}  // namespace tf::proxy
