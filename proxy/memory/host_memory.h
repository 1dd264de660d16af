// SPDX-License-Identifier: Apache-2.0
// HostMemory: page-aligned host allocations, and ranges the program registered, for pointer queries and for
// copies that need not wait (the program promised to leave such memory alone until the copy is done).
//
// Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace tf::proxy {

struct HostRange {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  unsigned flags = 0;
  int device = 0;
  bool registered = false;  // hipHostRegister: not ours to free
};

class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  hipError_t allocate(int device, std::uint64_t bytes, unsigned flags, void*& pointer);
  hipError_t release(void* pointer);
  hipError_t add(int device, void* pointer, std::uint64_t bytes, unsigned flags);
  hipError_t remove(void* pointer);
  std::optional<HostRange> find(const void* pointer) const;
  // All of [pointer, pointer + bytes) is one such range.
  bool contains(const void* pointer, std::uint64_t bytes) const;

 private:
  std::optional<HostRange> find_locked(std::uint64_t address) const;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, HostRange> ranges_;
};

}  // namespace tf::proxy
