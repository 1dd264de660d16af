// SPDX-License-Identifier: Apache-2.0
// ArrayMemory: who uses the memory of arrays. It is freed when the array is destroyed and no texture or
// surface reads it any more, as in AMD's runtime. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "transport/base/mutex.h"

namespace tf::cpu {

class ArrayMemory {
 public:
  ArrayMemory() = default;
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;

  void add(std::uint64_t base, std::uint64_t bytes);
  // The memory that an address lies in is used once more. False: it is no array's.
  bool hold(std::uint64_t address);
  // One use less, of the memory that begins at `base` or that the address lies in.
  hipError_t drop(std::uint64_t address);

 private:
  struct Use {
    std::uint64_t bytes = 0;
    std::size_t users = 1;
  };
  std::map<std::uint64_t, Use>::iterator find(std::uint64_t address) TF_REQUIRES(mutex_);

  Mutex mutex_;
  std::map<std::uint64_t, Use> uses_ TF_GUARDED_BY(mutex_);
};

// Never destroyed.
ArrayMemory& array_memory();

}  // namespace tf::cpu
