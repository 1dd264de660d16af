// SPDX-License-Identifier: Apache-2.0
// Call: one request being executed by a session's ordered executor. What generated handlers talk to.
//
// Handlers decode into a local copy (the payload may be shared memory under a hostile peer's hands),
// translate handles, call the runtime through hip(), and end with exactly one of reply() and finish().
// Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

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

  // Copies the fixed part out. False, with the session failed as a protocol error, when the payload has
  // another size (exactly sizeof(Request), or at least that when the message has a tail).
  template <typename Request>
  bool decode(Request& request) {
    constexpr bool has_tail = Request::kHasTail;
    if (has_tail ? payload_.size() < sizeof request : payload_.size() != sizeof request)
      return wrong_size(sizeof request);
    std::memcpy(&request, payload_.data(), sizeof request);
    tail_ = payload_.subspan(sizeof request);
    return true;
  }
  std::span<const std::byte> tail() const { return tail_; }
  // Fails the session: `what` is not what a correct client sends (nonzero reserved field, bad enum ...).
  bool reject(const char* what);

  // Makes the request's device (frame flags) current on this thread. False: finished with the error.
  bool use_device();

  // Does [address, address + bytes) lie in this session's device memory? False: finished with
  // hipErrorInvalidValue. Whatever the runtime would dereference is asked first.
  bool owns(std::uint64_t address, std::uint64_t bytes);

  // Handle -> runtime object. False: finished with hipErrorInvalidHandle (post: a Fault is sent).
  bool lookup(protocol::HandleKind kind, std::uint64_t raw, void*& object);
  // CREATE: binds the client's handle to the object just made. False: the handle was malformed or in use; the
  // object is destroyed and the request finished with hipErrorInvalidHandle.
  bool bind(protocol::HandleKind kind, std::uint64_t raw, void* object);
  // Destroy: unbinds and returns the object, once no waiter thread uses it. False: as lookup().
  bool unbind(protocol::HandleKind kind, std::uint64_t raw, void*& object);

  // End the request, as end_request() says (worker/base/notices.h).
  void reply(hipError_t error, std::span<const std::byte> body = {});
  void finish(hipError_t error, std::uint64_t stream = 0);

 private:
  bool wrong_size(std::size_t expected);

  SessionState& session_;
  FrameHeader header_;
  std::span<const std::byte> payload_;
  std::span<const std::byte> tail_;
};

}  // namespace tf::worker
