// SPDX-License-Identifier: Apache-2.0
// Holds streams until the client has run their host functions.
#include "worker/session/callbacks.h"

#include <span>

#include "hipcore/wire/gen/messages.h"
#include "transport/base/mutex.h"

namespace tf::worker {

void Callbacks::on_due(hipStream_t, hipError_t status, void* argument) {
  const std::unique_ptr<Due> due(static_cast<Due*>(argument));
  Shared& shared = *due->shared;
  {
    const MutexLock lock(shared.mutex);
    if (shared.ended) return;  // the endpoint may be gone
    protocol::CallbackDueNotice notice{};
    notice.cookie = due->cookie;
    notice.error = status;
    notice.output = shared.sender.printed();
    FrameHeader header;
    header.opcode = static_cast<std::uint16_t>(protocol::CallbackDueNotice::kOp);
    header.flags = kFlagNoReply;
    shared.sender.send(header, std::as_bytes(std::span(&notice, 1)));
  }
  const MutexLock lock(shared.mutex);
  shared.changed.wait(
      shared.mutex, [&]() TF_REQUIRES(shared.mutex) { return shared.ended || shared.waiting[due->cookie]; });
  shared.waiting.erase(due->cookie);
}

hipError_t Callbacks::enqueue(const protocol::HipTable& hip, hipStream_t stream, std::uint64_t cookie) {
  {
    const MutexLock lock(shared_->mutex);
    if (shared_->waiting.size() >= kCallbacksMax) return hipErrorOutOfMemory;
    if (!shared_->waiting.emplace(cookie, false).second) return hipErrorInvalidValue;
  }
  auto due = std::make_unique<Due>(Due{shared_, cookie});
  const hipError_t error = hip.hipStreamAddCallback(stream, &Callbacks::on_due, due.get(), 0);
  if (error == hipSuccess) {
    due.release();  // on_due() takes it back
    return hipSuccess;
  }
  const MutexLock lock(shared_->mutex);
  shared_->waiting.erase(cookie);
  return error;
}

void Callbacks::done(std::uint64_t cookie) {
  const MutexLock lock(shared_->mutex);
  auto found = shared_->waiting.find(cookie);
  if (found == shared_->waiting.end()) return;
  found->second = true;
  shared_->changed.notify_all();
}

void Callbacks::end() {
  const MutexLock lock(shared_->mutex);
  shared_->ended = true;
  shared_->changed.notify_all();
}

}  // namespace tf::worker
