// SPDX-License-Identifier: Apache-2.0
// MemoryMap: every range of memory the runtime knows, by address; and where ranges come from.
//
// Thread-safe. Ranges never overlap.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <vector>

namespace tf::cpu {

class Pool;

inline std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

enum class MemoryKind {
  kDevice,      // hipMalloc and pools
  kManaged,     // hipMallocManaged
  kHost,        // hipHostMalloc
  kRegistered,  // the program's memory, hipHostRegister
  kGlobal,      // a variable of a loaded code object
  kMapped,      // hipMemMap
  kShared,      // hipIpcOpenMemHandle
};

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;         // as asked for
  std::size_t mapped_bytes = 0;  // as taken from the system; 0 when the memory is not ours to unmap
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;
  unsigned flags = 0;
  Pool* pool = nullptr;  // owner of the block, null when none
  int descriptor = -1;   // of the memory file behind the pages; -1: they are private

  bool on_host() const { return kind == MemoryKind::kHost || kind == MemoryKind::kRegistered; }
};

// A range that a thread has asked for, as it was after so many removals from the map.
struct KnownRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uint64_t removals = ~std::uint64_t{0};
};

class MemoryMap {
 public:
  static constexpr std::size_t kMaxAllocations = 1 << 22;

  // False when it overlaps what is known, or the map is full.
  bool add(const Allocation& allocation);
  // The range that starts here.
  std::optional<Allocation> remove(const void* base);
  // Notes the memory file that the range that starts here now consists of.
  void set_descriptor(const void* base, int descriptor);
  // The range that holds the address.
  std::optional<Allocation> find(const void* address) const;
  // A known range holds the address, and covers(address, bytes).
  bool holds(const void* address, std::size_t bytes) const;
  // The same without a lock while it is `known`, which is the calling thread's.
  bool holds(const void* address, std::size_t bytes, KnownRange& known) const;
  // False when `address` lies in a known range and the known ranges end before address + bytes.
  bool covers(const void* address, std::size_t bytes) const;
  // All ranges of a device that match; they are no longer known.
  std::vector<Allocation> remove_all(int device, MemoryKind kind);

 private:
  using Ranges = std::map<std::uintptr_t, Allocation>;

  // REQUIRES for both: mutex_ is held. The range that holds the address, or the end.
  Ranges::const_iterator holder(std::uintptr_t address) const;
  bool reaches(Ranges::const_iterator range, std::uintptr_t at, std::size_t bytes) const;

  mutable std::shared_mutex mutex_;
  Ranges ranges_;                           // by base
  std::atomic<std::uint64_t> removals_{0};  // written under mutex_; release, pairs with holds()
};

inline constexpr std::size_t kPage_bytes = 4096;
inline constexpr std::size_t kHugePage_bytes = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Zeroed pages from the system, null when there are none. `bytes` is a multiple of the page size.
void* map_pages(std::size_t bytes);
void unmap_pages(void* base, std::size_t bytes);

}  // namespace tf::cpu
