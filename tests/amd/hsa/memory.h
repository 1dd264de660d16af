// SPDX-License-Identifier: Apache-2.0
// All memory that the stand-in's agents may reach: allocations of pools, locked memory of the host, memory of
// other processes. A device address is a host address.
//
// Memory of a pool lies in a file in memory (memfd) of the agent that owns it, so other processes can map it
// (IPC). Addresses that belong to no allocation are mapped without access: a stray access of the host ends
// there.
//
// Sources of facts: hsa_ext_amd.h 5.2.3, cited by function.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "tests/amd/isa/executor.h"

namespace tf::amd::hsa {

constexpr std::size_t kPageBytes = 4096;
constexpr unsigned kAgentsMax = 16;  // the host and GPU agents together; a mask has a bit for each

using AgentMask = std::uint32_t;  // bit N: the agent with index N; bit 0 is the host

constexpr AgentMask agent_bit(unsigned index) { return AgentMask{1} << index; }

inline std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uint64_t>(address); }
inline void* pointer_to(std::uint64_t address) { return reinterpret_cast<void*>(address); }

// Addresses and pages that one agent's pools are cut from. Not synchronised: Memory's mutex guards it.
class Arena {
 public:
  // `bytes`: how much can be allocated in all. Nothing where the system refuses the file or the addresses.
  static std::unique_ptr<Arena> create(const char* name, std::size_t bytes, std::uint64_t near_address);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Zeroed pages, or null: no room. `bytes` and `alignment` are multiples of a page.
  void* take(std::size_t bytes, std::size_t alignment);
  // `reusable`: false keeps the pages for another process that has mapped them.
  void give_back(void* address, std::size_t bytes, bool reusable);

  // Counts pages that lie elsewhere. False: no room.
  bool claim(std::size_t bytes);
  void disclaim(std::size_t bytes) { used_ -= bytes; }

  std::size_t available() const { return capacity_ - used_; }
  int descriptor() const { return descriptor_; }
  std::uint64_t offset_of(std::uint64_t address) const { return address - base_; }

 private:
  Arena() = default;

  int descriptor_ = -1;
  std::uint64_t base_ = 0;
  std::size_t reserved_ = 0;  // addresses; twice the capacity, so that alignment costs no memory
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_;  // offset -> bytes
};

enum class Origin : std::uint8_t { kPool, kLocked, kAttached, kMapped };

struct Allocation {
  std::uint64_t base = 0;
  std::size_t bytes = 0;      // whole pages
  std::size_t requested = 0;  // as the program said
  Origin origin = Origin::kPool;
  unsigned owner = 0;              // index of the agent
  std::uint32_t global_flags = 0;  // hsa_amd_memory_pool_global_flag_t
  AgentMask agents = 0;            // who may read and write it
  AgentMask readers = 0;           // of these, who may only read
  void* user_data = nullptr;
  bool exported = false;  // another process may have mapped it
  unsigned locks = 0;     // of kLocked

  std::uint64_t end() const { return base + bytes; }
};

// Where another process finds an allocation: a file of this process, and a place in it.
struct Place {
  int descriptor = -1;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

// Threads: every function may be called by any thread.
class Memory {
 public:
  // An agent's own memory. False: the system refuses.
  bool add_owner(const char* name, std::size_t bytes);
  // In a child of fork(): closes the files of the parent's agents, whose pages it does not have. The last
  // call.
  void abandon();

  // Memory of the agent `owner`, reached by `agents`. Null: no room.
  void* allocate(unsigned owner, std::size_t bytes, std::uint32_t global_flags, AgentMask agents);
  // False: no pool's allocation begins there.
  bool release(const void* address);

  // hsa_amd_agents_allow_access: who may reach it beside its owner from now on. False: not of a pool.
  bool allow(const void* address, AgentMask agents);
  // hsa_amd_memory_lock: the pages of [address, bytes). The same range may be locked several times.
  void lock(const void* address, std::size_t bytes, AgentMask agents);
  bool unlock(const void* address);

  std::optional<Place> export_place(const void* address, std::size_t bytes);
  // Maps a file of another process. The descriptor stays the caller's. Null: the system refuses.
  void* attach(const Place& place, unsigned owner, AgentMask agents);
  bool detach(const void* address);

  // Physical memory of `owner` that has no address here. False: no room.
  bool claim(unsigned owner, std::size_t bytes);
  void disclaim(unsigned owner, std::size_t bytes);
  // What is mapped at addresses that a program reserved; nobody reaches it before set_mapped_access().
  void add_mapped(const void* address, std::size_t bytes, unsigned owner, std::uint32_t global_flags);
  void remove_mapped(const void* address);
  void set_mapped_access(const void* address, AgentMask agents, AgentMask writers);

  // What `address` lies in; memory of pools comes before locked memory.
  std::optional<Allocation> find(const void* address) const;
  bool set_user_data(const void* address, void* user_data);
  // Whether all of [address, bytes) lies in one allocation that `agent` may reach, or in locked or mapped
  // ones side by side. The host reaches everything.
  bool reaches(unsigned agent, const void* address, std::size_t bytes) const;
  std::size_t available(unsigned owner) const;

  const std::atomic<std::uint64_t>& generation() const { return generation_; }

 private:
  const Allocation* locate(std::uint64_t address) const;

  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Arena>> arenas_;       // by agent
  std::map<std::uint64_t, Allocation> allocations_;  // by base; all but locked: these never overlap
  std::multimap<std::uint64_t, Allocation> locked_;  // by base
  std::atomic<std::uint64_t> generation_{0};
};

// What the code of one agent may touch.
class AgentMemory final : public isa::AddressSpace {
 public:
  AgentMemory(const Memory& memory, unsigned agent) : memory_(memory), agent_(agent) {}
  std::optional<Range> find(std::uint64_t address) const override;
  const std::atomic<std::uint64_t>& generation() const override { return memory_.generation(); }

 private:
  const Memory& memory_;
  unsigned agent_;
};

}  // namespace tf::amd::hsa
