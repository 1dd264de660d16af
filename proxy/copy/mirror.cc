// SPDX-License-Identifier: Apache-2.0
// Copies managed memory to a worker that cannot map it, and back.
#include "proxy/copy/mirror.h"

#include "proxy/session/payload.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

void Mirror::add(std::uint64_t address, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  ranges_.emplace(address, bytes);
  count();
  // Fresh memory has no content to send, but the worker's bytes would otherwise overwrite what the host
  // writes.
  if (at_worker_) (void)carry_one(true, address, bytes);
}

void Mirror::remove(std::uint64_t address) {
  const MutexLock lock(mutex_);
  ranges_.erase(address);
  count();
}

void Mirror::count() {
  any_.store(!ranges_.empty(), std::memory_order_relaxed);
  connection_.take_care(Care::kMirroring, !ranges_.empty());
}

hipError_t Mirror::carry_one(bool to_worker, std::uint64_t address, std::uint64_t bytes) {
  auto* const memory = reinterpret_cast<std::byte*>(address);
  if (to_worker) {
    protocol::WriteHostPartRequest request{};
    request.address = address;
    request.bytes = bytes;
    return send_payload(connection_, 0, request, {memory, bytes});
  }
  protocol::ReadHostPartRequest request{};
  request.address = address;
  request.bytes = bytes;
  return receive_payload(connection_, 0, request, {memory, bytes});
}

hipError_t Mirror::carry(bool to_worker) {
  for (const auto& [address, bytes] : ranges_) {
    if (hipError_t error = carry_one(to_worker, address, bytes); error != hipSuccess) return error;
  }
  return hipSuccess;
}

hipError_t Mirror::before(protocol::OpTraits what, int device, std::span<const std::byte> head) {
  if (!what.has(protocol::Trait::kReachesHost)) return hipSuccess;
  const MutexLock lock(mutex_);
  hipError_t error = at_worker_ ? hipSuccess : carry(true);
  if (error != hipSuccess) return error;
  at_worker_ = true;
  busy_.emplace(device, what.stream_of(head));
  return hipSuccess;
}

// Drops streams that are idle or destroyed.
void Mirror::forget_idle() {
  std::erase_if(busy_, [this](const Queue& queue) {
    protocol::QueryStreamRequest request{};
    request.stream = queue.second;
    return connection_.call(queue.first, request) != hipErrorNotReady;
  });
}

hipError_t Mirror::after_wait() {
  const MutexLock lock(mutex_);
  if (!at_worker_) return hipSuccess;
  forget_idle();
  const hipError_t error = carry(false);
  at_worker_ = !busy_.empty();
  return error;
}

}  // namespace tf::proxy
