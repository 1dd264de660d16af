// SPDX-License-Identifier: Apache-2.0
// OwnedFd: a file descriptor that is closed with its owner. Move-only; not thread-safe.
//
// Descriptors 0 to 2 belong to the program, even while they are closed: what it writes to standard error must
// never land in a socket of ours. The kernel hands out the lowest free number, so an OwnedFd moves its
// descriptor above them (standard_descriptors.h handles what third-party libraries open).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tf::net {

// Returns `fd` if it is above 2. Else returns a copy above 2 that is closed on exec, and closes `fd`; -1 with
// errno if there is no room for the copy. Negative values are returned as they are, with errno unchanged.
inline int above_standard(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) [[likely]]
    return fd;
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(fd);
  errno = error;
  return copy;
}

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(above_standard(fd)) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~OwnedFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace tf::net
