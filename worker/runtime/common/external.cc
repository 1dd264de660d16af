// SPDX-License-Identifier: Apache-2.0
// Memory and semaphores of other APIs. What a descriptor stands for is mapped, and devices reach it as they
// reach memory that the program registers.
#include "hipcore/memory/external_memory.h"

#include <unistd.h>

#include <cstdio>

#include "worker/runtime/common/external.h"

namespace tf::runtime {
namespace {

using Memory = hipcore::ExternalMemories::Memory;

hipError_t refuse(const char* name, const char* why) {
  std::fprintf(stderr, "%s: %s is not supported (hipErrorNotSupported): %s\n", Backend::kName, name, why);
  return hipErrorNotSupported;
}

hipError_t register_memory(Memory& memory) {
  if (const hipError_t status = Backend::register_host(memory.host, memory.bytes, hipHostRegisterMapped))
    return status;
  void* device = nullptr;
  const hipError_t status = Backend::device_pointer(memory.host, device);
  if (status != hipSuccess) static_cast<void>(Backend::unregister_host(memory.host));
  memory.device = static_cast<std::byte*>(device);
  return status;
}

hipError_t import(const hipExternalMemoryHandleDesc& description, hipExternalMemory_t& handle) {
  if (const hipError_t status = Backend::require_device()) return status;
  Memory memory;
  memory.bytes = description.size;
  memory.host = hipcore::map_external(description.handle.fd, memory.bytes);
  if (!memory.host)
    return refuse("hipImportExternalMemory", "the descriptor's memory cannot be mapped here, or is smaller");
  hipError_t status = register_memory(memory);
  if (status == hipSuccess) {
    handle = external_memories().add(memory);
    if (handle) return ::close(description.handle.fd), hipSuccess;  // it is ours now
    static_cast<void>(Backend::unregister_host(memory.host));
    status = hipErrorOutOfMemory;
  }
  hipcore::unmap_external(memory.host, memory.bytes);
  return status;
}

hipError_t destroy(hipExternalMemory_t handle) {
  const auto gone = external_memories().remove(handle);
  if (!gone) return hipErrorInvalidValue;
  const hipError_t status = Backend::unregister_host(gone->host);  // waits for the devices
  hipcore::unmap_external(gone->host, gone->bytes);
  return status;
}

}  // namespace

// Never destroyed: programs call HIP from destructors that run after main().
hipcore::ExternalMemories& external_memories() {
  static auto& all = *new hipcore::ExternalMemories;
  return all;
}

}  // namespace tf::runtime

using namespace tf::runtime;
namespace hipcore = tf::hipcore;

extern "C" {

hipError_t hipImportExternalMemory(hipExternalMemory_t* memory,
                                   const hipExternalMemoryHandleDesc* description) {
  return api([&] {
    const hipError_t wrong = hipcore::check_import(memory, description);
    if (wrong == hipErrorNotSupported)
      return refuse("hipImportExternalMemory", "only file descriptors are imported");
    return wrong == hipSuccess ? import(*description, *memory) : wrong;
  });
}

hipError_t hipExternalMemoryGetMappedBuffer(void** pointer, hipExternalMemory_t memory,
                                            const hipExternalMemoryBufferDesc* description) {
  return api([&] {
    if (!pointer || !memory || !description) return hipErrorInvalidValue;
    return external_memories().buffer(memory, *description, *pointer);
  });
}

hipError_t hipDestroyExternalMemory(hipExternalMemory_t memory) {
  return api([&] { return memory ? destroy(memory) : hipErrorInvalidValue; });
}

hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t* semaphore,
                                      const hipExternalSemaphoreHandleDesc* description) {
  return host_api([&] {
    const hipError_t wrong = hipcore::check_import(semaphore, description);
    if (wrong == hipErrorNotSupported)
      return refuse("hipImportExternalSemaphore", "semaphores of other drivers have no counterpart here");
    return wrong;
  });
}

hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t* semaphores,
                                            const hipExternalSemaphoreSignalParams* params, unsigned count,
                                            hipStream_t) {
  return host_api([&] { return hipcore::check_semaphores(semaphores, params, count); });
}

hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t* semaphores,
                                          const hipExternalSemaphoreWaitParams* params, unsigned count,
                                          hipStream_t) {
  return host_api([&] { return hipcore::check_semaphores(semaphores, params, count); });
}

hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t) {
  return host_api([] { return hipErrorInvalidValue; });
}

}  // extern "C"
