// SPDX-License-Identifier: Apache-2.0
// PhysicalMemory: memory that the client creates with hipMemCreate, and where the client has mapped it.
//
// The snapshot's reserved range belongs to the client. Which parts of it hipMemAddressReserve gave out is the
// client's business; this class only makes sure that nothing is mapped outside the range or twice. Belongs to
// the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "hipcore/wire/gen/hip_table.h"
#include "worker/base/address_map.h"
#include "worker/base/channel.h"
#include "worker/base/optional_functions.h"
#include "worker/base/own_calls.h"
#include "worker/memory/quota.h"

namespace tf::worker {

inline constexpr std::size_t kPhysicalMax = 65536;   // created and imported, per session
inline constexpr std::size_t kMappingsMax = 262144;  // of a session

class PhysicalMemory {
 public:
  PhysicalMemory(const protocol::HipTable& hip, const VmmFunctions& vmm, OwnCalls& own_calls,
                 const protocol::WorkerSnapshot& snapshot, AddressMap& addresses, Quotas quotas)
      : hip_(hip),
        vmm_(vmm),
        own_calls_(own_calls),
        snapshot_(snapshot),
        addresses_(addresses),
        quotas_(quotas) {}
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;
  ~PhysicalMemory();

  // Physical memory under the handle `raw`, which the client chose. REQUIRES: `device` is current.
  hipError_t create(std::uint64_t raw, int device, std::uint64_t bytes, hipMemAllocationHandleType shared_as);
  // Memory that another session created. Takes ownership, even on failure.
  hipError_t adopt(std::uint64_t raw, hipMemGenericAllocationHandle_t memory, const SharedPiece& piece);
  // False: no such handle, or the memory belongs to another session.
  bool find(std::uint64_t raw, hipMemGenericAllocationHandle_t& memory, SharedPiece& piece) const;
  // Frees it. hipErrorInvalidValue if it is mapped: the client counts references.
  hipError_t release(std::uint64_t raw);

  // `range`: the client's, which the mapping lies in.
  hipError_t map(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, std::uint64_t raw,
                 const protocol::AddressWindow& range);
  // The three functions below take whole mappings, side by side. REQUIRES for unmap: no device is busy.
  hipError_t unmap(std::uint64_t address, std::uint64_t bytes);
  hipError_t set_access(std::uint64_t address, std::uint64_t bytes, std::span<const hipMemAccessDesc> wishes);
  // Visits the session's own mappings that begin in the range, with address, bytes and device; leaves out
  // memory of other sessions.
  template <typename Visit>
  void for_each_own(std::uint64_t address, std::uint64_t bytes, Visit&& visit) const {
    for (auto mapping = mappings_.lower_bound(address);
         mapping != mappings_.end() && mapping->first - address < bytes; ++mapping)
      if (const Physical& physical = physical_.at(mapping->second.physical); !physical.adopted)
        visit(mapping->first, mapping->second.bytes, physical.device);
  }
  // The access to the mapping that holds `address`.
  hipError_t get_access(std::uint64_t address, int device, unsigned long long& flags) const;

 private:
  struct Physical {
    hipMemGenericAllocationHandle_t memory{};
    std::uint64_t bytes = 0;
    int device = 0;
    std::size_t mappings = 0;
    bool adopted = false;
  };
  struct Mapping {
    std::uint64_t bytes = 0;
    std::uint64_t physical = 0;  // its handle
    std::uint64_t range = 0;     // the client's
    bool reachable = false;      // some device may use it; it is in the address map
  };
  using Mappings = std::map<std::uint64_t, Mapping>;
  // Of the client, with mappings, where each has a reservation of the runtime's.
  struct Range {
    std::uint64_t bytes = 0;
    std::size_t mappings = 0;
  };

  MemoryQuota& quota_of(const Physical& physical) { return physical.adopted ? quotas_.foreign : quotas_.own; }
  hipError_t check_new(std::uint64_t raw, int device) const;
  bool reserved(std::uint64_t address, std::uint64_t bytes) const;
  bool is_mapped(std::uint64_t address, std::uint64_t bytes) const;
  hipError_t enter(const protocol::AddressWindow& range, std::uint64_t address, std::uint64_t bytes);
  void leave(std::uint64_t range);
  hipError_t set_access_one_by_one(std::uint64_t address, std::uint64_t bytes,
                                   std::span<const hipMemAccessDesc> wishes);
  hipError_t show_all(std::uint64_t address, std::uint64_t bytes);
  // Some device may use the mapping.
  bool is_reachable(std::uint64_t address) const;
  hipError_t show(Mappings::iterator mapping, bool reachable);

  const protocol::HipTable& hip_;
  const VmmFunctions& vmm_;
  OwnCalls& own_calls_;
  const protocol::WorkerSnapshot& snapshot_;
  AddressMap& addresses_;
  Quotas quotas_;
  std::map<std::uint64_t, Physical> physical_;  // by handle, generation included
  Mappings mappings_;
  std::map<std::uint64_t, Range> ranges_;
};

}  // namespace tf::worker
