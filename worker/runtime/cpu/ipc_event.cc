// SPDX-License-Identifier: Apache-2.0
// Events shared between processes (hipIpc*EventHandle): made with hipEventInterprocess, their state lies in a
// page that the processes share (shared_event.h).
#include <unistd.h>

#include <cstring>
#include <memory>

#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/ipc_ticket.h"
#include "worker/runtime/cpu/memory_map.h"

namespace tf::cpu {

hipError_t Backend::share_event(hipEvent_t event_handle, hipIpcEventHandle_t& handle) {
  const auto event = Runtime::get().events.find(event_handle);
  if (!event) return hipErrorInvalidHandle;
  if (!event->shared()) return hipErrorInvalidConfiguration;
  const IpcTicket ticket = make_ticket(kIpcEventMagic, event->shared()->descriptor(), kPage_bytes,
                                       Runtime::get().device(event->device()).number());
  std::memset(&handle, 0, sizeof handle);
  std::memcpy(handle.reserved, &ticket, sizeof ticket);
  return hipSuccess;
}

hipError_t Backend::open_event(const hipIpcEventHandle_t& handle, hipEvent_t& event) {
  IpcTicket ticket;
  std::memcpy(&ticket, handle.reserved, sizeof ticket);
  Runtime& runtime = Runtime::get();
  if (ticket.magic != kIpcEventMagic || ticket.bytes != kPage_bytes) return hipErrorInvalidValue;
  if (ticket.process == ::getpid()) return hipErrorInvalidContext;
  const Device* const device = runtime.device_of_number(ticket.device);
  if (!device) return hipErrorInvalidValue;
  const int descriptor = open_ticket(ticket);
  if (descriptor < 0) return hipErrorInvalidValue;
  std::shared_ptr<SharedEvent> shared = SharedEvent::attach(descriptor);
  if (!shared) return hipErrorOutOfMemory;
  constexpr unsigned kFlags = hipEventInterprocess | hipEventDisableTiming;
  event = runtime.events.add(std::make_shared<cpu::Event>(device->ordinal(), kFlags, std::move(shared)));
  return event ? hipSuccess : hipErrorOutOfMemory;
}

}  // namespace tf::cpu
