// SPDX-License-Identifier: Apache-2.0
// Asks for, and sets, the affinity of the calling thread.
#include "transport/base/processor.h"

#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <memory>

namespace tf {
namespace {

constexpr std::size_t kProcessorsMost = 1 << 16;  // Linux is built for 8192 at most

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

void stay_on_this_processor() {
  const int here = ::sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(here), &only);
  static_cast<void>(::sched_setaffinity(0, sizeof only, &only));
}

// The kernel refuses a set with fewer bits than it has processors, as one cpu_set_t (1024) may be.
unsigned usable_processors() {
  for (std::size_t bits = CPU_SETSIZE; bits <= kProcessorsMost; bits *= 2) {
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(bits));
    const std::size_t bytes = CPU_ALLOC_SIZE(bits);
    if (set == nullptr) break;
    if (::sched_getaffinity(0, bytes, set.get()) == 0)
      return static_cast<unsigned>(CPU_COUNT_S(bytes, set.get()));
    if (errno != EINVAL) break;
  }
  return 1;
}

}  // namespace tf
