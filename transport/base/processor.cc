// SPDX-License-Identifier: Apache-2.0
// Pins the calling thread with sched_setaffinity(2).
#include "transport/base/processor.h"

#include <sched.h>

#include <cstddef>

namespace tf {

void stay_on_this_processor() {
  const int here = ::sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(here), &only);
  static_cast<void>(::sched_setaffinity(0, sizeof only, &only));
}

}  // namespace tf
