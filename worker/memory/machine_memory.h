// SPDX-License-Identifier: Apache-2.0
// How much memory this machine has.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace tf::worker {

// Bytes; 0: the system does not say.
inline std::uint64_t machine_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages <= 0 || page_bytes <= 0
             ? 0
             : static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace tf::worker
