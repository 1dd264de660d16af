// SPDX-License-Identifier: Apache-2.0
// Pins benchmark threads to processors, and restores what was before.
#include "benchmarks/placement.h"

#include <sched.h>
#include <unistd.h>

namespace tf::bench {
namespace {

cpu_set_t allowed_at_start() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  return allowed;
}

}  // namespace

void unpin() {
  static const cpu_set_t kAllowed = allowed_at_start();
  ::sched_setaffinity(0, sizeof kAllowed, &kAllowed);
}

void pin_to(Processor which) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int chosen = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && (chosen < 0 || which == Processor::kLast)) chosen = cpu;
  }
  if (chosen < 0) return;
  CPU_ZERO(&allowed);
  CPU_SET(chosen, &allowed);
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

void leave_to_another_processor() {
  const int here = ::sched_getcpu();
  cpu_set_t others;
  CPU_ZERO(&others);
  const auto count = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  for (int cpu = 0; cpu < count; ++cpu) {
    if (cpu != here) CPU_SET(cpu, &others);
  }
  ::sched_setaffinity(0, sizeof others, &others);
}

KeepPlacement::KeepPlacement() : valid_(::sched_getaffinity(0, sizeof before_, &before_) == 0) {}

KeepPlacement::~KeepPlacement() {
  if (valid_) ::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace tf::bench
