// SPDX-License-Identifier: Apache-2.0
#include "transport/base/barriers.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

namespace tf {
namespace {

// This process may not call membarrier() any more.
bool give_up_barriers() {
  std::array<sock_filter, 4> rules = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = rules.size(), .filter = rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// A program that shuts itself in after it has begun to use HIP is not left hanging.
TEST(Barriers, ASandboxThatComesLaterEndsNoWait) {
  enum : int { kFine = 0, kNoFilters = 1, kStillAllowed = 2 };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const AsymmetricFence fence;
    ::alarm(10);  // what hangs is killed, and the status says so
    if (!give_up_barriers()) ::_exit(kNoFilters);
    if (fence_everywhere()) ::_exit(kStillAllowed);
    fence.heavy();
    ::_exit(kFine);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kNoFilters) GTEST_SKIP() << "no system call filters are permitted here";
  EXPECT_EQ(WEXITSTATUS(status), kFine);
}

}  // namespace
}  // namespace tf
