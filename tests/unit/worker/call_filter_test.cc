// SPDX-License-Identifier: Apache-2.0
// What libraries in a session still do once its system calls are limited.
#include "worker/sandbox/call_filter.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tf::worker {
namespace {

constexpr int kNoFilter = 99;

// What `work` returned in a process behind the filter.
template <typename Work>
int behind_the_filter(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool stands = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && refuse_calls().is_ok();
    ::_exit(stands ? work() : kNoFilter);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void* nothing(void* argument) { return argument; }

// As AMD's runtime starts its threads: for all processors, whatever the process has.
TEST(CallFilter, ThreadsStartWithProcessorsOfTheirOwn) {
  EXPECT_EQ(behind_the_filter([] {
              cpu_set_t all;
              if (::sched_getaffinity(0, sizeof all, &all) != 0) return 1;
              pthread_attr_t attributes;
              ::pthread_attr_init(&attributes);
              ::pthread_attr_setaffinity_np(&attributes, sizeof all, &all);
              pthread_t thread{};
              if (::pthread_create(&thread, &attributes, nothing, nullptr) != 0) return 2;
              return ::pthread_join(thread, nullptr) == 0 ? 0 : 3;
            }),
            0);
}

TEST(CallFilter, AProcessPinsItself) {
  EXPECT_EQ(behind_the_filter([] {
              cpu_set_t one;
              CPU_ZERO(&one);
              CPU_SET(::sched_getcpu(), &one);
              if (::sched_setaffinity(0, sizeof one, &one) != 0) return 1;
              cpu_set_t now;
              return ::sched_getaffinity(0, sizeof now, &now) == 0 && CPU_COUNT(&now) == 1 ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace tf::worker
