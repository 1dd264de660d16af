// SPDX-License-Identifier: Apache-2.0
#include "concurrency/barriers.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace tf {
namespace {

constexpr std::chrono::microseconds kRetry{50};

}  // namespace

bool register_for_barriers() {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool fence_everywhere() { return ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0; }

void AsymmetricFence::heavy() const {
  full_fence();
  while (barriers_ && !fence_everywhere()) std::this_thread::sleep_for(kRetry);
}

}  // namespace tf
