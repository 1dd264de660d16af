// SPDX-License-Identifier: Apache-2.0
#include "proxy/api_call.h"

#include "proxy/process.h"
#include "proxy/session.h"
#include "proxy/thread_state.h"

namespace tf::proxy {

using protocol::HandleKind;

namespace {

constexpr std::uint64_t kPerThreadStream = 2;  // hipStreamPerThread

// What AMD's runtime answers for a handle it does not know.
hipError_t unknown_handle(HandleKind kind) {
  return kind == HandleKind::kStream ? hipErrorContextIsDestroyed : hipErrorInvalidHandle;
}

}  // namespace

ApiCall::ApiCall(protocol::Op op) : op_(op) {}

bool ApiCall::connected() {
  session_ = acquire_session();
  if (session_ == nullptr) {
    failure_ = no_session_error();
    return false;
  }
  if (session_->device_count() == 0) {
    failure_ = hipErrorNoDevice;
    return false;
  }
  return true;
}

Session& ApiCall::session() { return *session_; }

int ApiCall::device() const { return thread_state().device; }

hipError_t ApiCall::finish(hipError_t error) { return note_error(error); }

hipError_t ApiCall::finish() { return note_error(failure_); }

bool ApiCall::translate(HandleKind kind, const void* value, std::uint64_t& out) {
  std::uint64_t raw = to_raw(value);
  if (kind == HandleKind::kStream && raw <= kPerThreadStream) {
    // hipStreamLegacy is the null stream by another name.
    out = raw == kPerThreadStream ? session_->own_stream(device()) : 0;
    if (raw != kPerThreadStream || out != 0) return true;
    failure_ = session_->lost() ? kLostError : hipErrorOutOfMemory;
    return false;
  }
  if (!session_->handles().of(kind).contains(raw)) {
    failure_ = unknown_handle(kind);
    return false;
  }
  out = raw;
  return true;
}

bool ApiCall::create(HandleKind kind, std::uint64_t& out, void*& value) {
  auto handle = session_->handles().of(kind).create(device());
  if (!handle) {
    failure_ = hipErrorOutOfMemory;
    return false;
  }
  out = handle->raw();
  value = to_pointer(*handle);
  return true;
}

bool ApiCall::consume(HandleKind kind, const void* value, std::uint64_t& out) {
  out = to_raw(value);
  if (kind == HandleKind::kStream && out > kPerThreadStream)
    session_->transfers().await_stream(device(), out);
  if (session_->handles().of(kind).remove(out)) return true;
  failure_ = hipErrorInvalidHandle;
  if (kind == HandleKind::kStream)
    failure_ = out <= kPerThreadStream ? hipErrorInvalidHandle : unknown_handle(kind);
  return false;
}

bool ApiCall::registered(const void* host_function, hipFunction_t& function) {
  std::uint64_t handle = 0;
  failure_ = host_function == nullptr
                 ? hipErrorInvalidDeviceFunction
                 : session_->modules().registered_function(device(), host_function, handle);
  if (failure_ != hipSuccess) return false;
  function = static_cast<hipFunction_t>(to_pointer(protocol::Handle(handle)));
  return true;
}

hipError_t ApiCall::post_bytes(protocol::Op op, std::span<const std::byte> head,
                               std::span<const std::byte> tail) {
  return session_->send(op, device(), head, tail);
}

hipError_t ApiCall::call_bytes(protocol::Op op, std::span<const std::byte> head,
                               std::span<const std::byte> tail, std::span<std::byte> reply) {
  return session_->exchange(op, device(), head, tail, reply);
}

}  // namespace tf::proxy
