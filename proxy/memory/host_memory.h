// SPDX-License-Identifier: Apache-2.0
// HostMemory: host allocations, and ranges that the program registered. Used for pointer queries, to know
// what devices can reach, and for copies that need not wait (the program promised not to touch such memory
// until the copy is done).
//
// Memory comes from the window shared with the worker, if there is one (host_window.h). Registered pages of
// shared mappings are mapped there as well (an alias). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

#include "proxy/memory/host_window.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

struct HostRange {
  enum class Kind : std::uint8_t {
    kPinned,      // hipHostMalloc
    kManaged,     // hipMallocManaged
    kRegistered,  // hipHostRegister: not ours to free
    kAlias,       // the address in the window where devices reach registered memory
  };
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  unsigned flags = 0;
  int device = 0;
  Kind kind = Kind::kPinned;
  bool reachable = false;   // by devices, at the same address
  std::uint64_t other = 0;  // kRegistered: its alias, if any; kAlias: what was registered

  // Allocated here.
  bool owned() const { return kind == Kind::kPinned || kind == Kind::kManaged; }
};

class HostMemory {
 public:
  explicit HostMemory(HostWindow& window) : window_(window) {}
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  // REQUIRES: `kind` is an allocated kind. hipErrorNotSupported: managed memory without a window.
  hipError_t allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags, void*& pointer);
  // REQUIRES: no device uses it any more
  hipError_t release(void* pointer);
  // Registers the program's memory. If its pages can be shared, devices reach it too, at another address.
  hipError_t add(int device, void* pointer, std::uint64_t bytes, unsigned flags);
  // REQUIRES: no device uses it any more
  hipError_t remove(void* pointer);
  // The address where devices reach [address, address + bytes), if all of it was registered and shared; else
  // `address`.
  std::uint64_t seen_by_devices(std::uint64_t address, std::uint64_t bytes) const;
  std::optional<HostRange> find(const void* pointer) const;
  // Whether all of [pointer, pointer + bytes) lies in one such range.
  bool contains(const void* pointer, std::uint64_t bytes) const;
  // What [address, address + bytes) is: memory of one range that devices reach; such memory and beyond its
  // end; or neither. Costs almost nothing for other addresses.
  enum class Reach : std::uint8_t { kNone, kWhole, kBeyond };
  Reach reach_of(std::uint64_t address, std::uint64_t bytes) const;
  bool reaches(std::uint64_t address, std::uint64_t bytes) const {
    return reach_of(address, bytes) == Reach::kWhole;
  }

 private:
  std::optional<HostRange> find_locked(std::uint64_t address) const TF_REQUIRES(mutex_);
  void share(const HostRange& range);

  HostWindow& window_;
  mutable Mutex mutex_;
  std::map<std::uint64_t, HostRange> ranges_ TF_GUARDED_BY(mutex_);
  std::atomic<bool> has_aliases_{false};  // relaxed: the registering thread sees its own store
};

}  // namespace tf::proxy
