// SPDX-License-Identifier: Apache-2.0
// VirtualMemory: which addresses are reserved, which physical memory there is, and where it is mapped. The
// driver does it; it lets things pass that HIP refuses, and forgets who owns a handle. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "transport/base/mutex.h"
#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

class VirtualMemory {
 public:
  // REQUIRES for all: the thread is ready.
  hipError_t reserve(void** pointer, std::size_t bytes, std::size_t alignment, void* wish);
  hipError_t free(void* pointer, std::size_t bytes);

  static hipError_t granularity(const hipMemAllocationProp& properties,
                                hipMemAllocationGranularity_flags option, std::size_t& bytes);
  hipError_t create(hipMemGenericAllocationHandle_t* handle, std::size_t bytes,
                    const hipMemAllocationProp& properties);
  hipError_t import(hipMemGenericAllocationHandle_t* handle, int descriptor);
  hipError_t export_to(hipMemGenericAllocationHandle_t handle, int& descriptor);
  hipError_t properties(hipMemGenericAllocationHandle_t handle, hipMemAllocationProp& properties);
  // One more owner of the handle behind a mapping.
  hipError_t retain(hipMemGenericAllocationHandle_t* handle, void* address);
  // One owner less. Mappings keep the memory, not the handle.
  hipError_t release(hipMemGenericAllocationHandle_t handle);

  // Part of a handle is the driver's to refuse: hipErrorNotSupported.
  hipError_t map(void* pointer, std::size_t bytes, std::size_t offset,
                 hipMemGenericAllocationHandle_t handle);
  // Whole mappings, without gaps. Like AMD's runtime, waits until the devices are idle, so that nothing
  // mapped is in use.
  hipError_t unmap(void* pointer, std::size_t bytes);
  // The same for mapped memory.
  hipError_t set_access(void* pointer, std::size_t bytes, std::span<const hipMemAccessDesc> wishes) const;
  static hipError_t access(int device, void* pointer, unsigned long long& flags);

 private:
  struct Physical {
    Physical() = default;
    ~Physical();
    Physical(const Physical&) = delete;
    Physical& operator=(const Physical&) = delete;

    hipMemAllocationProp properties{};
    std::size_t bytes = 0;  // 0: not known, of imported memory
    int descriptor = -1;    // by which it was imported: the driver exports such memory to nobody
  };
  struct Handle {
    std::shared_ptr<Physical> physical;
    std::size_t owners = 0;
  };
  struct Mapping {
    std::shared_ptr<Physical> physical;
    std::size_t bytes = 0;
  };

  bool is_mapped(const void* pointer, std::size_t bytes) const;
  hipError_t forget(void* pointer, std::size_t bytes);  // unmap()'s work once nothing runs
  void add(hipMemGenericAllocationHandle_t handle, std::shared_ptr<Physical> physical) TF_REQUIRES(mutex_);
  Physical* find(hipMemGenericAllocationHandle_t handle) const TF_REQUIRES(mutex_);
  const Mapping* mapping_of(std::uintptr_t address) const TF_REQUIRES(mutex_);
  bool is_free(std::uintptr_t address, std::size_t bytes) const TF_REQUIRES(mutex_);
  bool covered(std::uintptr_t address, std::size_t bytes) const TF_REQUIRES(mutex_);
  void* propose(std::size_t bytes, std::size_t alignment) TF_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::uintptr_t, std::size_t> reservations_ TF_GUARDED_BY(mutex_);
  std::map<std::uintptr_t, Mapping> mappings_ TF_GUARDED_BY(mutex_);
  std::map<hipMemGenericAllocationHandle_t, Handle> handles_ TF_GUARDED_BY(mutex_);
  std::uintptr_t next_ TF_GUARDED_BY(mutex_) = 0;  // what to propose next; 0: nothing yet
};

// For ever, as the Runtime.
VirtualMemory& virtual_memory();

}  // namespace tf::cuda
