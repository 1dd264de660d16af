// SPDX-License-Identifier: Apache-2.0
// HostMemory: the flags that a program gave for pinned and registered memory. The driver's own flags differ.
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "hipcore/memory/memory_advice.h"
#include "transport/base/mutex.h"

namespace tf::cuda {

class HostMemory {
 public:
  struct Range {
    std::size_t bytes;
    int device;  // whose context pinned it, and unpins it when it is reset
    unsigned flags;
    hipMemRangeCoherencyMode coherency;
  };

  void add(void* base, const Range& range);
  void remove(void* base);
  // All of a device whose context goes.
  void remove_all(int device);
  // The flags of the memory that holds the address.
  bool flags(const void* pointer, unsigned& flags) const;
  // [pointer, pointer + bytes) of what is kept here; nothing: it is not.
  std::optional<hipcore::AdvisedMemory> advised(const void* pointer, std::size_t bytes) const;

 private:
  using Ranges = std::map<std::size_t, Range>;  // by address
  // The range that holds the address, or the end.
  Ranges::const_iterator holder(std::size_t address) const TF_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Ranges ranges_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::cuda
