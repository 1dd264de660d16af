// SPDX-License-Identifier: Apache-2.0
// Makes and checks sealed memory files.
#include "worker/runtime/cpu/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tf::cpu {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

int make_memory_file(std::size_t bytes) {
  const int descriptor = ::memfd_create(kMemoryFileName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -1;
  const bool made = ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 &&
                    ::fcntl(descriptor, F_ADD_SEALS, kSeals) == 0;
  if (made) return descriptor;
  ::close(descriptor);
  return -1;
}

std::size_t memory_file_bytes(int descriptor) {
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return 0;
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || status.st_size <= 0) return 0;
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace tf::cpu
