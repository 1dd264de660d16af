// SPDX-License-Identifier: Apache-2.0
// Holds streams until the client has run their host functions, or sent their payload.
#include "worker/session/callbacks.h"

#include <span>
#include <string>

#include "hipcore/wire/gen/messages.h"
#include "transport/base/mutex.h"

namespace tf::worker {

// What follows one that has been announced has been, too: by link(). So this ends, whatever follows what.
void Callbacks::Shared::announce(std::uint64_t cookie, hipError_t status) {
  for (auto next = waiting.find(cookie); next != waiting.end() && !next->second.announced;
       next = waiting.find(next->second.next)) {
    next->second.announced = true;
    protocol::CallbackDueNotice notice{};
    notice.cookie = next->first;
    notice.error = status;
    notice.output = sender.printed();
    FrameHeader header;
    header.opcode = static_cast<std::uint16_t>(protocol::CallbackDueNotice::kOp);
    header.flags = kFlagNoReply;
    sender.send(header, std::as_bytes(std::span(&notice, 1)));
  }
}

void Callbacks::Shared::link(const Order& order) {
  if (order.follows == 0) return;
  const MutexLock lock(mutex);
  if (ended) return;  // the endpoint may be gone
  const auto before = waiting.find(order.follows);
  const bool is_due = before == waiting.end() || before->second.announced;
  if (before != waiting.end()) before->second.next = order.cookie;
  if (is_due) announce(order.cookie, hipSuccess);
}

void Callbacks::on_due(hipStream_t, hipError_t status, void* argument) {
  const std::unique_ptr<Due> due(static_cast<Due*>(argument));
  Shared& shared = *due->shared;
  const MutexLock lock(shared.mutex);
  if (shared.ended) return;  // the endpoint may be gone
  shared.announce(due->cookie, status);
  shared.changed.wait(shared.mutex, [&]() TF_REQUIRES(shared.mutex) {
    return shared.ended || shared.waiting[due->cookie].done;
  });
  shared.waiting.erase(due->cookie);
}

bool Callbacks::wait_for_room(Life& life) {
  return life.wait_until([this] {
    const MutexLock lock(shared_->mutex);
    return shared_->waiting.size() < kCallbacksMax;
  });
}

hipError_t Callbacks::enqueue(const protocol::HipTable& hip, hipStream_t stream, const Order& order) {
  {
    const MutexLock lock(shared_->mutex);
    if (shared_->waiting.size() >= kCallbacksMax) return hipErrorOutOfMemory;
    Waiting waiting;
    waiting.landing = order.landing;
    if (!shared_->waiting.emplace(order.cookie, waiting).second) return hipErrorInvalidValue;
  }
  auto due = std::make_unique<Due>(Due{shared_, order.cookie});
  const hipError_t error = hip.hipStreamAddCallback(stream, &Callbacks::on_due, due.get(), 0);
  if (error == hipSuccess) {
    due.release();  // on_due() takes it back
    shared_->link(order);
    return hipSuccess;
  }
  const MutexLock lock(shared_->mutex);
  shared_->waiting.erase(order.cookie);
  return error;
}

void Callbacks::refuse(std::uint64_t cookie) {
  protocol::CallbackRefusedNotice notice{};
  notice.cookie = cookie;
  FrameHeader header;
  header.opcode = static_cast<std::uint16_t>(protocol::CallbackRefusedNotice::kOp);
  header.flags = kFlagNoReply;
  shared_->sender.send(header, std::as_bytes(std::span(&notice, 1)));
}

void Callbacks::done(std::uint64_t cookie) {
  const MutexLock lock(shared_->mutex);
  auto found = shared_->waiting.find(cookie);
  if (found == shared_->waiting.end()) return;
  found->second.done = true;
  shared_->changed.notify_all();
}

Status Callbacks::take_payload(std::uint64_t cookie, std::uint64_t bytes, const Read& read) {
  std::span<std::byte> landing;
  {
    const MutexLock lock(shared_->mutex);
    const auto found = shared_->waiting.find(cookie);
    if (found == shared_->waiting.end() || found->second.done || bytes == 0 ||
        found->second.landing.size() != bytes)
      return {Code::kProtocol, "a payload of " + std::to_string(bytes) + " bytes that no copy waits for"};
    landing = found->second.landing;
  }
  // The memory stays: the stream goes on, and the copy with it, only behind done() or the session's end, and
  // the session's memory is released when nobody reads the control connection any more.
  TF_RETURN_IF_ERROR(read(landing));
  done(cookie);
  return Status::ok();
}

bool Callbacks::any() const {
  const MutexLock lock(shared_->mutex);
  return !shared_->waiting.empty();
}

void Callbacks::end() {
  const MutexLock lock(shared_->mutex);
  shared_->ended = true;
  shared_->changed.notify_all();
}

}  // namespace tf::worker
