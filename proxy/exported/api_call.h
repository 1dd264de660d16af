// SPDX-License-Identifier: Apache-2.0
// ApiCall: one HIP call on one application thread. Generated stubs use nothing else.
//
// A stub constructs it, fills a request, and returns what post()/call()/finish() return. It connects the
// process's client on first use, keeps the thread's last error as HIP prescribes, and never throws, exits or
// prints to stdout. Lives on the stack of the calling thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/fill.h"
#include "hipcore/wire/gen/messages.h"
#include "hipcore/wire/gen/op_traits.h"
#include "hipcore/wire/handle.h"
#include "proxy/base/handles.h"
#include "proxy/base/thread_state.h"
#include "proxy/session/pending_work.h"

namespace tf::proxy {

class Client;

class ApiCall {
 public:
  ApiCall() = default;
  ~ApiCall() {
    if (consumed_from_ != nullptr) recycle();
  }
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  // False when there is no usable client (no worker, connection lost, forked child): return finish().
  bool connected();
  // REQUIRES: connected()
  Client& client() { return *client_; }
  // The calling thread's current device.
  int device() const { return thread_.device; }

  // Stores `error` as the thread's last error (where HIP does so) and returns it. Without an argument it
  // returns why connected() or a translation below failed.
  hipError_t finish(hipError_t error) { return note_error(thread_, error); }
  hipError_t finish() { return finish(failure_); }

  // Application value -> handle on the wire. False: unknown handle; return finish(). Streams may also be 0, 1
  // and 2. hipStreamPerThread becomes the handle of the thread's own stream.
  bool translate(protocol::HandleKind kind, const void* value, std::uint64_t& out) {
    out = to_raw(value);
    return handles_->of(kind).contains(out) || translate_constant(kind, out);
  }
  // CREATE: a fresh handle, and the hipXxx_t that the application gets. False: the table is full.
  bool create(protocol::HandleKind kind, std::uint64_t& out, void*& value);
  // A consuming parameter (destroy): the handle leaves the table. False: unknown handle.
  bool consume(protocol::HandleKind kind, const void* value, std::uint64_t& out);

  // All of [pointer, pointer + bytes) is one allocation that devices reach, which may be at another address:
  // `sent`, the field with the pointer, gets that. False: return finish().
  bool owns(const void* pointer, std::uint64_t bytes, std::uint64_t& sent);
  // A device ordinal of the application. False: no such device; return finish().
  bool has_device(int device);
  // REQUIRES: has_device(device)
  const protocol::DeviceProperties& properties(int device);
  // A device ordinal of the application -> the worker's. False: no such device; return finish().
  bool ordinal(int device, std::int32_t& out);
  // A kernel's stub of a compiled program -> its function. False: not registered; return finish().
  bool registered(const void* host_function, hipFunction_t& function);

  // POST/CREATE: queues the request and returns; hipSuccess unless the connection failed.
  template <typename Request>
  hipError_t post(const Request& request, std::span<const std::byte> tail = {}) {
    if constexpr (protocol::kTraits<Request>.has(protocol::Trait::kNewStream))
      about_to_add_stream(request.flags);
    const hipError_t error =
        post_bytes(protocol::kTraits<Request>, protocol::wire_of(request), tail, trace_of(request));
    if constexpr (protocol::kTraits<Request>.has(protocol::Trait::kFills)) {
      if (owns_host_ && protocol::is_synchronous(request.form)) [[unlikely]]
        return wait_for_fill(error);
    }
    return error;
  }
  // CALL: waits for the reply; `reply` is filled when the result is hipSuccess (or hipErrorNotReady).
  template <typename Request, typename Reply>
  hipError_t call(const Request& request, Reply& reply, std::span<const std::byte> tail = {}) {
    return call_bytes(Request::kOp, std::as_bytes(std::span(&request, 1)), tail,
                      std::as_writable_bytes(std::span(&reply, 1)));
  }
  // The time may be known (EventTimes).
  hipError_t call(const protocol::EventElapsedTimeRequest& request, protocol::EventElapsedTimeReply& reply);
  // CALL whose reply carries nothing but the error.
  template <typename Request>
  hipError_t call(const Request& request, std::span<const std::byte> tail = {}) {
    return call_bytes(Request::kOp, std::as_bytes(std::span(&request, 1)), tail, {});
  }
  // CACHED: as call(), but the worker is asked only once per device and request.
  template <typename Request, typename Reply>
  hipError_t cached(const Request& request, Reply& reply) {
    return cached_bytes(Request::kOp, std::as_bytes(std::span(&request, 1)),
                        std::as_writable_bytes(std::span(&reply, 1)));
  }
  // CREATE with CACHED(): the object exists once per arguments, for the life of the client; destroying it is
  // refused. `handle` is the field of `request` that gets its handle.
  template <typename Request>
  hipError_t create_once(protocol::HandleKind kind, Request& request, std::uint64_t& handle, void*& value) {
    return create_once_bytes(kind, protocol::kTraits<Request>, std::as_bytes(std::span(&request, 1)), handle,
                             value);
  }

 private:
  void recycle();
  // Work that an earlier call should have waited for (Streams::owe_wait()) is over before the worker is
  // asked.
  void await_owed(const protocol::EventElapsedTimeRequest& request);
  bool translate_constant(protocol::HandleKind kind, std::uint64_t& handle);
  hipError_t post_bytes(protocol::OpTraits what, std::span<const std::byte> head,
                        std::span<const std::byte> tail, Trace trace);
  void about_to_add_stream(unsigned flags);  // Client's
  // The host may read what hipMemset() has filled as soon as the call has returned.
  hipError_t wait_for_fill(hipError_t error);
  hipError_t call_bytes(protocol::Op op, std::span<const std::byte> head, std::span<const std::byte> tail,
                        std::span<std::byte> reply);
  hipError_t cached_bytes(protocol::Op op, std::span<const std::byte> head, std::span<std::byte> reply);
  // `head` shows the request that `handle` is part of.
  hipError_t create_once_bytes(protocol::HandleKind kind, protocol::OpTraits what,
                               std::span<const std::byte> head, std::uint64_t& handle, void*& value);

  ThreadState& thread_ = thread_state();
  Client* client_ = nullptr;
  Handles* handles_ = nullptr;  // the client's
  hipError_t failure_ = hipSuccess;
  bool owns_host_ = false;  // owns() has found host memory
  // What consume() took. Its slot is reused only after this call has posted.
  HandleTable* consumed_from_ = nullptr;
  std::uint64_t consumed_ = 0;
};

}  // namespace tf::proxy
