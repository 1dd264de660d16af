// SPDX-License-Identifier: Apache-2.0
// LeaseMappings: device memory that this process also maps, at the device's addresses
// (DeviceAccess::kMapped). Copies between it and host memory then need nobody else.
//
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::proxy {

class LeaseMappings {
 public:
  LeaseMappings() = default;
  LeaseMappings(const LeaseMappings&) = delete;
  LeaseMappings& operator=(const LeaseMappings&) = delete;

  // Call it once, before any use. `socket` delivers the files. REQUIRES: the devices' windows are reserved in
  // this process
  void open(net::OwnedFd socket);
  // Whether every lease is mapped.
  bool complete() const { return complete_.load(std::memory_order_acquire); }  // pairs with open(), give_up()

  // Held from asking for a lease until its file is taken: files arrive in the order of the replies.
  Mutex& order() TF_RETURN_CAPABILITY(order_) { return order_; }
  // Maps a fresh lease inside its device's window. `has_file`: the worker says that its file follows. On
  // failure no lease counts as mapped any more.
  Status take(std::uint64_t address, std::uint64_t bytes, bool has_file) TF_REQUIRES(order_);
  // Call it before the lease is returned: unmaps it here. Returns the bytes that were mapped.
  std::uint64_t drop(std::uint64_t address);

 private:
  Status map(std::uint64_t address, std::uint64_t bytes) TF_REQUIRES(order_);
  void give_up() TF_REQUIRES(order_);

  Mutex order_;
  net::OwnedFd socket_ TF_GUARDED_BY(order_);
  std::atomic<bool> complete_{false};
  Mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> mapped_ TF_GUARDED_BY(mutex_);  // address -> bytes
};

}  // namespace tf::proxy
