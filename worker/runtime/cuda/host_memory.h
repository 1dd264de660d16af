// SPDX-License-Identifier: Apache-2.0
// HostMemory: the flags that a program gave for pinned and registered memory. The driver's own flags differ.
// Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace tf::cuda {

class HostMemory {
 public:
  void add(void* base, std::size_t bytes, unsigned flags);
  void remove(void* base);
  void clear();
  // The flags of the memory that holds the address.
  bool flags(const void* pointer, unsigned& flags) const;

 private:
  struct Range {
    std::size_t bytes;
    unsigned flags;
  };
  mutable std::mutex mutex_;
  std::map<std::size_t, Range> ranges_;  // by address
};

}  // namespace tf::cuda
