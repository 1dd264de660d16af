// SPDX-License-Identifier: Apache-2.0
// Stacks that a thread switches between: one per HIP thread that has to wait for others of its block.
//
// One OS thread at a time uses a Fiber; who takes it over sees what was done before (the pool's mutex). Known
// to the sanitizers (fiber_sanitizer.h). x86-64, System V ABI: as the code objects.
//
// No guard page lies below each stack: it would cost a mapping, of which a process may have 65530. Functions
// of a code object compare the stack pointer with a limit when they begin ("split-stack" of LLVM, ir.py), and
// a kernel that needs more fails. What they call without such a check (libm, the executor) has
// kFiberReserveBytes.
#pragma once

#include "worker/runtime/cpu/kernel/crash.h"
#include "worker/runtime/cpu/kernel/fiber_sanitizer.h"

#include <cstddef>

namespace tf::cpu {

inline constexpr std::size_t kFiberStackBytes = 256 * 1024;  // private arrays of a kernel live here
inline constexpr std::size_t kFiberReserveBytes = 16 * 1024;

// Where functions with "split-stack" find the limit: a word that the C library keeps for it in every thread's
// control block (__private_ss of glibc's tcbhead_t; LLVM, X86FrameLowering::adjustForSegmentedStacks).
// resume() sets it; who resumes fibers keeps one of these around that, and the thread has its own limit
// again.
class StackLimit {
 public:
  StackLimit();
  ~StackLimit();
  StackLimit(const StackLimit&) = delete;
  StackLimit& operator=(const StackLimit&) = delete;

 private:
  const void* before_;
};

class Fiber {
 public:
  using Body = void (*)(Fiber* self);
  using Crashed = void (*)(void* argument, const Crash& crash);

  // `stack` has kFiberStackBytes and outlives the fiber. The first `skipped_bytes` from its top stay unused.
  Fiber(std::byte* stack, std::size_t skipped_bytes) : stack_(stack), skipped_bytes_(skipped_bytes) {}
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Who uses it next. A body that is suspended goes on where it was, and finds the new argument; it starts
  // anew only where the fiber has none yet. A body never returns: it ends by suspending for good. When it
  // crashes, `crashed` takes its place on the fiber and suspends for good, too.
  void bind(Body body, Crashed crashed, void* argument);
  void* argument() const { return argument_; }
  // Runs the fiber from where it stopped until it suspends. Called from the OS thread's own stack.
  void resume();
  // Back into resume(). Called on the fiber.
  void suspend();
  // Forgets what the fiber was doing: the next resume() starts the body anew. REQUIRES: suspended.
  void restart();

 private:
  // What a crash leads to; the first member, so that it leads back to its fiber.
  static void after_crash(CrashExit* exit);

  CrashExit crash_exit_;
  std::byte* const stack_;
  const std::size_t skipped_bytes_;
  Body body_ = nullptr;
  Crashed crashed_ = nullptr;
  void* argument_ = nullptr;
  void* stack_pointer_ = nullptr;    // of the fiber, while suspended
  void* resumer_pointer_ = nullptr;  // of the OS thread, while the fiber runs
  sanitizer::FiberState sanitizer_;
};

}  // namespace tf::cpu
