// SPDX-License-Identifier: Apache-2.0
#include "proxy/thread_state.h"

#include <type_traits>

namespace tf::proxy {

static_assert(std::is_trivially_destructible_v<ThreadState>, "used after thread-local destructors have run");

namespace internal {

constinit thread_local ThreadState* own_thread_state = nullptr;

ThreadState& make_thread_state() {
  static thread_local constinit ThreadState state{};
  own_thread_state = &state;
  return state;
}

}  // namespace internal
}  // namespace tf::proxy
