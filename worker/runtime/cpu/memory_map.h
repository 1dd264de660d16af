// SPDX-License-Identifier: Apache-2.0
// MemoryMap: all memory ranges that the runtime knows, by address, and their sources.
//
// Thread-safe. Ranges never overlap.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hipcore/graph/box.h"
#include "transport/base/mutex.h"

namespace tf::cpu {

class Pool;

using graph::address_of;

enum class MemoryKind {
  kDevice,      // hipMalloc and pools
  kManaged,     // hipMallocManaged
  kHost,        // hipHostMalloc
  kRegistered,  // the program's memory, hipHostRegister
  kGlobal,      // a variable of a loaded code object
  kMapped,      // hipMemMap
  kShared,      // hipIpcOpenMemHandle
  kImported,    // hipMemPoolImportPointer
};

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;         // as asked for
  std::size_t mapped_bytes = 0;  // as taken from the system; 0: we must not unmap it
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;
  unsigned flags = 0;
  Pool* pool = nullptr;      // owner of the block, or null
  int descriptor = -1;       // of the memory file behind the pages; -1: they are private
  std::size_t offset = 0;    // kImported: of the pointer that the program got
  bool is_variable = false;  // goes with its code, whatever the program frees or resets

  bool on_host() const { return kind == MemoryKind::kHost || kind == MemoryKind::kRegistered; }
};

// A range that a thread has looked up, with the map's removal count at that time.
struct KnownRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uint64_t removals = ~std::uint64_t{0};
};

class MemoryMap {
 public:
  static constexpr std::size_t kMaxAllocations = 1 << 22;

  // False if it overlaps a known range, or the map is full.
  bool add(const Allocation& allocation);
  // Removes and returns the range that starts here.
  std::optional<Allocation> remove(const void* base);
  // Records the memory file that now backs the range that starts here.
  void set_descriptor(const void* base, int descriptor);
  // The range that holds the address.
  std::optional<Allocation> find(const void* address) const;
  // Whether a known range holds the address, and covers(address, bytes).
  bool holds(const void* address, std::size_t bytes) const;
  // The same, without a lock if `known`, which belongs to the calling thread, holds it.
  bool holds(const void* address, std::size_t bytes, KnownRange& known) const;
  // False if `address` lies in a known range, but the known ranges end before address + bytes; and if it lies
  // in the pages of one, behind its end.
  bool covers(const void* address, std::size_t bytes) const;
  // Removes and returns all ranges of a device that match, but for variables.
  std::vector<Allocation> remove_all(int device, MemoryKind kind);

 private:
  using Ranges = std::map<std::uintptr_t, Allocation>;

  // The range that holds the address, or the end.
  Ranges::const_iterator holder(std::uintptr_t address) const TF_REQUIRES_SHARED(mutex_);
  bool is_padding(std::uintptr_t at) const TF_REQUIRES_SHARED(mutex_);
  bool reaches(Ranges::const_iterator range, std::uintptr_t at, std::size_t bytes) const
      TF_REQUIRES_SHARED(mutex_);

  mutable SharedMutex mutex_;
  Ranges ranges_ TF_GUARDED_BY(mutex_);     // by base
  std::atomic<std::uint64_t> removals_{0};  // written under mutex_; release, pairs with holds()
};

inline constexpr std::size_t kPage_bytes = 4096;
inline constexpr std::size_t kHugePage_bytes = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Zeroed pages from the system; null on failure. `bytes` is a multiple of the page size.
void* map_pages(std::size_t bytes);
void unmap_pages(void* base, std::size_t bytes);

}  // namespace tf::cpu
