// SPDX-License-Identifier: Apache-2.0
// MemoryAdvice: stores what hipMemAdvise and hipMemPrefetchAsync said about memory, and answers
// hipMemRangeGetAttribute. It also has the ids of allocations that a program asked for.
//
// Stored by pages, since HIP rounds ranges to them, but never beyond an allocation, because small ones share
// a page here. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "transport/base/mutex.h"

namespace tf::hipcore {

inline constexpr std::uint64_t kAdvisedPageBytes = 4096;
inline constexpr std::size_t kAdvisedRangesMax = 1 << 16;  // ranges of equal advice
inline constexpr int kAdvisedDevicesMax = 64;
inline constexpr std::size_t kIdsMax = 1 << 20;  // of live allocations

// [address, address + bytes) inside the allocation [allocation, allocation + allocated_bytes).
struct AdvisedRange {
  std::uint64_t allocation = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;

  // Whether it is not empty, and lies inside the allocation.
  bool is_sound() const;
};

// Other facts about a range.
struct AdvisedMemory {
  AdvisedRange range;
  hipMemRangeCoherencyMode coherency = hipMemRangeCoherencyModeFineGrain;  // without advice
  bool managed = false;
};

// Whether hipMemAdvise uses its device argument.
bool names_device(hipMemoryAdvise advice);
// Whether hipMemRangeGetAttribute knows the attribute, and the answer takes this many bytes.
bool takes_attribute(hipMemRangeAttribute attribute, std::size_t data_bytes);
// The same for the arguments of hipMemRangeGetAttributes.
bool takes_attributes(void* const* data, const std::size_t* data_bytes,
                      const hipMemRangeAttribute* attributes, std::size_t count);
// The coherency of hipHostMalloc's memory without advice; likewise for hipHostRegister and
// hipExtMallocWithFlags.
hipMemRangeCoherencyMode coherency_of_host(unsigned flags);
hipMemRangeCoherencyMode coherency_of_registered(unsigned flags);
hipMemRangeCoherencyMode coherency_of_device(unsigned flags);

// These functions ignore unknown memory and invalid ranges.
class MemoryAdvice {
 public:
  // hipMemAdvise, on a machine with this many devices. hipErrorOutOfMemory: kAdvisedRangesMax.
  hipError_t advise(const std::optional<AdvisedMemory>& memory, hipMemoryAdvise advice, int device,
                    int devices);
  // hipMemPrefetchAsync. Beyond kAdvisedRangesMax it is not remembered: the prefetch itself has not failed.
  // REQUIRES: the device exists, or is hipCpuDeviceId
  hipError_t prefetch(const std::optional<AdvisedMemory>& memory, int device);
  // Records the coherency that the memory was allocated or registered with.
  hipError_t set_coherency(const AdvisedRange& range, hipMemRangeCoherencyMode coherency);
  // HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS of a whole allocation. hipErrorOutOfMemory: kAdvisedRangesMax.
  hipError_t set_synchronous(std::uint64_t allocation, std::uint64_t allocated_bytes, bool synchronous);
  // Costs one load where no memory is synchronous: every synchronous copy asks.
  bool is_synchronous(std::uint64_t address) const { return any_synchronous() && find_synchronous(address); }
  bool any_synchronous() const { return any_synchronous_.load(std::memory_order_relaxed); }
  // HIP_POINTER_ATTRIBUTE_BUFFER_ID of an allocation: a number that no other one has had, also at the same
  // address. hipErrorOutOfMemory: kIdsMax.
  hipError_t id_of(std::uint64_t allocation, std::uint32_t& id);
  // Something is stored.
  bool any() const {
    return any_.load(std::memory_order_relaxed) || any_synchronous() ||
           any_id_.load(std::memory_order_relaxed);
  }
  // The allocation ends. Costs almost nothing without advice.
  void forget(std::uint64_t allocation, std::uint64_t allocated_bytes);
  // hipMemRangeGetAttribute and hipMemRangeGetAttributes. For memory that is not managed only the coherency
  // is known, and only to the first of them. Writes nothing unless it can answer everything.
  hipError_t get(const std::optional<AdvisedMemory>& memory, hipMemRangeAttribute attribute, void* data,
                 std::size_t data_bytes) const;
  hipError_t get(const std::optional<AdvisedMemory>& memory, const hipMemRangeAttribute* attributes,
                 void* const* data, const std::size_t* data_bytes, std::size_t count) const;

 private:
  struct Advice {
    bool read_mostly = false;
    bool accessed_by_host = false;
    std::uint64_t accessed_by = 0;  // a bit for each device
    int preferred = hipInvalidDeviceId;
    int prefetched = hipInvalidDeviceId;
    std::optional<hipMemRangeCoherencyMode> coherency;

    bool operator==(const Advice&) const = default;
  };
  struct Part {
    std::uint64_t end = 0;
    Advice advice;
  };
  using Parts = std::map<std::uint64_t, Part>;  // by start address; they do not overlap
  struct Common;

  static void apply(Advice& to, hipMemoryAdvise advice, int device);
  template <typename Change>
  hipError_t change(const AdvisedRange& range, Change change);
  void split(std::uint64_t at) TF_REQUIRES(mutex_);
  void join(std::uint64_t begin, std::uint64_t end) TF_REQUIRES(mutex_);
  Common common(const AdvisedMemory& memory) const TF_REQUIRES(mutex_);
  bool find_synchronous(std::uint64_t address) const;

  void answer(const AdvisedMemory& memory, hipMemRangeAttribute attribute, void* data,
              std::size_t data_bytes) const;

  mutable Mutex mutex_;
  Parts parts_ TF_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::uint64_t> synchronous_ TF_GUARDED_BY(mutex_);  // ends, by start
  std::map<std::uint64_t, std::uint32_t> ids_ TF_GUARDED_BY(mutex_);
  std::uint32_t last_id_ TF_GUARDED_BY(mutex_) = 0;
  // Relaxed: a thread that frees or copies such memory sees its own store.
  std::atomic<bool> any_{false};  // of parts_
  std::atomic<bool> any_synchronous_{false};
  std::atomic<bool> any_id_{false};
};

}  // namespace tf::hipcore
