// SPDX-License-Identifier: Apache-2.0
// Pools: memory pools as the application sees them. The bytes are cut from the session's leases
// (device_memory.h), so a pool is only its settings and accounts, and never needs the worker.
//
// What a pool reserves follows the rules of a real one, block by block as in the CPU runtime
// (worker/runtime/cpu/pool.h): freed memory stays reserved until a synchronizing call finds more than the
// release threshold, or the application trims the pool; and in any case until its stream has reached the call
// that freed it. Here that is known of streams that were waited for, and of those that somebody asks for
// (pending()). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/base/handles.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::uint64_t kPoolBlockBytes = 64 << 10;  // what a pool reserves is a multiple of this

// The place of a call in the order of work: the stream that it names.
struct PoolOrder {
  int device = 0;
  std::uint64_t stream = 0;  // 0: the device's null stream
  bool operator==(const PoolOrder&) const = default;
};

// Guarded by Pools::mutex_, except what is constant.
struct PoolFacts final : Facts {
  int device = 0;
  bool is_shareable = false;  // its memory may be named to other processes; constant
  bool is_imported = false;   // it holds another process's memory, and gives none; constant
  std::uint64_t limit = 0;    // bytes in use at a time; 0: none but the device's; constant
  std::uint64_t booked = 0;   // of the calls that are about to allocate
  std::uint64_t threshold = 0;
  std::uint64_t used = 0;  // as the application asked for it
  std::uint64_t used_high = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
  struct FreeBlock {
    PoolOrder freed;
    bool is_reached = false;  // by its stream
  };
  std::multimap<std::uint64_t, FreeBlock> free;  // reserved, and not used; by size
  std::array<int, 3> reuse_rules{1, 1, 1};       // hipMemPoolReuse...: stored and returned only
};

class Pools {
 public:
  explicit Pools(HandleTable& handles) : handles_(handles) {}

  enum class Kind : std::uint8_t { kPlain, kShareable, kImported };
  // A pool for memory of `device`. 0: no handle left.
  std::uint64_t create(int device, Kind kind = Kind::kPlain, std::uint64_t limit = 0);
  // Memory of the pool stays until it is freed. The device falls back to its default pool.
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
  // Where blocks of the pool were freed, as far as nobody knows that their streams have got there.
  std::vector<PoolOrder> pending(const PoolFacts& pool) const;
  // The stream has done what it was given. What another thread frees there meanwhile counts as well.
  void reached(PoolFacts& pool, const PoolOrder& stream);

  // Comes before an allocation; allocated() or cancel() follows. False: the pool's limit leaves no room for
  // it.
  bool book(PoolFacts& pool, std::uint64_t bytes);
  void cancel(PoolFacts& pool, std::uint64_t bytes);
  // Account for blocks of pool memory. freed() ignores addresses outside any pool.
  void allocated(const std::shared_ptr<PoolFacts>& pool, std::uint64_t address, std::uint64_t bytes,
                 const PoolOrder& order);
  // Nothing uses it any more.
  void freed(std::uint64_t address);
  // The same, when the stream has got there.
  void freed(std::uint64_t address, const PoolOrder& order);
  bool owns(std::uint64_t address) const;
  // The same, and its pool is shareable.
  bool may_share(std::uint64_t address) const;
  // There may be pools with memory. The thread that made one sees its own store.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // A synchronizing call on the device, after which the streams for which `is_done` holds have done their
  // work: releases reserved memory beyond the thresholds.
  using IsDone = std::function<bool(const PoolOrder&)>;
  void synchronized(int device, const IsDone& is_done);

 private:
  struct Block {
    std::shared_ptr<PoolFacts> pool;
    std::uint64_t bytes;  // as asked for
  };
  static void trim_locked(PoolFacts& pool, std::uint64_t keep_bytes);
  void take_back(std::uint64_t address, const PoolFacts::FreeBlock& free);

  HandleTable& handles_;
  std::atomic<bool> any_{false};  // lets programs without pools skip synchronized(), and what it is given
  mutable Mutex mutex_;
  std::array<std::uint64_t, protocol::kDevicesMax> current_ TF_GUARDED_BY(mutex_){};
  std::map<std::uint64_t, Block> blocks_ TF_GUARDED_BY(mutex_);  // by address
};

}  // namespace tf::proxy
