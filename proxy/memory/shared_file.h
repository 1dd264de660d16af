// SPDX-License-Identifier: Apache-2.0
// What memory of the program is made of, as the kernel tells it (/proc/self/maps): pages of a file that
// another process can be given, or pages of this process alone. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/net/fd.h"

namespace tf::proxy {

struct SharedFile {
  net::OwnedFd file;         // open for reading and writing
  std::uint64_t offset = 0;  // of the memory in it
};

// The file behind [address, address + bytes), whole pages: one shared writable mapping of a regular file
// (memfd, /dev/shm, MAP_SHARED | MAP_ANONYMOUS where this process may open it). Nothing: private memory, or
// no way to open the file.
std::optional<SharedFile> find_shared_file(std::uint64_t address, std::uint64_t bytes);

}  // namespace tf::proxy
