// SPDX-License-Identifier: Apache-2.0
// Call: one request that a session's ordered executor is executing. The interface that generated handlers
// use.
//
// Handlers decode into a local copy (the payload may lie in shared memory that a hostile peer can change),
// translate handles, and call the runtime through hip(). Each request ends exactly once: by reply() or
// finish(), or later by who took it over (a waiter, a compile, a direct copy). Executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hipcore/wire/gen/hip_table.h"
#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/handle.h"
#include "transport/frame.h"
#include "worker/session/session_state.h"

namespace tf::worker {

class Call {
 public:
  Call(SessionState& session, const FrameHeader& header, std::span<const std::byte> payload)
      : session_(session), header_(header), payload_(payload) {}

  const FrameHeader& header() const { return header_; }
  SessionState& session() { return session_; }
  const protocol::HipTable& hip() const { return session_.hip; }

  // Copies the fixed part out. False, and the session fails as a protocol error, if the payload has another
  // size (exactly sizeof(Request), or at least that if the message has a tail).
  template <typename Request>
  bool decode(Request& request) {
    constexpr std::size_t least = protocol::kWireBytesMin<Request>;
    const std::size_t size = payload_.size();
    if (Request::kHasTail ? size < sizeof request : size != sizeof request && size != least)
      return wrong_size(sizeof request);
    request = protocol::request_of<Request>(payload_);
    tail_ = payload_.subspan(std::min(size, sizeof request));
    return true;
  }
  std::span<const std::byte> tail() const { return tail_; }
  // Fails the session: no correct client sends `what` (nonzero reserved field, bad enum ...).
  bool reject(const char* what);

  // Makes the request's device (frame flags) current on this thread. False: the request is finished with the
  // error.
  bool use_device();

  // Checks that [address, address + bytes) lies in this session's device memory. False: the request is
  // finished with hipErrorInvalidValue. Call it for everything that the runtime would dereference.
  bool owns(std::uint64_t address, std::uint64_t bytes);

  // Handle -> runtime object. False: the request is finished with hipErrorInvalidHandle (post: a Fault is
  // sent).
  bool lookup(protocol::HandleKind kind, std::uint64_t raw, void*& object);
  // CREATE: binds the client's handle to the object just created. False: the handle was malformed or in use,
  // or the tenant has all the streams that it may have; the object is destroyed, and the request is finished
  // with hipErrorInvalidHandle or hipErrorOutOfMemory.
  bool bind(protocol::HandleKind kind, std::uint64_t raw, void* object);
  // Destroy: unbinds the object and returns it, once no waiter thread uses it. False: as for lookup().
  bool unbind(protocol::HandleKind kind, std::uint64_t raw, void*& object);
  bool unbind(protocol::HandleKind kind, std::uint64_t raw, Object& object);

  // End the request, as end_request() says (worker/base/notices.h).
  void reply(hipError_t error, std::span<const std::byte> body = {});
  void finish(hipError_t error, std::uint64_t stream = 0);

 private:
  bool wrong_size(std::size_t expected);
  bool lookup_stream(std::uint64_t raw, void*& object);

  SessionState& session_;
  FrameHeader header_;
  std::span<const std::byte> payload_;
  std::span<const std::byte> tail_;
};

}  // namespace tf::worker
