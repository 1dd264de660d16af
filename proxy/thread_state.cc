// SPDX-License-Identifier: Apache-2.0
#include "proxy/thread_state.h"

#include <type_traits>

namespace tf::proxy {

static_assert(std::is_trivially_destructible_v<ThreadState>, "used after thread-local destructors have run");

ThreadState& thread_state() {
  static thread_local constinit ThreadState state{};
  return state;
}

}  // namespace tf::proxy
