// SPDX-License-Identifier: Apache-2.0
// Events shared between processes (hipIpc*EventHandle): made with hipEventInterprocess, their state lies in a
// page that the processes share (shared_event.h).
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "worker/runtime/common/extensions.h"
#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/ipc_ticket.h"
#include "worker/runtime/cpu/memory_map.h"

namespace tf::cpu {
namespace {

constexpr int kFirstDescriptor = 3;  // the three before are the program's own

hipError_t read_event_ticket(const hipIpcEventHandle_t& handle, IpcTicket& ticket, const Device*& device) {
  std::memcpy(&ticket, handle.reserved, sizeof ticket);
  if (ticket.magic != kIpcEventMagic || ticket.bytes != kPage_bytes) return hipErrorInvalidValue;
  if (ticket.process == ::getpid()) return hipErrorInvalidContext;
  device = Runtime::get().device_of_number(ticket.device);
  return device ? hipSuccess : hipErrorInvalidValue;
}

// Takes the descriptor.
hipError_t attach_event(int descriptor, const Device& device, hipEvent_t& event) {
  std::shared_ptr<SharedEvent> shared = SharedEvent::attach(descriptor);
  if (!shared) return hipErrorOutOfMemory;
  constexpr unsigned kFlags = hipEventInterprocess | hipEventDisableTiming;
  event =
      Runtime::get().events.add(std::make_shared<cpu::Event>(device.ordinal(), kFlags, std::move(shared)));
  return event ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t open_passed_event(const hipIpcEventHandle_t& handle, int descriptor, hipEvent_t& event) {
  IpcTicket ticket;
  const Device* device = nullptr;
  if (const hipError_t error = read_event_ticket(handle, ticket, device)) return error;
  if (!is_of_ticket(descriptor, ticket)) return hipErrorInvalidValue;
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstDescriptor);
  return own < 0 ? hipErrorOutOfMemory : attach_event(own, *device, event);
}

}  // namespace

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
  const Device* device = nullptr;
  if (const hipError_t error = read_event_ticket(handle, ticket, device)) return error;
  const int descriptor = open_ticket(ticket);
  return descriptor < 0 ? hipErrorInvalidValue : attach_event(descriptor, *device, event);
}

}  // namespace tf::cpu

extern "C" TF_CPU_EXPORT hipError_t hipRemoteShareEvent(hipIpcEventHandle_t* handle, int* descriptor,
                                                        hipEvent_t event) {
  if (handle == nullptr || descriptor == nullptr) return hipErrorInvalidValue;
  if (const hipError_t error = tf::cpu::Backend::share_event(event, *handle)) return error;
  const auto found = tf::cpu::Runtime::get().events.find(event);
  if (!found) return hipErrorInvalidHandle;  // destroyed meanwhile
  *descriptor = ::fcntl(found->shared()->descriptor(), F_DUPFD_CLOEXEC, tf::cpu::kFirstDescriptor);
  return *descriptor < 0 ? hipErrorOutOfMemory : hipSuccess;
}

extern "C" TF_CPU_EXPORT hipError_t hipRemoteOpenSharedEvent(hipEvent_t* event, hipIpcEventHandle_t handle,
                                                             int descriptor) {
  return event == nullptr ? hipErrorInvalidValue : tf::cpu::open_passed_event(handle, descriptor, *event);
}
