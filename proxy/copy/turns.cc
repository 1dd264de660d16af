// SPDX-License-Identifier: Apache-2.0
// Queues copies that wait for their turn, and makes them when it comes.
#include "proxy/copy/turns.h"

#include "proxy/copy/engine.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

// A stream that waits for no other. 0: none is available.
std::uint64_t Turns::other_stream(int device) {
  const MutexLock lock(streams_mutex_);
  std::uint64_t& stream = streams_[static_cast<std::size_t>(device)];
  if (stream != 0) return stream;
  const auto handle = engine_.connection().handles().of(protocol::HandleKind::kStream).create(device);
  if (!handle) return 0;
  protocol::StreamCreateWithFlagsRequest request{};
  request.stream = handle->raw();
  request.flags = hipStreamNonBlocking;
  if (engine_.connection().post(device, request) == hipSuccess) stream = handle->raw();
  return stream;
}

hipError_t Turns::take(const CopyMode& mode, const Box& box, hipMemcpyKind kind) {
  const int device = engine_.streams().device_of(mode.device, mode.stream);
  const std::uint64_t other = other_stream(device);
  if (other == 0) return engine_.connection().lost() ? kLostError : hipErrorOutOfMemory;
  const auto make = [this, mode, box, kind, device, other](hipError_t error) {
    if (error == hipSuccess) error = copy_box(engine_, {device, other, true, true}, box, kind);
    if (error != hipSuccess) engine_.streams().faults().note(device, mode.stream, error);
    waiting_.fetch_sub(1, std::memory_order_release);  // pairs with any()
  };
  waiting_.fetch_add(1, std::memory_order_relaxed);
  const hipError_t error = engine_.callbacks().add(mode.device, mode.stream, make);
  if (error != hipSuccess) waiting_.fetch_sub(1, std::memory_order_release);
  return error;
}

}  // namespace tf::proxy
