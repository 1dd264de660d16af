// SPDX-License-Identifier: Apache-2.0
// A kernel that crashes (touches memory that is not there, divides by zero) ends its grid, not the process.
//
// One handler for the process, of the signals by which the processor says so. It acts only where the thread
// that crashed runs a kernel just then: the thread goes on at its CrashExit, on an empty stack, as if the
// kernel had ended there. Every other signal goes to whoever was registered before. A handler that the
// program registers later comes before ours, and what it does counts. Only async-signal-safe things are done
// in the handler; memory that the kernel has destroyed stays destroyed, and a lock that it held (inside
// malloc) stays held.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tf::cpu {

struct Crash {
  int signal = 0;
  std::uintptr_t address = 0;  // SIGSEGV, SIGBUS: that was touched, 0 when the processor does not tell
};

// Where a thread goes on.
struct CrashExit {
  void (*go_on)(CrashExit* self) = nullptr;  // must never return
  void* stack_top = nullptr;                 // 16-byte aligned; what lies below is overwritten
  Crash crash;                               // written by the handler
};

namespace internal {
// Null where a crash is nobody's but the process's. The handler looks at it only in threads that have called
// expect_crashes(): in others the first look would allocate it, since a library that may be loaded late
// cannot have it in the static block of thread-local memory.
extern constinit thread_local CrashExit* volatile crash_exit;
}  // namespace internal

// A crash of the calling thread goes to `exit` from now on; null: to the process.
inline void set_crash_exit(CrashExit* exit) { internal::crash_exit = exit; }

// Code of ours that a kernel calls, in which a crash is not the kernel's.
class OutsideKernel {
 public:
  OutsideKernel() : before_(internal::crash_exit) { set_crash_exit(nullptr); }
  ~OutsideKernel() { set_crash_exit(before_); }
  OutsideKernel(const OutsideKernel&) = delete;
  OutsideKernel& operator=(const OutsideKernel&) = delete;

 private:
  CrashExit* const before_;
};

// Before the calling thread runs kernels: the handler is there, and has a stack of its own in this thread (of
// a kernel's there may be little left). False: no memory, or kThreadsMax threads have called it that still
// run; crashes then end the process as before.
inline constexpr std::size_t kThreadsMax = 4096;
bool expect_crashes();

}  // namespace tf::cpu
