// SPDX-License-Identifier: Apache-2.0
// Pools: memory pools as the application sees them. The bytes are cut from the session's leases
// (device_memory.h), so a pool is only its settings and accounts, and never needs the worker.
//
// What a pool reserves follows the rules of a real one: freed memory stays reserved until a synchronizing
// call finds more than the release threshold, or the application trims the pool. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/base/handles.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::uint64_t kPoolBlockBytes = 4096;  // amounts in a pool are rounded up to this

// Guarded by Pools::mutex_, except what is constant.
struct PoolFacts final : Facts {
  int device = 0;
  bool is_shareable = false;  // its memory may be named to other processes; constant
  bool is_imported = false;   // it holds another process's memory, and gives none; constant
  std::uint64_t threshold = 0;
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
  std::array<int, 3> reuse_rules{1, 1, 1};  // hipMemPoolReuse...: stored and returned only
};

class Pools {
 public:
  explicit Pools(HandleTable& handles) : handles_(handles) {}

  enum class Kind : std::uint8_t { kPlain, kShareable, kImported };
  // A pool for memory of `device`. 0: no handle left.
  std::uint64_t create(int device, Kind kind = Kind::kPlain);
  // hipErrorIllegalState while memory of the pool is allocated. The device falls back to its default pool.
  hipError_t destroy(std::uint64_t pool);
  // Null: no such pool, or a default pool that was not entered yet.
  std::shared_ptr<PoolFacts> find(std::uint64_t pool) const;
  // Enters a default pool, which the session knows only by its handle. Null: no such handle.
  std::shared_ptr<PoolFacts> enter(std::uint64_t pool, int device);

  // The pool that hipMallocAsync uses; 0: the default pool, which nobody has asked for yet.
  std::uint64_t current(int device) const;
  void set_current(int device, std::uint64_t pool);

  hipError_t set_attribute(PoolFacts& pool, hipMemPoolAttr attribute, const void* value);
  hipError_t get_attribute(const PoolFacts& pool, hipMemPoolAttr attribute, void* value) const;
  void trim(PoolFacts& pool, std::uint64_t keep_bytes);

  // Account for blocks of pool memory. freed() ignores addresses outside any pool.
  void allocated(const std::shared_ptr<PoolFacts>& pool, std::uint64_t address, std::uint64_t bytes);
  void freed(std::uint64_t address);
  bool owns(std::uint64_t address) const;
  // The same, and its pool is shareable.
  bool may_share(std::uint64_t address) const;
  // A synchronizing call on the device: releases reserved memory beyond the thresholds.
  void synchronized(int device);

 private:
  struct Block {
    std::shared_ptr<PoolFacts> pool;
    std::uint64_t bytes;
  };
  static void trim_locked(PoolFacts& pool, std::uint64_t keep_bytes);

  HandleTable& handles_;
  // Relaxed: lets programs without pools skip synchronized(); the thread that made a pool sees its own store.
  std::atomic<bool> any_{false};
  mutable Mutex mutex_;
  std::array<std::uint64_t, protocol::kDevicesMax> current_ TF_GUARDED_BY(mutex_){};
  std::map<std::uint64_t, Block> blocks_ TF_GUARDED_BY(mutex_);  // by address
};

}  // namespace tf::proxy
