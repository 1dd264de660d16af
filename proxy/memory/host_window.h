// SPDX-License-Identifier: Apache-2.0
// HostWindow: host memory that devices use at this process's own addresses, cut from a range that the worker
// maps at the same place: the same pages if the worker is on this host, otherwise a mirror of them
// (mirror.h).
//
// Parts of the range are opened at the worker through HostPartSource (HostParts; a model in tests), which
// is called without the lock. Blocks are cut from them here. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <map>

#include "hipcore/wire/device_snapshot.h"
#include "proxy/memory/range_allocator.h"
#include "transport/base/mutex.h"
#include "transport/base/status.h"

namespace tf::proxy {

inline constexpr std::uint64_t kHostPageBytes = 4096;             // blocks are whole pages
inline constexpr std::uint64_t kFirstHostPartBytes = 8ull << 20;  // doubles per part, up to the next line
inline constexpr std::uint64_t kLargestHostPartBytes = 256ull << 20;
// Requests this large get their own part. Parts this large are closed as soon as they are unused.
inline constexpr std::uint64_t kOwnHostPartBytes = 64ull << 20;

class HostPartSource {
 public:
  enum class Use : std::uint8_t {
    kWindow,  // as the window's access says
    kCopied,  // a copy of other memory of this process
  };
  virtual hipError_t open_host_part(std::uint64_t address, std::uint64_t bytes, Use use) = 0;
  virtual void close_host_part(std::uint64_t address, std::uint64_t bytes) = 0;
  // Maps pages of our file at the same address there.
  virtual hipError_t map_host_file(std::uint64_t address, std::uint64_t bytes, int file,
                                   std::uint64_t offset) = 0;
  virtual void unmap_host_file(std::uint64_t address) = 0;

 protected:
  ~HostPartSource() = default;
};

class HostWindow {
 public:
  explicit HostWindow(HostPartSource& source) : source_(source) {}
  HostWindow(const HostWindow&) = delete;
  HostWindow& operator=(const HostWindow&) = delete;
  ~HostWindow();

  // Call it once, before any use. `file` is the worker's (kShared), -1 for a mirror. Fails if this process
  // already uses part of the range; then there is no window.
  Status map(const protocol::AddressWindow& window, protocol::HostAccess access, int file);
  protocol::HostAccess access() const { return access_; }
  const protocol::AddressWindow& addresses() const { return window_; }
  // Whether the address lies in the window; nothing else is ever there.
  bool inside(std::uint64_t address) const { return address - window_.base < window_.bytes; }

  // Whether it is memory allocated here: part of the worker's file, which both sides map from the window's
  // base.
  bool is_ours(std::uint64_t address) const {
    return access_ == protocol::HostAccess::kShared && address - parts_window_.base < parts_window_.bytes;
  }

  hipError_t allocate(std::uint64_t bytes, std::uint64_t& address);
  // REQUIRES: a block's address; no device uses it any more
  void release(std::uint64_t address);

  // Addresses for memory that this process has, and of which the worker may get a copy. Fresh pages.
  hipError_t reserve(std::uint64_t bytes, std::uint64_t& address);
  // The worker gets memory there. REQUIRES: returned by reserve(), not open
  hipError_t open(std::uint64_t address);
  // REQUIRES: returned by reserve(); no device uses it any more
  void unreserve(std::uint64_t address, bool is_open);

  // Maps whole pages of a file at another address, which devices reach too; for HostAccess::kShared.
  hipError_t map_file(int file, std::uint64_t offset, std::uint64_t bytes, std::uint64_t& address);
  // REQUIRES: returned by map_file(); no device uses it any more
  void unmap_file(std::uint64_t address);

 private:
  using Ranges = std::map<std::uint64_t, std::uint64_t>;  // address -> bytes

  hipError_t grow(std::uint64_t bytes);
  hipError_t open_part(std::uint64_t part);
  void forget_file(std::uint64_t address);
  static bool find_gap(const protocol::AddressWindow& window, const Ranges& ranges, std::uint64_t bytes,
                       std::uint64_t& address);

  HostPartSource& source_;
  protocol::AddressWindow window_;
  protocol::HostAccess access_ = protocol::HostAccess::kNone;
  Mutex mutex_;
  RangeAllocator blocks_ TF_GUARDED_BY(mutex_);
  Ranges parts_ TF_GUARDED_BY(mutex_);  // including those being opened
  protocol::AddressWindow parts_window_;
  protocol::AddressWindow files_window_;  // of shared windows
  Ranges files_ TF_GUARDED_BY(mutex_);
  std::uint64_t next_part_bytes_ TF_GUARDED_BY(mutex_) = kFirstHostPartBytes;
};

}  // namespace tf::proxy
