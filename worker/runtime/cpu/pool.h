// SPDX-License-Identifier: Apache-2.0
// Pool: stream-ordered memory. A freed block is available to the same stream at once, and to others when the
// stream that freed it has reached that point. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/memory_map.h"
#include "worker/runtime/cpu/stream.h"

namespace tf::cpu {

class Device;

class Pool {
 public:
  // kShareable: other processes may open its memory. kImported: it holds what another process shares, and
  // gives no memory.
  enum class Kind { kPlain, kShareable, kImported };
  // `limit_bytes`: of the memory that is in use at a time; 0: no limit but the device's.
  explicit Pool(Device& device, Kind kind = Kind::kPlain, std::uint64_t limit_bytes = 0)
      : device_(device), kind_(kind), limit_bytes_(limit_bytes) {}
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Device& device() const { return device_; }
  Kind kind() const { return kind_; }

  hipError_t allocate(std::size_t bytes, Stream& stream, void** pointer);
  // The memory map no longer knows the block. Its next user waits for `freed`. Memory that other processes
  // may have open has no next user: from now on nobody can open it, and its pages go back when freed.
  void give_back(const Allocation& allocation, Marker freed);
  // Returns finished free blocks to the system until at most this much is reserved, and all finished blocks
  // that have no next user.
  void trim(std::size_t keep_bytes);
  void trim_to_threshold();

  // The program has destroyed the pool. While memory of it is allocated it lives, and holds itself.
  void outlive(const std::shared_ptr<Pool>& self);

  hipError_t set_attribute(hipMemPoolAttr attribute, const void* value);
  hipError_t get_attribute(hipMemPoolAttr attribute, void* value) const;

 private:
  struct FreeBlock {
    void* base;
    Marker freed;
  };
  using Blocks = std::multimap<std::size_t, FreeBlock>;  // by size

  // Counts memory as used; false: the pool has a limit, and this is beyond it.
  bool book(std::size_t bytes);
  void unbook(std::size_t bytes);
  void* find_block(std::size_t block_bytes, const Stream& stream);
  void* reuse(std::size_t bytes, const Stream& stream) TF_REQUIRES(mutex_);
  void* reserve(std::size_t bytes) TF_REQUIRES(mutex_);
  void adopt(Blocks blocks, Blocks retired);
  void unreserve(void* base, std::size_t bytes) TF_REQUIRES(mutex_);

  Device& device_;
  const Kind kind_;
  const std::uint64_t limit_bytes_;
  mutable Mutex mutex_;
  std::shared_ptr<Pool> self_ TF_GUARDED_BY(mutex_);
  Blocks free_ TF_GUARDED_BY(mutex_);
  Blocks retired_ TF_GUARDED_BY(mutex_);  // those without a next user
  std::uint64_t threshold_bytes_ TF_GUARDED_BY(mutex_) = 0;
  std::uint64_t reserved_bytes_ TF_GUARDED_BY(mutex_) = 0;
  std::uint64_t reserved_high_bytes_ TF_GUARDED_BY(mutex_) = 0;
  std::uint64_t used_bytes_ TF_GUARDED_BY(mutex_) = 0;
  std::uint64_t used_high_bytes_ TF_GUARDED_BY(mutex_) = 0;
  // hipMemPoolReuse...: only stored; reuse is always safe here.
  int reuse_rules_[3] TF_GUARDED_BY(mutex_) = {1, 1, 1};
};

// Called at synchronization: returns the memory of the device's pools above their thresholds.
void release_unused_memory(Device& device);

}  // namespace tf::cpu
