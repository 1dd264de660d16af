// SPDX-License-Identifier: Apache-2.0
// Stacks that an OS thread switches between: one per HIP thread that must wait for others of its block.
//
// One OS thread at a time uses a Fiber; the next one sees everything done before (the pool's mutex). The
// sanitizers know about fibers (fiber_sanitizer.h). x86-64, System V ABI, like the code objects.
//
// There is no guard page below each stack: it would cost a mapping, and a process may have 65530. Functions
// of a code object compare the stack pointer with a limit on entry (LLVM's "split-stack", ir.py), and a
// kernel that needs more fails. Functions that they call without this check (libm, the executor) have
// kFiberReserveBytes.
#pragma once

#include "worker/runtime/cpu/kernel/crash.h"
#include "worker/runtime/cpu/kernel/fiber_sanitizer.h"

#include <cstddef>

namespace tf::cpu {

inline constexpr std::size_t kFiberStackBytes = 256 * 1024;  // a kernel's private arrays live here
inline constexpr std::size_t kFiberReserveBytes = 16 * 1024;

// Where "split-stack" functions find the limit: a word that the C library reserves for it in every thread's
// control block (__private_ss of glibc's tcbhead_t; LLVM, X86FrameLowering::adjustForSegmentedStacks).
// resume() sets it. A thread that resumes fibers keeps one of these objects meanwhile, which restores the
// thread's own limit.
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

  // Sets the next user. A suspended body continues where it was, with the new argument; a body starts anew
  // only if the fiber has none yet. A body never returns: it ends by suspending for good. If it crashes,
  // `crashed` runs in its place on the fiber, and also suspends for good.
  void bind(Body body, Crashed crashed, void* argument);
  void* argument() const { return argument_; }
  // Runs the fiber from where it stopped until it suspends. Called from the OS thread's own stack.
  void resume();
  // Returns into resume(). Called on the fiber.
  void suspend();
  // Drops the fiber's current work: the next resume() starts the body anew. REQUIRES: suspended.
  void restart();

 private:
  // Where a crash leads; the first member, so that it leads back to its fiber.
  static void after_crash(CrashExit* exit);

  CrashExit crash_exit_;
  std::byte* const stack_;
  const std::size_t skipped_bytes_;
  Body body_ = nullptr;
  Crashed crashed_ = nullptr;
  void* argument_ = nullptr;
  void* stack_pointer_ = nullptr;    // of the fiber, while suspended
  void* resumer_pointer_ = nullptr;  // the OS thread's, while the fiber runs
  sanitizer::FiberState sanitizer_;
};

}  // namespace tf::cpu
