// SPDX-License-Identifier: Apache-2.0
// See call.h.
#include "worker/session/call.h"

#include <string>

#include "hipcore/wire/gen/op.h"
#include "worker/session/session.h"

namespace tf::worker {

const protocol::HipTable& Call::hip() const { return session_.hip(); }

bool Call::reject(const char* what) {
  session_.end({Code::kProtocol, "opcode " + std::to_string(header_.opcode) + ": " + what});
  return false;
}

bool Call::wrong_size(std::size_t expected) {
  session_.end({Code::kProtocol, "opcode " + std::to_string(header_.opcode) + ": payload of " +
                                     std::to_string(payload_.size()) + " bytes, expected " +
                                     std::to_string(expected)});
  return false;
}

bool Call::use_device() {
  const hipError_t error = session_.use_device(static_cast<int>(header_.device()));
  if (error == hipSuccess) return true;
  finish(error);
  return false;
}

bool Call::owns(std::uint64_t address, std::uint64_t bytes) {
  if (session_.addresses().find(address, bytes) != nullptr) return true;
  finish(hipErrorInvalidValue);
  return false;
}

bool Call::lookup(protocol::HandleKind kind, std::uint64_t raw, void*& object) {
  // The null stream has two names. The stream of a thread (2) exists on the client only, as a handle.
  if (kind == protocol::HandleKind::kStream && raw <= 1) {
    object = nullptr;
    return true;
  }
  const Object* found = session_.objects().find(kind, raw);
  if (found == nullptr) {
    finish(hipErrorInvalidHandle);
    return false;
  }
  object = found->object;
  return true;
}

bool Call::bind(protocol::HandleKind kind, std::uint64_t raw, void* object) {
  if (session_.objects().bind(kind, raw, {object, session_.current_device()})) return true;
  // A pool stays: it may be the device's own.
  if (kind == protocol::HandleKind::kStream)
    session_.own_calls().pass_on(hip().hipStreamDestroy(static_cast<hipStream_t>(object)));
  if (kind == protocol::HandleKind::kEvent)
    session_.own_calls().pass_on(hip().hipEventDestroy(static_cast<hipEvent_t>(object)));
  finish(hipErrorInvalidHandle);
  return false;
}

bool Call::unbind(protocol::HandleKind kind, std::uint64_t raw, void*& object) {
  Object found;
  if (!session_.objects().unbind(kind, raw, found)) {
    finish(hipErrorInvalidHandle);
    return false;
  }
  object = found.object;
  // A program may destroy what another of its threads waits for; the wait ends first.
  session_.wait_until([&] { return !session_.is_awaited(found.object); });
  if (kind == protocol::HandleKind::kEvent) session_.shared_memory().withdraw_event(raw);
  return true;
}

void Call::reply(hipError_t error, std::span<const std::byte> body) {
  if (header_.has(kFlagNoReply)) return finish(error);  // nobody waits for it
  struct {
    std::int32_t error;
    std::uint32_t reserved;
  } prefix{error, 0};
  static_assert(sizeof prefix == 8);
  FrameHeader header;
  header.opcode = header_.opcode;
  header.request_id = header_.request_id;
  header.flags = kFlagResponse | (error == hipSuccess ? 0 : kFlagError);
  session_.sender().send(header, std::as_bytes(std::span(&prefix, 1)), body);
}

void Call::finish(hipError_t error, std::uint64_t stream) {
  if (!header_.has(kFlagNoReply)) return reply(error);
  if (error != hipSuccess && error != hipErrorNotReady) session_.fault(error, header_, stream);
}

}  // namespace tf::worker
