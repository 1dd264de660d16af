// SPDX-License-Identifier: Apache-2.0
// DeviceMemory: the device addresses this session holds, and what is allocated inside them.
//
// hipMalloc is cut here from leased slabs, without asking the worker. A lease is a grant, so memory handed
// out exists. Leases come from LeaseSource (Leases; a model in tests), which is called without the lock.
// Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/base/thread_state.h"
#include "proxy/memory/range_allocator.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::uint64_t kFirstSlabBytes = 64ull << 20;  // doubles per slab, up to the next line
inline constexpr std::uint64_t kLargestSlabBytes = 1ull << 30;
// Requests this large get their own lease, returned as soon as they are freed.
inline constexpr std::uint64_t kOwnLeaseBytes = 256ull << 20;
inline constexpr std::size_t kStreamBlocksMax = 4096;  // blocks freed by hipFreeAsync, kept per device

struct Lease {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

class LeaseSource {
 public:
  // Asks the worker for at least `bytes` on `device`. `flags`: of hipExtMallocWithFlags; if others than
  // hipDeviceMallocDefault, the lease lies outside of the device's window. hipErrorNotSupported: there is no
  // such memory.
  virtual hipError_t lease(int device, std::uint64_t bytes, unsigned flags, Lease& lease) = 0;
  virtual void return_lease(int device, std::uint64_t address) = 0;
  // Bytes of the device that this process has or could have, now.
  virtual hipError_t find_free(int device, std::uint64_t& bytes) = 0;
  // Waits for the device; then blocks freed on its streams are free.
  virtual hipError_t drain(int device) = 0;

 protected:
  ~LeaseSource() = default;
};

// The allocation or variable that holds a device address.
struct DevicePointer {
  int device = -1;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;  // of the allocation or variable
};

class DeviceMemory {
 public:
  DeviceMemory(const protocol::WorkerSnapshot& snapshot, LeaseSource& source);

  hipError_t allocate(int device, std::uint64_t bytes, std::uint64_t& address);
  // Memory of hipExtMallocWithFlags: a lease of its own, which is returned with it. hipErrorNotSupported:
  // there is none. REQUIRES: bytes > 0, and flags other than hipDeviceMallocDefault
  hipError_t allocate_alone(int device, std::uint64_t bytes, unsigned flags, std::uint64_t& address);
  // hipErrorInvalidValue if no block starts there. The caller has posted FreeMemory before, so that the next
  // user of these addresses comes after it in the queue.
  hipError_t release(std::uint64_t address);

  // Stream-ordered: a block freed on a stream can be allocated again on the same stream at once, and on
  // others after the stream was synchronized.
  hipError_t allocate_on_stream(int device, std::uint64_t stream, std::uint64_t bytes,
                                std::uint64_t& address);
  hipError_t release_on_stream(std::uint64_t address, std::uint64_t stream);
  void stream_idle(int device, std::uint64_t stream);
  void device_idle(int device);

  // Where the device's blocks start that were not freed, on a stream or otherwise.
  std::vector<std::uint64_t> blocks(int device) const;
  std::optional<DevicePointer> find(std::uint64_t address) const;
  // Only blocks cut from a lease.
  std::optional<DevicePointer> find_block(std::uint64_t address) const;
  bool is_device(std::uint64_t address) const { return find(address).has_value(); }
  // What [address, address + bytes) is: not device memory; part of a block cut from a lease; part of other
  // device memory; or it begins in either and goes beyond its end, or where nothing is allocated in a window.
  enum class Place : std::uint8_t { kNone, kLease, kOther, kBeyond };
  Place place_of(std::uint64_t address, std::uint64_t bytes) const;
  // Whether all of [address, address + bytes) lies inside one allocation or variable. Zero bytes: always.
  // Takes no lock for the allocation that this thread asked for last.
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    const KnownRange& known = thread_state().known_range;
    const bool is_current =
        known.epoch == epoch_.load(std::memory_order_acquire);  // pairs with blocks_gone()
    return (is_current && known.holds(address, bytes)) || find_whole(address, bytes);
  }

  // A __device__ variable at an address outside all leases; forgotten with its module.
  void add_variable(int device, std::uint64_t address, std::uint64_t bytes);
  void remove_variable(std::uint64_t address);

  // Memory that is mapped, not cut from a lease: the program's own mappings, and what other processes share.
  // Adjacent mappings may be used as one.
  void add_mapping(int device, std::uint64_t address, std::uint64_t bytes);
  // Another process's memory. False: it is outside the device's window, or overlaps memory of ours.
  // `outside`: its addresses are reserved outside of all windows (OutsideWindows).
  bool add_foreign(int device, std::uint64_t address, std::uint64_t bytes, bool outside);
  bool in_window(int device, std::uint64_t address, std::uint64_t bytes) const;
  bool remove_mapping(std::uint64_t address);
  // Counts device memory that is not cut from leases as used.
  void book(int device, std::uint64_t bytes);
  void unbook(int device, std::uint64_t bytes);
  // Returns unused leases, after waiting for blocks that only wait for their stream. False: there were none.
  bool give_back_unused(int device);

  // Asks the worker: other processes use the device, too.
  hipError_t info(int device, std::uint64_t& free_bytes, std::uint64_t& total_bytes) const;

 private:
  struct StreamBlock {
    std::uint64_t address;
    std::uint64_t stream;
    Block block;
  };
  struct Device {
    RangeAllocator ranges;
    std::set<std::uint64_t> alone;         // leases with flags, of one block each
    std::vector<std::uint64_t> done_with;  // leases with flags, freed; returned later
    std::vector<StreamBlock> stream_blocks;
    std::uint64_t next_slab_bytes = kFirstSlabBytes;
    std::uint64_t total_bytes = 0;
    std::uint64_t granularity_bytes = 1;
    std::uint64_t booked_bytes = 0;
    protocol::AddressWindow window;
  };

  bool none_waiting() const { return waiting_blocks_.load(std::memory_order_acquire) == 0; }
  bool find_whole(std::uint64_t address, std::uint64_t bytes) const;
  bool is_reserved_locked(std::uint64_t address) const TF_REQUIRES(mutex_);
  // Frees a block that waited for its stream.
  static void release_waiting(Device& of, std::uint64_t address);
  void blocks_gone() { epoch_.store(next_epoch(), std::memory_order_release); }
  void count_waiting_locked() TF_REQUIRES(mutex_);
  hipError_t grow(int device, std::uint64_t bytes);
  hipError_t lease_once(int device, std::uint64_t bytes);
  hipError_t lease_alone(int device, std::uint64_t bytes, unsigned flags, std::uint64_t& address);
  std::uint64_t whole_units(int device, std::uint64_t bytes) const;
  bool return_unused(int device);
  bool return_done_with(int device);
  std::optional<DevicePointer> find_block_locked(std::uint64_t address) const TF_REQUIRES(mutex_);
  bool overlaps_range_locked(std::uint64_t address, std::uint64_t bytes) const TF_REQUIRES(mutex_);
  std::optional<DevicePointer> find_locked(std::uint64_t address) const TF_REQUIRES(mutex_);
  bool continues_locked(std::uint64_t mapping, std::uint64_t bytes) const TF_REQUIRES(mutex_);

  LeaseSource& source_;
  // Blocks that wait for their stream, on all devices. Written under the mutex; the thread that freed one
  // sees it.
  std::atomic<std::size_t> waiting_blocks_{0};
  // The blocks' epoch (see next_epoch()): changes whenever blocks are freed.
  std::atomic<std::uint64_t> epoch_{next_epoch()};
  mutable Mutex mutex_;
  std::vector<Device> devices_ TF_GUARDED_BY(mutex_);
  std::map<std::uint64_t, DevicePointer> variables_ TF_GUARDED_BY(mutex_);
  std::map<std::uint64_t, DevicePointer> mappings_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::proxy
