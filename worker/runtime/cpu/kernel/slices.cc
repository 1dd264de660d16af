// SPDX-License-Identifier: Apache-2.0
// Sets the slice of a thread: sched_setattr(2), sched_runtime of an ordinary thread.
#include "worker/runtime/cpu/kernel/slices.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tf::cpu {
namespace {

// struct sched_attr of the kernel, version 0: <linux/sched/types.h> cannot stand beside the C library's
// <sched.h>.
struct Attributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns;
  std::uint64_t deadline_ns;
  std::uint64_t period_ns;
};
static_assert(sizeof(Attributes) == 48);

}  // namespace

Slices& Slices::own() {
  thread_local Slices slices;
  return slices;
}

// The other attributes stay as they are. Before 6.12 the runtime of an ordinary thread is 0; later a new
// runtime of 0 means the usual slice.
void Slices::set(bool wanted) {
  long_ = wanted;
  Attributes attributes{};
  attributes.size = sizeof attributes;
  const bool known =
      ::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 && attributes.runtime_ns != 0;
  if (!known) return;
  attributes.flags = 0;
  attributes.runtime_ns = wanted ? attributes.runtime_ns * 2 : 0;
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &attributes, 0));
}

}  // namespace tf::cpu
