// SPDX-License-Identifier: Apache-2.0
// Occupies or opens descriptors 0 to 2.
#include "transport/net/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace tf::net {
namespace {

// A descriptor that only names a place, and cannot be read or written. The root directory always exists.
int open_nothing() { return ::open("/", O_PATH | O_CLOEXEC); }

}  // namespace

// The kernel gives out the lowest number that is free: each call takes one of the three until all are taken.
StandardDescriptorsTaken::StandardDescriptorsTaken() {
  for (int& taken : taken_) {
    const int fd = open_nothing();
    if (fd > STDERR_FILENO) ::close(fd);
    if (fd < 0 || fd > STDERR_FILENO) break;
    taken = fd;
  }
}

StandardDescriptorsTaken::~StandardDescriptorsTaken() {
  for (const int taken : taken_)
    if (taken >= 0) ::close(taken);
}

void open_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDWR) < 0) (void)::open("/", O_PATH);  // those below are open: it gets `number`
  }
}

}  // namespace tf::net
