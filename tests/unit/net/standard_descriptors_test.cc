// SPDX-License-Identifier: Apache-2.0
// Descriptors 0 to 2 stay the program's. Each case in a child, which may close its own.
#include "transport/net/standard_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "transport/net/fd.h"
#include "transport/net/waker.h"

namespace tf::net {
namespace {

constexpr int kSubsets = 8;

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
bool is_closed_on_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

// Exit code of a child that has closed those of 0, 1 and 2 whose bit is set, and then ran `body`.
int in_child(int closed, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int number = 0; number <= STDERR_FILENO; ++number)
      if ((closed >> number & 1) != 0) ::close(number);
    ::_exit(body());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(StandardDescriptors, OwnedOnesLieAbove) {
  for (int closed = 0; closed < kSubsets; ++closed)
    EXPECT_EQ(in_child(closed,
                       [closed] {
                         OwnedFd first(::eventfd(0, EFD_CLOEXEC));
                         OwnedFd second(::open("/dev/null", O_RDONLY));
                         Waker waker;
                         if (!first || !second || !waker.open().is_ok()) return 1;
                         if (first.get() <= STDERR_FILENO || second.get() <= STDERR_FILENO) return 2;
                         if (waker.fd(0) <= STDERR_FILENO || waker.fd(1) <= STDERR_FILENO) return 3;
                         if (!is_closed_on_exec(first.get())) return 4;
                         for (int number = 0; number <= STDERR_FILENO; ++number)
                           if (is_open(number) != ((closed >> number & 1) == 0)) return 5;
                         return 0;
                       }),
              0)
        << closed;
}

TEST(StandardDescriptors, NoneAboveIsAnError) {
  EXPECT_EQ(in_child(1,
                     [] {
                       while (::open("/dev/null", O_RDONLY) >= 0) continue;
                       ::close(0);
                       const OwnedFd none(::open("/dev/null", O_RDONLY));
                       return none || errno != EMFILE || is_open(0) ? 1 : 0;
                     }),
            0);
}

TEST(StandardDescriptors, TakenForAWhile) {
  for (int closed = 0; closed < kSubsets; ++closed)
    EXPECT_EQ(in_child(closed,
                       [closed] {
                         {
                           const StandardDescriptorsTaken taken;
                           const int other = ::open("/dev/null", O_RDONLY);
                           if (other <= STDERR_FILENO) return 1;
                           ::close(other);
                           for (int number = 0; number <= STDERR_FILENO; ++number) {
                             const bool was_closed = (closed >> number & 1) != 0;
                             if (was_closed && (::write(number, "x", 1) >= 0 || !is_closed_on_exec(number)))
                               return 2;
                           }
                         }
                         for (int number = 0; number <= STDERR_FILENO; ++number)
                           if (is_open(number) != ((closed >> number & 1) == 0)) return 3;
                         return 0;
                       }),
              0)
        << closed;
}

TEST(StandardDescriptors, OpenedForGood) {
  for (int closed = 0; closed < kSubsets; ++closed)
    EXPECT_EQ(in_child(closed,
                       [closed] {
                         open_standard_descriptors();
                         for (int number = 0; number <= STDERR_FILENO; ++number) {
                           if (!is_open(number)) return 1;
                           const bool was_closed = (closed >> number & 1) != 0;
                           if (was_closed && (::write(number, "x", 1) != 1 || is_closed_on_exec(number)))
                             return 2;
                         }
                         return 0;
                       }),
              0)
        << closed;
}

}  // namespace
}  // namespace tf::net
