// SPDX-License-Identifier: Apache-2.0
// Contexts: a context is its device, as good as AMD's primary contexts. hipCtx_t is the ordinal plus one.
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/gen/local.h"

namespace tf::proxy {
namespace {

constexpr int kContextApiVersion = 4;  // AMD's answer since HIP 1

// -1: not one of ours.
int device_of(hipCtx_t ctx) {
  Client* client = acquire_client();
  auto ordinal = reinterpret_cast<std::intptr_t>(ctx) - 1;
  bool known = client != nullptr && ordinal >= 0 && ordinal < client->device_count();
  return known ? static_cast<int>(ordinal) : -1;
}

}  // namespace
}  // namespace tf::proxy

namespace tf::proxy::local {
namespace {

hipError_t push(int device) {
  ThreadState& self = thread_state();
  if (self.context_count >= kContextsMax) return hipErrorOutOfMemory;
  self.contexts[self.context_count++] = self.device;
  self.device = device;
  return hipSuccess;
}

hipError_t check_device(int device) {
  hipError_t error = hipSuccess;
  (void)device_for(device, error);
  return error;
}

}  // namespace

hipError_t hipCtxCreate(hipCtx_t* ctx, unsigned int, hipDevice_t device) {
  if (ctx == nullptr) return note_error(hipErrorInvalidValue);
  if (hipError_t error = check_device(device); error != hipSuccess) return note_error(error);
  hipError_t error = push(device);
  if (error == hipSuccess) *ctx = context_of(device);
  return note_error(error);
}

hipError_t hipCtxDestroy(hipCtx_t ctx) {
  int device = device_of(ctx);
  if (device < 0) return note_error(hipErrorInvalidValue);
  ThreadState& self = thread_state();
  if (self.context_count > 0 && self.device == device) self.device = self.contexts[--self.context_count];
  return note_error(hipSuccess);
}

hipError_t hipCtxPushCurrent(hipCtx_t ctx) {
  int device = device_of(ctx);
  return note_error(device < 0 ? hipErrorInvalidContext : push(device));
}

hipError_t hipCtxPopCurrent(hipCtx_t* ctx) {
  ThreadState& self = thread_state();
  if (self.context_count == 0) return note_error(hipErrorInvalidContext);
  if (ctx != nullptr) *ctx = context_of(self.device);
  self.device = self.contexts[--self.context_count];
  return note_error(hipSuccess);
}

hipError_t hipCtxSetCurrent(hipCtx_t ctx) {
  if (ctx == nullptr) return note_error(hipSuccess);  // "no context": the current device stays
  int device = device_of(ctx);
  if (device < 0) return note_error(hipErrorInvalidContext);
  thread_state().device = device;
  return note_error(hipSuccess);
}

hipError_t hipCtxGetApiVersion(hipCtx_t, int* version) {
  if (version == nullptr) return note_error(hipErrorInvalidValue);
  *version = kContextApiVersion;
  return note_error(hipSuccess);
}

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active) {
  if (hipError_t error = check_device(device); error != hipSuccess) return note_error(error);
  if (flags == nullptr || active == nullptr) return note_error(hipErrorInvalidValue);
  *flags = 0;
  *active = device == thread_state().device ? 1 : 0;
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local

namespace tf::proxy::custom {

hipError_t hipCtxEnablePeerAccess(ApiCall&, hipCtx_t peer, unsigned int flags) {
  return ::hipDeviceEnablePeerAccess(device_of(peer), flags);
}

hipError_t hipCtxDisablePeerAccess(ApiCall&, hipCtx_t peer) {
  return ::hipDeviceDisablePeerAccess(device_of(peer));
}

}  // namespace tf::proxy::custom
