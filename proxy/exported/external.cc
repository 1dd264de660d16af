// SPDX-License-Identifier: Apache-2.0
// Memory and semaphores of other APIs. Memory is mapped here and registered, so devices reach it where they
// reach registered memory of a shared mapping: through the worker's Unix socket.
#include <unistd.h>

#include "hipcore/memory/external_memory.h"
#include "proxy/base/log.h"
#include "proxy/exported/exported.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/gen/local.h"

namespace tf::proxy {
namespace {

using Memory = hipcore::ExternalMemories::Memory;

constexpr const char* kNoSemaphore =
    "a semaphore belongs to a driver of this machine, and the device is elsewhere";

// Devices reach it in `memory.device` afterwards.
hipError_t register_memory(Client& client, int device, Memory& memory) {
  HostAllocations& host = client.host_allocations();
  if (const hipError_t error = host.add(device, memory.host, memory.bytes, hipHostRegisterMapped);
      error != hipSuccess)
    return error;
  const auto range = client.host_memory().find(memory.host);
  const std::uint64_t reached = range ? (range->reachable ? range->base : range->other) : 0;
  memory.device = reinterpret_cast<std::byte*>(reached);
  if (reached != 0 && host.wake(reached) == hipSuccess) return hipSuccess;
  static_cast<void>(host.remove(memory.host));
  return hipErrorNotSupported;
}

hipError_t import(ApiCall& call, const hipExternalMemoryHandleDesc& description,
                  hipExternalMemory_t& handle) {
  Client& client = call.client();
  Memory memory;
  memory.bytes = description.size;
  memory.host = hipcore::map_external(description.handle.fd, memory.bytes);
  if (memory.host == nullptr)
    return refused("hipImportExternalMemory", "the descriptor's memory cannot be mapped here, or is smaller");
  hipError_t error = register_memory(client, call.device(), memory);
  if (error == hipErrorNotSupported)
    error =
        refused("hipImportExternalMemory", "devices reach such memory only through the worker's Unix socket");
  if (error == hipSuccess) {
    handle = client.external_memory().add(memory);
    if (handle != nullptr) return hipSuccess;
    static_cast<void>(client.host_allocations().remove(memory.host));
    error = hipErrorOutOfMemory;
  }
  hipcore::unmap_external(memory.host, memory.bytes);
  return error;
}

}  // namespace
}  // namespace tf::proxy

namespace tf::proxy::custom {

hipError_t hipImportExternalMemory(ApiCall& call, hipExternalMemory_t* memory,
                                   const hipExternalMemoryHandleDesc* description) {
  const hipError_t wrong = hipcore::check_import(memory, description);
  if (wrong == hipErrorNotSupported)
    return refused("hipImportExternalMemory", "only file descriptors are imported");
  if (wrong != hipSuccess) return call.finish(wrong);
  if (!call.connected()) return call.finish();
  const hipError_t error = import(call, *description, *memory);
  if (error == hipSuccess) ::close(description->handle.fd);  // it is ours now
  return call.finish(error);
}

hipError_t hipDestroyExternalMemory(ApiCall& call, hipExternalMemory_t memory) {
  if (memory == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  const auto gone = call.client().external_memory().remove(memory);
  if (!gone) return call.finish(hipErrorInvalidValue);
  const hipError_t error = call.client().host_allocations().remove(gone->host);  // waits for the devices
  hipcore::unmap_external(gone->host, gone->bytes);
  return call.finish(error);
}

}  // namespace tf::proxy::custom

namespace tf::proxy::local {

hipError_t hipExternalMemoryGetMappedBuffer(void** pointer, hipExternalMemory_t memory,
                                            const hipExternalMemoryBufferDesc* description) {
  if (pointer == nullptr || memory == nullptr || description == nullptr)
    return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  return note_error(client->external_memory().buffer(memory, *description, *pointer));
}

hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t* semaphore,
                                      const hipExternalSemaphoreHandleDesc* description) {
  const hipError_t error = hipcore::check_import(semaphore, description);
  return error == hipErrorNotSupported ? refused("hipImportExternalSemaphore", kNoSemaphore)
                                       : note_error(error);
}

hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t* semaphores,
                                            const hipExternalSemaphoreSignalParams* params,
                                            unsigned int count, hipStream_t) {
  return note_error(hipcore::check_semaphores(semaphores, params, count));
}

hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t* semaphores,
                                          const hipExternalSemaphoreWaitParams* params, unsigned int count,
                                          hipStream_t) {
  return note_error(hipcore::check_semaphores(semaphores, params, count));
}

hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t) { return note_error(hipErrorInvalidValue); }

}  // namespace tf::proxy::local
