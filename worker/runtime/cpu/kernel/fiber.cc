// SPDX-License-Identifier: Apache-2.0
// Stack switching; see fiber.h.
#include "worker/runtime/cpu/kernel/fiber.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// void tf_cpu_switch_stack(void** saved, void* next): pushes what a callee must preserve by the ABI
// (registers, and the rounding controls), stores the stack pointer in *saved, and continues from what `next`
// had saved.
asm(R"(
.text
.p2align 4
.globl tf_cpu_switch_stack
.hidden tf_cpu_switch_stack
.type tf_cpu_switch_stack, @function
tf_cpu_switch_stack:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
.size tf_cpu_switch_stack, .-tf_cpu_switch_stack
.p2align 4
.globl tf_cpu_fiber_entry
.hidden tf_cpu_fiber_entry
.type tf_cpu_fiber_entry, @function
tf_cpu_fiber_entry:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%rbx
  ud2
  .cfi_endproc
.size tf_cpu_fiber_entry, .-tf_cpu_fiber_entry
)");

extern "C" void tf_cpu_switch_stack(void** saved, void* next);
extern "C" void tf_cpu_fiber_entry();

namespace tf::cpu {
namespace {

// What tf_cpu_switch_stack pops, lowest address first.
struct SavedFrame {
  std::uint32_t mxcsr = 0x1f80;  // all exceptions masked, round to nearest
  std::uint32_t x87_control = 0x37f;
  std::uint64_t r15 = 0, r14 = 0, r13 = 0;
  void* r12 = nullptr;  // argument of the entry
  void* rbx = nullptr;  // the entry's function
  std::uint64_t rbp = 0;
  void* return_address = nullptr;
  std::uint64_t end_of_frames[2] = {};
};

}  // namespace

StackLimit::StackLimit() { asm volatile("movq %%fs:0x70, %0" : "=r"(before_)); }
StackLimit::~StackLimit() { asm volatile("movq %0, %%fs:0x70" : : "r"(before_) : "memory"); }

Fiber::~Fiber() {
  sanitizer::destroy(sanitizer_);
  if (body_ != nullptr) sanitizer::forget(sanitizer_, stack_, kFiberStackBytes);
}

void Fiber::bind(Body body, Crashed crashed, void* argument) {
  argument_ = argument;
  crashed_ = crashed;
  if (body_ == body) return;
  body_ = body;
  restart();
}

void Fiber::restart() {
  std::byte* const top = stack_ + kFiberStackBytes - skipped_bytes_;
  sanitizer::forget(sanitizer_, stack_, kFiberStackBytes);
  static_assert(sizeof(SavedFrame) % 16 == 0, "the entry starts with an aligned stack");
  SavedFrame frame;
  frame.r12 = this;
  frame.rbx = reinterpret_cast<void*>(+[](Fiber* self) {
    sanitizer::on_fiber(self->sanitizer_);
    self->body_(self);
  });
  frame.return_address = reinterpret_cast<void*>(&tf_cpu_fiber_entry);
  std::memcpy(top - sizeof frame, &frame, sizeof frame);
  stack_pointer_ = top - sizeof frame;
  crash_exit_ = {&Fiber::after_crash, top, {}};
}

void Fiber::after_crash(CrashExit* exit) {
  static_assert(std::is_standard_layout_v<Fiber> && offsetof(Fiber, crash_exit_) == 0);
  Fiber* const self = reinterpret_cast<Fiber*>(exit);
  sanitizer::on_emptied_stack(self->stack_, kFiberStackBytes);
  self->crashed_(self->argument_, exit->crash);
}

void Fiber::resume() {
  sanitizer::before_resume(sanitizer_, stack_, kFiberStackBytes);
  asm volatile("movq %0, %%fs:0x70" : : "r"(stack_ + kFiberReserveBytes) : "memory");
  set_crash_exit(&crash_exit_);
  tf_cpu_switch_stack(&resumer_pointer_, stack_pointer_);
  set_crash_exit(nullptr);
  sanitizer::after_resume(sanitizer_);
}

void Fiber::suspend() {
  sanitizer::before_suspend(sanitizer_);
  tf_cpu_switch_stack(&stack_pointer_, resumer_pointer_);
  sanitizer::on_fiber(sanitizer_);
}

}  // namespace tf::cpu
