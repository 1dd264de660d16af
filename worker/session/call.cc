// SPDX-License-Identifier: Apache-2.0
// The questions that handlers ask about a request, and its end.
#include "worker/session/call.h"

#include <string>

#include "worker/base/notices.h"

namespace tf::worker {

bool Call::reject(const char* what) {
  session_.life.end({Code::kProtocol, "opcode " + std::to_string(header_.opcode) + ": " + what});
  return false;
}

bool Call::wrong_size(std::size_t expected) {
  session_.life.end({Code::kProtocol, "opcode " + std::to_string(header_.opcode) + ": payload of " +
                                          std::to_string(payload_.size()) + " bytes, expected " +
                                          std::to_string(expected)});
  return false;
}

bool Call::use_device() {
  const hipError_t error = session_.device.use(static_cast<int>(header_.device()));
  if (error == hipSuccess) return true;
  finish(error);
  return false;
}

bool Call::owns(std::uint64_t address, std::uint64_t bytes) {
  if (session_.addresses.find(address, bytes) != nullptr) return true;
  finish(hipErrorInvalidValue);
  return false;
}

bool Call::lookup(protocol::HandleKind kind, std::uint64_t raw, void*& object) {
  if (kind == protocol::HandleKind::kStream) return lookup_stream(raw, object);
  const Object* found = session_.objects.find(kind, raw);
  if (found == nullptr) {
    finish(hipErrorInvalidHandle);
    return false;
  }
  object = found->object;
  return true;
}

bool Call::lookup_stream(std::uint64_t raw, void*& object) {
  hipStream_t stream = nullptr;
  int device = 0;
  if (!session_.streams.find(raw, stream, device)) {
    finish(hipErrorInvalidHandle);
    return false;
  }
  object = stream;
  return true;
}

bool Call::bind(protocol::HandleKind kind, std::uint64_t raw, void* object) {
  const bool is_stream = kind == protocol::HandleKind::kStream;
  if (is_stream && !session_.share.take(Limit::kStreams, Counter::kStreams, 1)) {
    session_.own_calls.pass_on(hip().hipStreamDestroy(static_cast<hipStream_t>(object)));
    finish(hipErrorOutOfMemory);
    return false;
  }
  if (session_.objects.bind(kind, raw, {object, session_.device.get()})) return true;
  // A pool stays: it may be the device's own.
  if (is_stream) {
    session_.share.give(Counter::kStreams, 1);
    session_.own_calls.pass_on(hip().hipStreamDestroy(static_cast<hipStream_t>(object)));
  }
  if (kind == protocol::HandleKind::kEvent)
    session_.own_calls.pass_on(hip().hipEventDestroy(static_cast<hipEvent_t>(object)));
  finish(hipErrorInvalidHandle);
  return false;
}

bool Call::unbind(protocol::HandleKind kind, std::uint64_t raw, void*& object) {
  Object found;
  if (!unbind(kind, raw, found)) return false;
  object = found.object;
  return true;
}

bool Call::unbind(protocol::HandleKind kind, std::uint64_t raw, Object& object) {
  if (!session_.objects.unbind(kind, raw, object)) {
    finish(hipErrorInvalidHandle);
    return false;
  }
  // A program may destroy an object that another of its threads waits for; the wait ends first.
  session_.life.wait_until([&] { return !session_.is_awaited(object.object); });
  if (kind == protocol::HandleKind::kStream) session_.share.give(Counter::kStreams, 1);
  if (kind == protocol::HandleKind::kEvent) session_.sharing.withdraw_event(raw);
  return true;
}

void Call::reply(hipError_t error, std::span<const std::byte> body) {
  end_request(session_.sender, header_, error, body);
}

void Call::finish(hipError_t error, std::uint64_t stream) {
  end_request(session_.sender, header_, error, {}, stream);
}

}  // namespace tf::worker
