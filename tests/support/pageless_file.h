// SPDX-License-Identifier: Apache-2.0
// A file of huge pages that this machine does not have. To map it over something fails when the kernel has
// already removed what was there.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/net/fd.h"

namespace tf::test {

// Sealed against shrinking. None: the machine has such pages, or the system no such files.
inline net::OwnedFd pageless_file(std::uint64_t bytes) {
  net::OwnedFd file(::memfd_create("pageless", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return {};
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return file;
  ::munmap(memory, bytes);
  return {};
}

// Whether all of these addresses have a mapping, be it a mere reservation.
inline bool is_taken(std::uint64_t address, std::uint64_t bytes) {
  std::vector<unsigned char> pages((bytes + 4095) / 4096);
  return ::mincore(reinterpret_cast<void*>(address), bytes, pages.data()) == 0;
}

}  // namespace tf::test
