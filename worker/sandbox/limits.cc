// SPDX-License-Identifier: Apache-2.0
// setrlimit(2), and the order in which the kernel ends processes.
#include "worker/sandbox/limits.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "transport/net/fd.h"

namespace tf::worker {
namespace {

// Nine tenths of the host's memory are added to what the process uses: other sessions are compared by what
// they use, and everybody else comes later.
constexpr std::string_view kOomScore = "900";

// Both limits, and never above what there is.
void lower(__rlimit_resource_t which, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, value);
  limit.rlim_max = std::min(limit.rlim_max, value);
  static_cast<void>(::setrlimit(which, &limit));
}

}  // namespace

void limit_process(std::size_t processes) {
  lower(RLIMIT_CORE, 0);
  lower(RLIMIT_NICE, 0);
  lower(RLIMIT_RTPRIO, 0);
  lower(RLIMIT_MSGQUEUE, 0);
  if (processes != 0) lower(RLIMIT_NPROC, processes);
  const net::OwnedFd score(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  // An operator's higher one stays: then this write would be refused or lower it; both are harmless.
  if (score) [[maybe_unused]]
    const ssize_t written = ::write(score.get(), kOomScore.data(), kOomScore.size());
}

}  // namespace tf::worker
