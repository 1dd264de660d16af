// SPDX-License-Identifier: Apache-2.0
// Events shared between processes (hipIpc*EventHandle): made with hipEventInterprocess, their state lies in a
// page that the processes share (shared_event.h).
#include <unistd.h>

#include <cstring>
#include <memory>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/event.h"
#include "worker/runtime/cpu/ipc_ticket.h"
#include "worker/runtime/cpu/memory_map.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

hipError_t get_handle(hipIpcEventHandle_t* handle, hipEvent_t event_handle) {
  if (!handle || !event_handle) return hipErrorInvalidValue;
  const auto event = Runtime::get().events.find(event_handle);
  if (!event) return hipErrorInvalidHandle;
  if (!event->shared()) return hipErrorInvalidConfiguration;
  const IpcTicket ticket =
      make_ticket(kIpcEventMagic, event->shared()->descriptor(), kPage_bytes, event->device());
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle->reserved, &ticket, sizeof ticket);
  return hipSuccess;
}

hipError_t open_handle(hipEvent_t* event, const hipIpcEventHandle_t& handle) {
  IpcTicket ticket;
  std::memcpy(&ticket, handle.reserved, sizeof ticket);
  Runtime& runtime = Runtime::get();
  if (!event || ticket.magic != kIpcEventMagic || ticket.bytes != kPage_bytes) return hipErrorInvalidValue;
  if (ticket.process == ::getpid()) return hipErrorInvalidContext;
  if (!runtime.valid_device(ticket.device)) return hipErrorInvalidValue;
  const int descriptor = open_ticket(ticket);
  if (descriptor < 0) return hipErrorInvalidValue;
  std::shared_ptr<SharedEvent> shared = SharedEvent::attach(descriptor);
  if (!shared) return hipErrorOutOfMemory;
  constexpr unsigned kFlags = hipEventInterprocess | hipEventDisableTiming;
  *event = runtime.events.add(std::make_shared<Event>(ticket.device, kFlags, std::move(shared)));
  return *event ? hipSuccess : hipErrorOutOfMemory;
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  return api([&] { return get_handle(handle, event); });
}

hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  return api([&] { return open_handle(event, handle); });
}

}  // extern "C"
