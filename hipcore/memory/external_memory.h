// SPDX-License-Identifier: Apache-2.0
// ExternalMemory: memory of other APIs that a program has imported by file descriptor, for the client and our
// runtimes alike. Semaphores of other APIs have no counterpart: they belong to a driver of this machine.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "transport/base/mutex.h"

namespace tf::hipcore {

inline constexpr std::size_t kExternalMemoriesMax = 4096;

// Whether the arguments are those of an import that can be tried: of a file descriptor, by its owner.
// hipErrorNotSupported: another system's handle.
hipError_t check_import(const void* out, const hipExternalMemoryHandleDesc* description);
hipError_t check_import(const void* out, const hipExternalSemaphoreHandleDesc* description);
// Params: hipExternalSemaphoreSignalParams, hipExternalSemaphoreWaitParams. No semaphore was ever imported,
// so a list that is not empty is wrong.
template <typename Params>
hipError_t check_semaphores(const hipExternalSemaphore_t* semaphores, const Params* params, unsigned count) {
  return semaphores == nullptr || params == nullptr || count != 0 ? hipErrorInvalidValue : hipSuccess;
}

// The `bytes` behind the descriptor; null: they cannot be mapped, or are not there.
void* map_external(int descriptor, std::size_t bytes);
void unmap_external(void* memory, std::size_t bytes);

// The imported memory that exists. Any thread.
class ExternalMemories {
 public:
  struct Memory {
    void* host = nullptr;         // where it is mapped
    std::byte* device = nullptr;  // where devices reach it
    std::size_t bytes = 0;
  };

  // Null: there are too many.
  hipExternalMemory_t add(const Memory& memory);
  // hipErrorInvalidValue: no such memory, or not inside it.
  hipError_t buffer(hipExternalMemory_t handle, const hipExternalMemoryBufferDesc& description,
                    void*& pointer);
  // Forgets it. Nothing: there is no such memory.
  std::optional<Memory> remove(hipExternalMemory_t handle);
  // hipFree of what buffer() gave: the memory stays, for the import has it. False: it is no such buffer.
  bool free(const void* pointer);

 private:
  struct Entry {
    Memory memory;
    std::map<const void*, std::size_t> buffers;  // how often each was given
  };

  Mutex mutex_;
  std::map<std::uintptr_t, Entry> entries_ TF_GUARDED_BY(mutex_);  // by handle, which is no address
  std::uintptr_t last_ TF_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> any_{false};  // relaxed: the thread that imported sees its own store
};

}  // namespace tf::hipcore
