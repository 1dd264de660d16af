// SPDX-License-Identifier: Apache-2.0
// VirtualMemoryMap: the program's reserved addresses, its physical memory, and the mappings between them.
//
// Reservations are cut here from a range that the worker and this process both keep free, so they cost no
// round trip. For physical memory and mappings this is the account by which calls check their arguments
// before they ask the worker; errors are those of the runtime. Not thread-safe: hold order() from the check
// until the result is noted.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/memory/shared_memory.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::size_t kReservationsMax = 1u << 20;
inline constexpr std::uint64_t kReservationAlignmentMax = 1ull << 40;

// Memory without an address. It lives as long as the program has references or it is mapped.
struct PhysicalMemory {
  int device = 0;
  std::uint64_t bytes = 0;
  hipMemAllocationProp properties{};
  bool booked = true;  // counts as used on `device`; imported memory counts at its maker
  unsigned references = 1;
  std::size_t mappings = 0;
  SharedKey key{};  // of imported memory
};

class VirtualMemoryMap {
 public:
  using Memory = std::map<std::uint64_t, PhysicalMemory>;  // by handle

  Mutex& order() TF_RETURN_CAPABILITY(order_) { return order_; }
  // Call it once, before anything else. Sizes and addresses are multiples of `unit`.
  void open(const protocol::AddressWindow& window, std::uint64_t unit);
  bool available() const { return window_.bytes != 0; }

  hipError_t reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wish, std::uint64_t& address)
      TF_REQUIRES(order_);
  hipError_t unreserve(std::uint64_t address, std::uint64_t bytes) TF_REQUIRES(order_);

  bool whole_units(std::uint64_t bytes) const { return bytes % unit_ == 0; }
  void created(std::uint64_t handle, const PhysicalMemory& memory) TF_REQUIRES(order_) {
    memory_.emplace(handle, memory);
  }
  // Null: the program has no such handle (any more).
  const PhysicalMemory* find(std::uint64_t handle) const TF_REQUIRES(order_);
  // Adds a reference to the memory mapped at `address`.
  hipError_t retain(std::uint64_t address, std::uint64_t& handle) TF_REQUIRES(order_);
  // Drops a reference. If it was the last owner, `gone` gets the memory, which the worker must free.
  hipError_t release(std::uint64_t handle, Memory& gone) TF_REQUIRES(order_);

  // The reserved range that `address` lies in. REQUIRES: check_map() of it
  protocol::AddressWindow range_of(std::uint64_t address) const TF_REQUIRES(order_);
  hipError_t check_map(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset,
                       std::uint64_t handle) const TF_REQUIRES(order_);
  void mapped(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle) TF_REQUIRES(order_);
  // Whether [address, address + bytes) consists of whole mappings, side by side.
  bool is_mapped(std::uint64_t address, std::uint64_t bytes) const TF_REQUIRES(order_);
  // Forgets those mappings and returns their addresses. REQUIRES: is_mapped()
  std::vector<std::uint64_t> unmapped(std::uint64_t address, std::uint64_t bytes, Memory& gone)
      TF_REQUIRES(order_);

 private:
  struct Mapping {
    std::uint64_t bytes = 0;
    std::uint64_t handle = 0;
  };

  bool is_free(std::uint64_t address, std::uint64_t bytes) const TF_REQUIRES(order_);
  std::optional<std::uint64_t> find_gap(std::uint64_t bytes, std::uint64_t alignment) const
      TF_REQUIRES(order_);
  bool is_reserved(std::uint64_t address, std::uint64_t bytes) const TF_REQUIRES(order_);
  bool overlaps_mapping(std::uint64_t address, std::uint64_t bytes) const TF_REQUIRES(order_);
  std::map<std::uint64_t, Mapping>::const_iterator mapping_at(std::uint64_t address) const
      TF_REQUIRES(order_);
  void let_go(Memory::iterator memory, Memory& gone) TF_REQUIRES(order_);

  Mutex order_;
  protocol::AddressWindow window_;
  std::uint64_t unit_ = 1;
  std::map<std::uint64_t, std::uint64_t> reservations_ TF_GUARDED_BY(order_);  // address -> bytes
  std::map<std::uint64_t, Mapping> mappings_ TF_GUARDED_BY(order_);
  Memory memory_ TF_GUARDED_BY(order_);
};

}  // namespace tf::proxy
