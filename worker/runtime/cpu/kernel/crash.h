// SPDX-License-Identifier: Apache-2.0
// A kernel that crashes (accesses invalid memory, divides by zero) ends its grid, not the process.
//
// The process has one handler for the signals that report such faults. It acts only if the faulting thread is
// running a kernel: the thread continues at its CrashExit, on an empty stack, as if the kernel had ended
// there. All other signals go to the handler registered before ours. A handler that the program registers
// later comes before ours, and what it does counts. The handler does only async-signal-safe things. Memory
// that the kernel has corrupted stays corrupted, and a lock that it held (inside malloc) stays held.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tf::cpu {

struct Crash {
  int signal = 0;
  std::uintptr_t address = 0;  // SIGSEGV, SIGBUS: the faulting address, 0 if unknown
};

// Where a thread continues.
struct CrashExit {
  void (*go_on)(CrashExit* self) = nullptr;  // must never return
  void* stack_top = nullptr;                 // 16-byte aligned; memory below it is overwritten
  Crash crash;                               // written by the handler
};

namespace internal {
// Null if a crash concerns the whole process. The handler reads it only in threads that have called
// expect_crashes(). In others the first access would allocate it, since a library that may be loaded late
// cannot have it in the static block of thread-local memory.
extern constinit thread_local CrashExit* volatile crash_exit;
}  // namespace internal

// From now on a crash of the calling thread goes to `exit`; null: to the process.
inline void set_crash_exit(CrashExit* exit) { internal::crash_exit = exit; }

// Marks code of ours that a kernel calls: a crash in it is not the kernel's.
class OutsideKernel {
 public:
  OutsideKernel() : before_(internal::crash_exit) { set_crash_exit(nullptr); }
  ~OutsideKernel() { set_crash_exit(before_); }
  OutsideKernel(const OutsideKernel&) = delete;
  OutsideKernel& operator=(const OutsideKernel&) = delete;

 private:
  CrashExit* const before_;
};

// Call it before the calling thread runs kernels: installs the handler, with its own stack in this thread (a
// kernel may leave little of its own). False: no memory, or kThreadsMax running threads have called it; then
// crashes end the process as before.
inline constexpr std::size_t kThreadsMax = 4096;
bool expect_crashes();

}  // namespace tf::cpu
