// SPDX-License-Identifier: Apache-2.0
// Mirror: managed memory with a worker that cannot map our pages (HostAccess::kMirrored).
//
// Both sides have the memory at the same addresses. The program follows the rule for devices without
// concurrentManagedAccess (HIP programming guide, "managed memory"): the host does not touch it from
// launching work until it has waited for that work. So it is copied to the worker before the first work after
// the host had it, and back when the program has waited: whole allocations, since nobody knows what was
// written. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "hipcore/wire/gen/op_traits.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class Mirror {
 public:
  explicit Mirror(Connection& connection) : connection_(connection) {}

  void add(std::uint64_t address, std::uint64_t bytes);
  void remove(std::uint64_t address);
  // Something is mirrored at all. The connection takes care for as long (Care::kMirroring).
  bool any() const { return any_.load(std::memory_order_relaxed); }  // allocator sees its own store

  // Called before every message is posted. If it is work, the worker gets the memory first.
  hipError_t before(protocol::OpTraits what, int device, std::span<const std::byte> head);
  // The program has waited for some of the work, so it gets the memory back. Work that still runs keeps it,
  // so that the next work does not overwrite what that is writing.
  hipError_t after_wait();

 private:
  using Queue = std::pair<int, std::uint64_t>;  // device, stream

  void count() TF_REQUIRES(mutex_);
  hipError_t carry(bool to_worker) TF_REQUIRES(mutex_);
  hipError_t carry_one(bool to_worker, std::uint64_t address, std::uint64_t bytes) TF_REQUIRES(mutex_);
  void forget_idle() TF_REQUIRES(mutex_);

  Connection& connection_;
  std::atomic<bool> any_{false};
  Mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> ranges_ TF_GUARDED_BY(mutex_);  // address -> bytes
  bool at_worker_ TF_GUARDED_BY(mutex_) = false;
  std::set<Queue> busy_ TF_GUARDED_BY(mutex_);  // had work since the host had the memory
};

}  // namespace tf::proxy
