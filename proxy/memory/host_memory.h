// SPDX-License-Identifier: Apache-2.0
// HostMemory: host allocations, and ranges that the program registered. Used for pointer queries, to know
// what devices can reach, and for copies that need not wait (the program promised not to touch such memory
// until the copy is done).
//
// Memory comes from the window shared with the worker, if there is one (host_window.h). Registered pages of
// shared mappings are mapped there as well (an alias). Other registered memory, and with a worker elsewhere
// pinned memory, has addresses in the window too, but the worker gets a copy of it only once devices use it;
// until then it is dormant. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proxy/memory/host_window.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

struct HostRange {
  enum class Kind : std::uint8_t {
    kPinned,       // hipHostMalloc
    kManaged,      // hipMallocManaged
    kFineGrained,  // hipExtMallocWithFlags: to the program, device memory that the host reaches
    kRegistered,   // hipHostRegister: not ours to free
    kAlias,        // the address in the window where devices reach registered memory
  };
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  unsigned flags = 0;
  int device = 0;
  Kind kind = Kind::kPinned;
  bool reachable = false;   // by devices, at the same address
  std::uint64_t other = 0;  // kRegistered: its alias, if any; kAlias: what was registered
  // Whose pages, or addresses, it has: this process's alone, a block of the window, or reserved ones of it.
  enum class Home : std::uint8_t { kPrivate, kBlock, kReserved };
  Home home = Home::kPrivate;
  bool dormant = false;      // kPinned, kRegistered and kAlias: devices will reach it after wake()
  bool is_variable = false;  // kManaged: of a variable, which no function of HIP frees

  // Allocated here.
  bool owned() const { return kind != Kind::kRegistered && kind != Kind::kAlias; }
  // hipFree() frees it.
  bool is_devices() const { return kind == Kind::kManaged || kind == Kind::kFineGrained; }
};

// Wakes dormant memory, for parts below the one that does it.
class HostWaker {
 public:
  // Devices will reach the dormant memory there, if any: an address as devices have it. The worker gets
  // memory for it, which may fail.
  virtual hipError_t wake(std::uint64_t address) = 0;

 protected:
  ~HostWaker() = default;
};

class HostMemory {
 public:
  explicit HostMemory(HostWindow& window) : window_(window) {}
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  // Call it once, before any use: memory that devices cannot share is mirrored, namely registered private
  // memory, and with a worker elsewhere pinned memory. Else it is only this process's.
  void mirror_pinned() { mirrors_ = true; }
  // REQUIRES: `kind` is an allocated kind. hipErrorNotSupported: there is no window for managed or
  // fine-grained memory.
  hipError_t allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags, void*& pointer);
  // REQUIRES: no device uses it any more
  hipError_t release(void* pointer);
  // Registers the program's memory. If its pages can be shared, devices reach it too, at another address.
  hipError_t add(int device, void* pointer, std::uint64_t bytes, unsigned flags);
  // REQUIRES: no device uses it any more
  hipError_t remove(void* pointer);
  // Devices reach the window's blocks as a copy of them at the worker.
  bool copies_blocks() const { return window_.access() == protocol::HostAccess::kMirrored; }
  // Something is dormant. The allocating thread sees its own.
  bool has_dormant() const { return dormant_count_.load(std::memory_order_relaxed) != 0; }
  // Devices reach some. The thread that made it so sees it.
  bool any_reached() const { return reached_count_.load(std::memory_order_relaxed) != 0; }
  // The window's range: outside of it nothing is dormant.
  const protocol::AddressWindow& window() const { return window_.addresses(); }
  // What is dormant at the address where devices would reach it.
  std::optional<HostRange> find_dormant(std::uint64_t address) const;
  // The worker gets memory for it; then devices reach it. REQUIRES: dormant memory's address for devices; one
  // thread at a time
  hipError_t open(std::uint64_t base) { return window_.open(base & ~(kHostPageBytes - 1)); }
  void wake(std::uint64_t base);
  // The address where devices reach [address, address + bytes), if all of it was registered and shared; else
  // `address`.
  std::uint64_t seen_by_devices(std::uint64_t address, std::uint64_t bytes) const;
  // The same for what is dormant too: devices will reach it there after wake().
  std::uint64_t will_be_seen_by_devices(std::uint64_t address, std::uint64_t bytes) const;
  // The address where this process has the memory, if `address` is one where only devices reach it; else
  // `address`.
  std::uint64_t seen_here(std::uint64_t address) const;
  std::optional<HostRange> find(const void* pointer) const;
  // The memory that starts there is a variable's.
  void keep_for_variable(const void* pointer);
  // The device's managed memory, but for variables.
  std::vector<HostRange> managed(int device) const;
  // Whether all of [pointer, pointer + bytes) lies in one such range.
  bool contains(const void* pointer, std::uint64_t bytes) const;
  // What [address, address + bytes) is: memory of one range that devices reach; memory of a range in the
  // window and beyond its end, or a place in the window where the program has no memory; or neither. Costs
  // almost nothing for other addresses.
  enum class Reach : std::uint8_t { kNone, kWhole, kBeyond };
  Reach reach_of(std::uint64_t address, std::uint64_t bytes) const;
  bool reaches(std::uint64_t address, std::uint64_t bytes) const {
    return reach_of(address, bytes) == Reach::kWhole;
  }
  // The same, or they will once it is no longer dormant.
  bool could_reach(std::uint64_t address, std::uint64_t bytes) const;

 private:
  std::optional<HostRange> find_locked(std::uint64_t address) const TF_REQUIRES(mutex_);
  std::uint64_t alias_of(std::uint64_t address, std::uint64_t bytes, bool dormant_too) const;
  bool share(const HostRange& range);
  void reserve_alias(const HostRange& range);
  bool add_alias(const HostRange& range, std::uint64_t pages, bool dormant);

  HostWindow& window_;
  mutable Mutex mutex_;
  std::map<std::uint64_t, HostRange> ranges_ TF_GUARDED_BY(mutex_);
  std::atomic<bool> has_aliases_{false};  // relaxed: the registering thread sees its own store
  std::atomic<std::size_t> dormant_count_{0};
  std::atomic<std::size_t> reached_count_{0};
  bool mirrors_ = false;
};

}  // namespace tf::proxy
