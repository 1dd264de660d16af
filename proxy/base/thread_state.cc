// SPDX-License-Identifier: Apache-2.0
// Allocates the per-thread state, and numbers epochs.
#include "proxy/base/thread_state.h"

#include <atomic>
#include <type_traits>

namespace tf::proxy {

static_assert(std::is_trivially_destructible_v<ThreadState>, "used after thread-local destructors have run");

std::uint64_t next_epoch() {
  static constinit std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // only uniqueness
}

namespace internal {

constinit thread_local ThreadState* own_thread_state = nullptr;

ThreadState& make_thread_state() {
  static thread_local constinit ThreadState state{};
  own_thread_state = &state;
  return state;
}

}  // namespace internal
}  // namespace tf::proxy
