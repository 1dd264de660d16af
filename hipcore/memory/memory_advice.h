// SPDX-License-Identifier: Apache-2.0
// MemoryAdvice: what hipMemAdvise and hipMemPrefetchAsync said of memory, and what hipMemRangeGetAttribute
// answers.
//
// Kept by pages, since HIP rounds ranges to them; but never beyond an allocation, for small ones share a page
// here. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace tf::hipcore {

inline constexpr std::uint64_t kAdvisedPageBytes = 4096;
inline constexpr std::size_t kAdvisedRangesMax = 1 << 16;  // of memory with one and the same advice
inline constexpr int kAdvisedDevicesMax = 64;

// [address, address + bytes) inside the allocation [allocation, allocation + allocated_bytes).
struct AdvisedRange {
  std::uint64_t allocation = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;

  // Not empty, and all of it inside.
  bool is_sound() const;
};

// What a range is, besides.
struct AdvisedMemory {
  AdvisedRange range;
  hipMemRangeCoherencyMode coherency = hipMemRangeCoherencyModeFineGrain;  // while nobody has advised
  bool managed = false;
};

// hipMemAdvise looks at its device only then.
bool names_device(hipMemoryAdvise advice);
// Whether hipMemRangeGetAttribute knows the attribute, and answers it in so many bytes.
bool takes_attribute(hipMemRangeAttribute attribute, std::size_t data_bytes);
// The same for what hipMemRangeGetAttributes is given.
bool takes_attributes(void* const* data, const std::size_t* data_bytes,
                      const hipMemRangeAttribute* attributes, std::size_t count);
// How hipHostMalloc's memory is when nobody has advised; likewise hipHostRegister's and
// hipExtMallocWithFlags'.
hipMemRangeCoherencyMode coherency_of_host(unsigned flags);
hipMemRangeCoherencyMode coherency_of_registered(unsigned flags);
hipMemRangeCoherencyMode coherency_of_device(unsigned flags);

// Memory that nobody knows, or of which a range is not sound, is nothing to these functions.
class MemoryAdvice {
 public:
  // hipMemAdvise, where there are so many devices. hipErrorOutOfMemory: kAdvisedRangesMax.
  hipError_t advise(const std::optional<AdvisedMemory>& memory, hipMemoryAdvise advice, int device,
                    int devices);
  // hipMemPrefetchAsync. REQUIRES: the device exists, or is hipCpuDeviceId
  hipError_t prefetch(const std::optional<AdvisedMemory>& memory, int device);
  // This memory's coherency is what its owner was asked for.
  hipError_t set_coherency(const AdvisedRange& range, hipMemRangeCoherencyMode coherency);
  // Something was advised, and not forgotten yet.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // The allocation ends. Costs next to nothing while nothing was advised.
  void forget(std::uint64_t allocation, std::uint64_t allocated_bytes);
  // hipMemRangeGetAttribute and hipMemRangeGetAttributes. Of memory that is not managed only the coherency is
  // known, and that only to the first. Nothing is written unless all can be answered.
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
  using Parts = std::map<std::uint64_t, Part>;  // by beginning; they do not overlap
  struct Common;

  static void apply(Advice& to, hipMemoryAdvise advice, int device);
  template <typename Change>
  hipError_t change(const AdvisedRange& range, Change change);
  // REQUIRES for these: mutex_ is held.
  void split(std::uint64_t at);
  void join(std::uint64_t begin, std::uint64_t end);
  Common common(const AdvisedMemory& memory) const;

  void answer(const AdvisedMemory& memory, hipMemRangeAttribute attribute, void* data,
              std::size_t data_bytes) const;

  mutable std::mutex mutex_;
  Parts parts_;
  std::atomic<bool> any_{false};  // relaxed: who frees memory that was advised sees its own store
};

}  // namespace tf::hipcore
