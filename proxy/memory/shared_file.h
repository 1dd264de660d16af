// SPDX-License-Identifier: Apache-2.0
// What backs the program's memory, according to the kernel (/proc/self/maps): pages of a file that can be
// passed to another process, or private pages. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/net/fd.h"

namespace tf::proxy {

struct SharedFile {
  net::OwnedFd file;         // open for reading and writing
  std::uint64_t offset = 0;  // of the memory in the file
};

// The file behind [address, address + bytes), whole pages: one shared writable mapping of a regular file
// (memfd, /dev/shm, or MAP_SHARED | MAP_ANONYMOUS if this process may open it). Nothing: the memory is
// private, or the file cannot be opened.
std::optional<SharedFile> find_shared_file(std::uint64_t address, std::uint64_t bytes);

// Whether every byte of it lies in private mappings: nobody else writes it.
bool is_private_memory(std::uint64_t address, std::uint64_t bytes);

}  // namespace tf::proxy
