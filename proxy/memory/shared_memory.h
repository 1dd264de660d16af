// SPDX-License-Identifier: Apache-2.0
// SharedMemory: the names under which other processes may open this process's device memory, and what this
// one has opened of theirs.
//
// A name ("key") is random, and only the worker makes one. It travels inside hipIpc handles and, for
// hipMemExportToShareableHandle, in a small sealed file whose descriptor the program passes on. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

#include "transport/base/mutex.h"
#include "transport/net/fd.h"

namespace tf::proxy {

struct SharedKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const SharedKey&, const SharedKey&) = default;
};

// The content of a hipIpcMemHandle_t.
struct MemoryTicket {
  SharedKey key;
  std::uint64_t offset = 0;  // of the exporter's pointer in its allocation
};
// In place of an offset: the memory is the exporter's host memory, which no other process can open.
inline constexpr std::uint64_t kOffsetOnHost = UINT64_MAX;
hipIpcMemHandle_t write_handle(const MemoryTicket& ticket);
// Nothing: not one of our handles.
std::optional<MemoryTicket> read_handle(const hipIpcMemHandle_t& handle);

hipIpcEventHandle_t write_event_handle(const SharedKey& key);
std::optional<SharedKey> read_event_handle(const hipIpcEventHandle_t& handle);

// A descriptor that names physical memory.
net::OwnedFd make_token_file(const SharedKey& key);
std::optional<SharedKey> read_token_file(int descriptor);
// A descriptor that names a memory pool by its device, which the worker counts.
net::OwnedFd make_pool_file(int worker_device);
std::optional<int> read_pool_file(int descriptor);

// The content of a hipMemPoolPtrExportData is that of an IPC handle.
static_assert(sizeof(hipMemPoolPtrExportData) == sizeof(hipIpcMemHandle_t));

class SharedMemory {
 public:
  // Held from looking up a key until the worker's new one is noted: an allocation has one key. Also
  // while memory is opened or closed: its openings are counted, since a runtime may give the same address to
  // each of them.
  Mutex& order() TF_RETURN_CAPABILITY(order_) { return order_; }
  void shared(std::uint64_t base, const SharedKey& key);
  std::optional<SharedKey> key_of(std::uint64_t base) const;
  // The key of memory that the worker does not share: ours, and freed() forgets it. Nothing: the system gives
  // no random bytes.
  std::optional<SharedKey> name_privately(std::uint64_t base);
  bool is_ours(const SharedKey& key) const;
  // The allocation at `base` is being freed: returns its key, which must be withdrawn.
  std::optional<SharedKey> freed(std::uint64_t base);

  // By whom: hipIpcOpenMemHandle, or hipMemPoolImportPointer.
  enum class Way : std::uint8_t { kIpc, kPool };
  // `ticket`: with the offset of the pointer that the program gets.
  void opened(std::uint64_t base, std::uint64_t bytes, const MemoryTicket& ticket, Way way);
  // The address of what hipIpcOpenMemHandle has opened under this key, which counts one opening more.
  // Nothing: it has not, or the offset is none of that memory.
  std::optional<std::uint64_t> open_again(const MemoryTicket& ticket);
  struct Closed {
    std::uint64_t base = 0;
    bool last = true;  // no opening is left
  };
  // The memory opened that way that holds `address`, with one opening less; imported memory only by the
  // pointer that the program got. Nothing: there is none. Costs almost nothing where none is.
  std::optional<Closed> close(std::uint64_t address, Way way);

 private:
  // Relaxed: lets hipFree skip the lock. The thread that shared an allocation sees its own store, and frees
  // it later.
  std::atomic<bool> any_{false};
  Mutex order_;
  mutable Mutex mutex_;
  std::map<std::uint64_t, SharedKey> keys_ TF_GUARDED_BY(mutex_);  // by the allocation's address
  struct Opened {
    std::uint64_t bytes = 0;
    MemoryTicket ticket;
    Way way = Way::kIpc;
    std::uint64_t openings = 1;
  };
  std::map<std::uint64_t, Opened> opened_ TF_GUARDED_BY(mutex_);  // by address
  std::atomic<bool> any_opened_{false};                           // relaxed, as any_
};

}  // namespace tf::proxy
