// SPDX-License-Identifier: Apache-2.0
// Leases: slabs of device memory from which a session's client cuts its allocations.
//
// With VMM functions every device has an address window, reserved once per process before a client comes. A
// lease is then physical memory mapped into it, and the client keeps the same range free in its own address
// space. Without VMM functions a lease is an ordinary allocation; with flags of hipExtMallocWithFlags it
// always is one, at an address that the runtime chooses. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/address_map.h"
#include "worker/base/channel.h"
#include "worker/base/optional_functions.h"
#include "worker/base/own_calls.h"
#include "worker/memory/quota.h"

namespace tf::worker {

inline constexpr std::size_t kLeasesMax = 65536;  // per session

// Reserves every device's window and records it in the snapshot. If any device cannot have one, none gets one
// (leases are ordinary allocations). Called once, while the process warms up.
void reserve_windows(const protocol::HipTable& hip, const VmmFunctions& vmm,
                     protocol::WorkerSnapshot& snapshot);

// Whether hipExtMallocWithFlags gives memory of its own kind: a device's that other devices see while kernels
// run, and that is not the host's anyway.
bool has_fine_grained(const OptionalFunctions& optional);

class Leases {
 public:
  Leases(const protocol::HipTable& hip, const OptionalFunctions& optional, OwnCalls& own_calls,
         const protocol::WorkerSnapshot& snapshot, AddressMap& addresses, Quotas quotas)
      : hip_(hip),
        vmm_(optional.vmm),
        malloc_with_flags_(optional.malloc_with_flags),
        own_calls_(own_calls),
        snapshot_(snapshot),
        addresses_(addresses),
        quotas_(quotas) {}
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;
  ~Leases();

  // REQUIRES: `device` is current. `bytes` is rounded up to the granularity, and limited by the device's
  // quota. `flags`: hipDeviceMallocDefault, or of hipExtMallocWithFlags fine-grained or uncached;
  // hipErrorNotSupported, if the runtime has no such function.
  hipError_t grant(int device, std::uint64_t bytes, unsigned flags, std::uint64_t& address,
                   std::uint64_t& granted);
  // REQUIRES: the device no longer uses it, and is current.
  hipError_t give_back(std::uint64_t address);
  // The lease that holds [address, address + bytes): its memory, and the range as a piece of that memory, or
  // of the allocation that the lease is.
  bool find(std::uint64_t address, std::uint64_t bytes, std::uint64_t& lease,
            hipMemGenericAllocationHandle_t& memory, SharedPiece& piece) const;
  // Maps another session's lease, of which the client may use `piece`; `address` is where the piece begins.
  // Takes ownership of the memory, even on failure.
  hipError_t adopt(hipMemGenericAllocationHandle_t memory, const SharedPiece& piece, std::uint64_t& address);
  // The same where leases are ordinary allocations: opens the whole one that the runtime's ticket names.
  // `opener` is current, and has to be when it is dropped.
  hipError_t adopt_allocation(const hipIpcMemHandle_t& ticket, const SharedPiece& piece, int opener,
                              std::uint64_t& address);
  // Returns an adopted piece. REQUIRES: no device uses it, and its opener is current
  hipError_t drop(std::uint64_t address);
  // The memory of the session's own lease that starts at `address`. False: there is none, or it is an
  // ordinary allocation.
  bool memory_at(std::uint64_t address, hipMemGenericAllocationHandle_t& memory) const;
  // The opener of the adopted piece that starts at `address`; -1: there is none.
  int opener_of(std::uint64_t address) const;
  // The device of the session's own lease that starts at `address`; -1: there is none.
  int device_of(std::uint64_t address) const;

 private:
  struct Lease {
    std::uint64_t bytes = 0;
    int device = 0;
    hipMemGenericAllocationHandle_t memory{};  // with VMM
    std::uint64_t offset = 0;                  // offset of the mapping in the memory
    std::uint64_t adopted_first = 0;           // where an adopted piece starts in the mapping
    std::uint64_t whole_bytes = 0;             // size of the memory that the piece belongs to
    bool adopted = false;
    bool allocated = false;  // an ordinary allocation, in no window
    int opener = 0;          // the device that was current when an adopted allocation was opened
  };

  bool find_gap(const protocol::AddressWindow& window, std::uint64_t bytes, std::uint64_t& address) const;
  // Finds memory and an address for `lease`.
  hipError_t place(int device, unsigned flags, std::uint64_t& address, Lease& lease);
  hipError_t allocate(unsigned flags, std::uint64_t& address, const Lease& lease);
  hipError_t map_slab(int device, std::uint64_t address, Lease& lease);
  // An adopted lease that the runtime has opened at `base`.
  hipError_t note_allocation(std::uint64_t base, const Lease& lease, std::uint64_t shown_bytes);
  hipError_t place_adopted(const Lease& lease, std::uint64_t shown_bytes, std::uint64_t& address);
  hipError_t map_memory(int device, std::uint64_t address, const Lease& lease);
  hipError_t free_lease(std::uint64_t address, const Lease& lease);

  const protocol::HipTable& hip_;
  const VmmFunctions& vmm_;
  const decltype(&::hipExtMallocWithFlags) malloc_with_flags_;  // null: the runtime has none
  OwnCalls& own_calls_;
  const protocol::WorkerSnapshot& snapshot_;
  AddressMap& addresses_;
  Quotas quotas_;
  std::map<std::uint64_t, Lease> leases_;
};

}  // namespace tf::worker
