// SPDX-License-Identifier: Apache-2.0
// VirtualMemory: reserved address ranges and the physical allocations mapped into them. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

// Memory without an address: a memory file (memory_file.h). Freed with the last owner (handle or
// mapping).
class Physical {
 public:
  enum class Booked { kNo, kYes };
  Physical(int device, int descriptor, std::size_t bytes, const hipMemAllocationProp& properties,
           Booked booked)
      : device_(device), descriptor_(descriptor), bytes_(bytes), properties_(properties), booked_(booked) {}
  ~Physical();
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  int device() const { return device_; }
  int descriptor() const { return descriptor_; }
  std::size_t bytes() const { return bytes_; }
  const hipMemAllocationProp& properties() const { return properties_; }

 private:
  const int device_;
  const int descriptor_;
  const std::size_t bytes_;
  const hipMemAllocationProp properties_;
  const Booked booked_;  // counted against the device, except memory of another process
};

class VirtualMemory {
 public:
  static constexpr std::size_t kMaxRanges = 1 << 20;  // reservations, mappings and handles, each

  hipError_t reserve(void** pointer, std::size_t bytes, std::size_t alignment, void* wish);
  hipError_t free(void* pointer, std::size_t bytes);
  static hipError_t granularity(const hipMemAllocationProp& wish, hipMemAllocationGranularity_flags option,
                                std::size_t& bytes);
  // REQUIRES: the wish is for a device that there is.
  hipError_t create(hipMemGenericAllocationHandle_t* handle, std::size_t bytes,
                    const hipMemAllocationProp& wish);
  // By a descriptor. Imported memory was counted where it was created; the caller owns an exported
  // descriptor.
  hipError_t import(hipMemGenericAllocationHandle_t* handle, int descriptor);
  hipError_t export_to(hipMemGenericAllocationHandle_t handle, int& descriptor);
  // Memory was exported or imported, so other processes may have some of it mapped.
  bool may_be_shared() const { return may_be_shared_.load(std::memory_order_relaxed); }
  hipError_t properties(hipMemGenericAllocationHandle_t handle, hipMemAllocationProp& properties);
  hipError_t release(hipMemGenericAllocationHandle_t handle);
  hipError_t retain(hipMemGenericAllocationHandle_t* handle, void* address);
  hipError_t map(void* pointer, std::size_t bytes, std::size_t offset,
                 hipMemGenericAllocationHandle_t handle);
  // Waits until the devices are idle before the memory goes away.
  hipError_t unmap(void* pointer, std::size_t bytes);
  // Every device reaches memory through this process, so a page allows what any device may do.
  hipError_t set_access(void* pointer, std::size_t bytes, std::span<const hipMemAccessDesc> wishes);
  hipError_t access(int device, void* pointer, unsigned long long& flags);

 private:
  struct Mapping {
    std::size_t bytes = 0;
    std::shared_ptr<Physical> physical;
    std::array<hipMemAccessFlags, kMaxDevices> access{};  // by device
  };
  struct Handle {
    std::shared_ptr<Physical> physical;
    unsigned references = 1;
  };

  hipError_t adopt(hipMemGenericAllocationHandle_t* handle, std::shared_ptr<Physical> physical);
  std::shared_ptr<Physical> find(hipMemGenericAllocationHandle_t handle);
  bool reserved(std::uintptr_t base, std::size_t bytes) const TF_REQUIRES(mutex_);
  bool mapped(std::uintptr_t base, std::size_t bytes) const
      TF_REQUIRES(mutex_);  // by whole mappings, side by side, exactly
  bool overlaps_mapping(std::uintptr_t base, std::size_t bytes) const TF_REQUIRES(mutex_);

  // Relaxed: whoever uses memory that another thread shares has heard of it by means that order more.
  std::atomic<bool> may_be_shared_{false};
  Mutex mutex_;
  std::map<std::uintptr_t, std::size_t> reservations_ TF_GUARDED_BY(mutex_);
  std::map<std::uintptr_t, Mapping> mappings_ TF_GUARDED_BY(mutex_);
  std::map<const void*, Handle> handles_ TF_GUARDED_BY(mutex_);  // by the Physical's address
};

}  // namespace tf::cpu
