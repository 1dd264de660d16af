// SPDX-License-Identifier: Apache-2.0
// OutsideWindows: device memory outside of the devices' windows, where a runtime chose the address
// (fine-grained memory; all memory of a runtime without windows). This process keeps the same addresses free,
// so that no host pointer looks like a pointer to it. Any thread.
#pragma once

#include <cstdint>
#include <map>

#include "proxy/memory/address_window.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

class OutsideWindows {
 public:
  // False: this process uses some of these addresses itself.
  bool reserve(std::uint64_t address, std::uint64_t bytes);
  // Nothing happens where nothing was reserved.
  void drop(std::uint64_t address);

 private:
  Mutex mutex_;
  std::map<std::uint64_t, ReservedWindow> reserved_ TF_GUARDED_BY(mutex_);  // by the memory's address
};

}  // namespace tf::proxy
