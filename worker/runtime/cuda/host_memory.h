// SPDX-License-Identifier: Apache-2.0
// HostMemory: the flags that a program gave for pinned and registered memory. The driver's own flags differ.
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "hipcore/memory/memory_advice.h"

namespace tf::cuda {

class HostMemory {
 public:
  void add(void* base, std::size_t bytes, unsigned flags, hipMemRangeCoherencyMode coherency);
  void remove(void* base);
  void clear();
  // The flags of the memory that holds the address.
  bool flags(const void* pointer, unsigned& flags) const;
  // [pointer, pointer + bytes) of what is kept here; nothing: it is not.
  std::optional<hipcore::AdvisedMemory> advised(const void* pointer, std::size_t bytes) const;

 private:
  struct Range {
    std::size_t bytes;
    unsigned flags;
    hipMemRangeCoherencyMode coherency;
  };
  using Ranges = std::map<std::size_t, Range>;  // by address
  // REQUIRES: mutex_ is held. The range that holds the address, or the end.
  Ranges::const_iterator holder(std::size_t address) const;

  mutable std::mutex mutex_;
  Ranges ranges_;
};

}  // namespace tf::cuda
