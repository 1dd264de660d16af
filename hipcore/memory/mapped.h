// SPDX-License-Identifier: Apache-2.0
// Whether the process has memory at an address. Any thread. Source: msync(2).
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace tf::hipcore {

// Whether there is memory on every page of the range, whatever may be done with it. Looks at no page, only at the
// kernel's list of mappings. REQUIRES: the range does not go beyond the end of the address space. Keeps errno.
inline bool is_mapped(const void* pointer, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(pointer) / page * page;
  const std::size_t length = reinterpret_cast<std::uintptr_t>(pointer) + bytes - first;
  const int kept = errno;
  const bool is_hole = ::msync(reinterpret_cast<void*>(first), length, MS_ASYNC) != 0 && errno == ENOMEM;
  errno = kept;
  return !is_hole;
}

}  // namespace tf::hipcore
