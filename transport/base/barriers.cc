// SPDX-License-Identifier: Apache-2.0
// membarrier(2), and what replaces it when a sandbox forbids it.
#include "transport/base/barriers.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace tf {
namespace {

constexpr std::chrono::microseconds kRetry{50};
constexpr unsigned kRetriesMax = 64;  // out of memory: for now, or for good
constexpr std::chrono::milliseconds kStoresLeave{20};

}  // namespace

bool register_for_barriers() {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool fence_everywhere() { return ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0; }

void fence_everywhere_surely() {
  for (unsigned retry = 0; retry < kRetriesMax; ++retry) {
    if (fence_everywhere()) return;
    std::this_thread::sleep_for(kRetry);
  }
  std::this_thread::sleep_for(kStoresLeave);
}

}  // namespace tf
