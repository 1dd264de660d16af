// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: addresses that a program reserves, physical memory without an address, and
// mappings of the second at the first. What is mapped is an allocation of Memory, so kernels, copies and
// pointers find it there.
//
// Physical memory is a file in memory of its own, of the size that was asked for and one page more that says
// whose it is. A shareable handle is a descriptor of that file, where ROCr's is a dma-buf's.
//
// Sources of facts: hsa_ext_amd.h of ROCm 6.4, hsa_amd_vmem_*; what ROCr of October 2024 does.
#pragma once

#include <hsa/hsa_ext_amd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "tests/amd/hsa/memory.h"

namespace tf::amd::hsa {

constexpr std::size_t kGranuleBytes = 2 * 1024 * 1024;  // the recommended one

// Of which pool physical memory is. `pool`: its number in Runtime::pools.
struct PhysicalPool {
  unsigned owner = 0;  // index of the agent
  std::uint32_t global_flags = 0;
  std::uint32_t pool = 0;
};

// What one agent may do with a mapping.
struct Access {
  unsigned agent = 0;
  hsa_access_permission_t permission{};  // 0: nothing
};

// Threads: every function may be called by any thread. Sizes are whole pages.
class VirtualMemory {
 public:
  explicit VirtualMemory(Memory& memory) : memory_(memory) {}

  // In a child of fork(): closes the parent's files. The last call of all. REQUIRES: no other thread
  void abandon();

  // Addresses without memory, at `wanted` if they are free there. Null: the system refuses.
  void* reserve(std::size_t bytes, std::uint64_t wanted, std::size_t alignment);
  hsa_status_t unreserve(const void* address, std::size_t bytes);
  // The reserved range that `address` lies in.
  struct Reserved {
    void* base = nullptr;
    std::size_t bytes = 0;
  };
  std::optional<Reserved> find(const void* address) const;

  hsa_status_t create(const PhysicalPool& pool, std::size_t bytes, std::uint64_t& handle);
  // Mappings keep the memory.
  hsa_status_t release(std::uint64_t handle);
  std::optional<PhysicalPool> pool_of(std::uint64_t handle) const;

  hsa_status_t map(void* address, std::size_t bytes, std::uint64_t handle);
  hsa_status_t unmap(void* address, std::size_t bytes);
  // The handle that is mapped there counts once more: it is to be released as often.
  hsa_status_t retain(const void* address, std::uint64_t& handle);
  // Of whole mappings, side by side.
  hsa_status_t set_access(void* address, std::size_t bytes, std::span<const Access> wanted);
  // hsa_amd_agents_allow_access: of the mapping that `address` lies in and those that follow it without a
  // gap.
  hsa_status_t allow(const void* address, std::span<const Access> wanted);
  hsa_status_t get_access(const void* address, unsigned agent, hsa_access_permission_t& permission) const;

  // A descriptor that is the caller's.
  hsa_status_t export_handle(std::uint64_t handle, int& file) const;
  // `owners`: how many agents there are. The descriptor stays the caller's.
  hsa_status_t import_handle(int file, unsigned owners, std::uint64_t& handle);

 private:
  class Physical;
  struct Handle {
    std::shared_ptr<Physical> physical;
    unsigned references = 1;
  };
  struct Mapping {
    std::size_t bytes = 0;
    std::uint64_t handle = 0;
    std::shared_ptr<Physical> physical;
    std::map<unsigned, hsa_access_permission_t> access;  // by agent
  };
  const Mapping* mapping_of(std::uint64_t address) const;
  bool is_reserved(std::uint64_t base, std::size_t bytes) const;
  bool is_mapped(std::uint64_t base, std::size_t bytes) const;
  hsa_status_t change_access(std::uint64_t base, Mapping& mapping, std::span<const Access> wanted);
  std::uint64_t add(std::shared_ptr<Physical> physical);

  Memory& memory_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::size_t> reserved_;  // by base
  std::map<std::uint64_t, Mapping> mappings_;      // by base
  std::map<std::uint64_t, Handle> handles_;
  // AMD's runtime takes a handle for the address of as many bytes as the memory has, beside those of
  // pointers. So they lie apart, and where no address is.
  std::uint64_t next_handle_ = std::uint64_t{1} << 48;
};

}  // namespace tf::amd::hsa
