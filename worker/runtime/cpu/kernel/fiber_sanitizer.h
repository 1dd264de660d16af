// SPDX-License-Identifier: Apache-2.0
// Tells AddressSanitizer and ThreadSanitizer about stack switches; empty functions in other builds. All code
// about sanitizers is in this file. One OS thread at a time uses a FiberState.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TF_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TF_FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TF_FIBER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TF_FIBER_TSAN 1
#endif
#endif

#if defined(TF_FIBER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TF_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace tf::cpu::sanitizer {

struct FiberState {
  void* own_fake_stack = nullptr;
  void* resumer_fake_stack = nullptr;
  const void* resumer_bottom = nullptr;
  std::size_t resumer_bytes = 0;
  void* own_tsan = nullptr;
  void* resumer_tsan = nullptr;
};

// Limit for launches at one time. ThreadSanitizer supports 8128 "threads", and each of them costs it about a
// megabyte. A sanitizer maps memory for each stack, and keeps it.
#if defined(TF_FIBER_TSAN)
inline constexpr unsigned kMostFibers = 1024;
#else
inline constexpr unsigned kMostFibers = 16384;
#endif
// A sanitizer maps memory of its own for each stack, and keeps it.
#if defined(TF_FIBER_ASAN) || defined(TF_FIBER_TSAN)
inline constexpr bool kKeepsMemory = true;
#else
inline constexpr bool kKeepsMemory = false;
#endif

#if defined(TF_FIBER_ASAN)
inline void before_resume(FiberState& s, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(&s.resumer_fake_stack, bottom, bytes);
}
inline void after_resume(FiberState& s) {
  __sanitizer_finish_switch_fiber(s.resumer_fake_stack, nullptr, nullptr);
}
inline void on_fiber(FiberState& s) {
  __sanitizer_finish_switch_fiber(s.own_fake_stack, &s.resumer_bottom, &s.resumer_bytes);
}
inline void before_suspend(FiberState& s) {
  __sanitizer_start_switch_fiber(&s.own_fake_stack, s.resumer_bottom, s.resumer_bytes);
}
inline void forget(FiberState& s, const void* bottom, std::size_t bytes) {
  s.own_fake_stack = nullptr;
  __asan_unpoison_memory_region(bottom, bytes);
}
inline void on_emptied_stack(const void* bottom, std::size_t bytes) {
  __asan_unpoison_memory_region(bottom, bytes);
}
inline void destroy(FiberState&) {}
#elif defined(TF_FIBER_TSAN)
inline void before_resume(FiberState& s, const void*, std::size_t) {
  s.resumer_tsan = __tsan_get_current_fiber();
  if (s.own_tsan == nullptr) s.own_tsan = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(s.own_tsan, 0);
}
inline void after_resume(FiberState&) {}
inline void on_fiber(FiberState&) {}
inline void before_suspend(FiberState& s) { __tsan_switch_to_fiber(s.resumer_tsan, 0); }
inline void destroy(FiberState& s) {
  if (s.own_tsan != nullptr) __tsan_destroy_fiber(s.own_tsan);
  s.own_tsan = nullptr;
}
inline void forget(FiberState& s, const void*, std::size_t) { destroy(s); }
inline void on_emptied_stack(const void*, std::size_t) {}
#else
inline void before_resume(FiberState&, const void*, std::size_t) {}
inline void after_resume(FiberState&) {}
inline void on_fiber(FiberState&) {}
inline void before_suspend(FiberState&) {}
inline void forget(FiberState&, const void*, std::size_t) {}
inline void on_emptied_stack(const void*, std::size_t) {}
inline void destroy(FiberState&) {}
#endif

}  // namespace tf::cpu::sanitizer
