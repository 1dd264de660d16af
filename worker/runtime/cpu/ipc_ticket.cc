// SPDX-License-Identifier: Apache-2.0
// Makes and opens IPC handles.
#include "worker/runtime/cpu/ipc_ticket.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "worker/runtime/cpu/memory_file.h"

namespace tf::cpu {

IpcTicket make_ticket(const std::array<char, 8>& magic, int descriptor, std::uint64_t bytes, int device) {
  struct stat status = {};
  const bool there = descriptor >= 0 && ::fstat(descriptor, &status) == 0;
  return {magic, ::getpid(), descriptor, there ? status.st_ino : 0, bytes, 0, device, 0};
}

bool is_of_ticket(int descriptor, const IpcTicket& ticket) {
  struct stat status = {};
  return ::fstat(descriptor, &status) == 0 && status.st_ino == ticket.file &&
         memory_file_bytes(descriptor) >= ticket.bytes;
}

int open_ticket(const IpcTicket& ticket) {
  const std::string path =
      "/proc/" + std::to_string(ticket.process) + "/fd/" + std::to_string(ticket.descriptor);
  const std::string wanted = std::string("/memfd:") + kMemoryFileName;
  std::array<char, 64> name{};
  const ssize_t length = ::readlink(path.c_str(), name.data(), name.size() - 1);
  if (length <= 0 || std::string(name.data()).rfind(wanted, 0) != 0) return -1;
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return -1;
  if (is_of_ticket(descriptor, ticket)) return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace tf::cpu
