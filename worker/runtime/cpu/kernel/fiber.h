// SPDX-License-Identifier: Apache-2.0
// Stacks that a thread switches between: one per HIP thread that has to wait for others of its block.
//
// A Fiber belongs to the OS thread that made it and is only used there. Known to the sanitizers
// (fiber_sanitizer.h). x86-64, System V ABI: as the code objects.
#pragma once

#include "worker/runtime/cpu/kernel/fiber_sanitizer.h"

#include <cstddef>

namespace tf::cpu {

inline constexpr std::size_t kFiberStackBytes = 256 * 1024;  // private arrays of a kernel live here
inline constexpr std::size_t kFiberGuardBytes = 4096;

class Fiber {
 public:
  using Body = void (*)(void* argument);

  // `body` starts at the first resume() and must never return: it ends by suspending for good.
  Fiber(Body body, void* argument) : body_(body), argument_(argument) {}
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Maps the stack; false when the system has no memory for it. Once, before resume().
  bool prepare();
  // Runs the fiber from where it stopped until it suspends. Called from the OS thread's own stack.
  void resume();
  // Back into resume(). Called on the fiber.
  void suspend();
  // Forgets what the fiber was doing: the next resume() starts the body anew. REQUIRES: suspended.
  void restart();

 private:
  Body body_;
  void* argument_;
  std::byte* mapping_ = nullptr;
  void* stack_pointer_ = nullptr;    // of the fiber, while suspended
  void* resumer_pointer_ = nullptr;  // of the OS thread, while the fiber runs
  sanitizer::FiberState sanitizer_;
};

}  // namespace tf::cpu
