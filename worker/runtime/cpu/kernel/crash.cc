// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/kernel/crash.h"

#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <memory>
#include <new>

namespace tf::cpu {

constinit thread_local CrashExit* volatile internal::crash_exit = nullptr;

namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
// Room for the registers that the kernel saves (AVX-512: about 3 KiB) and for a program's own handler.
constexpr std::size_t kSignalStackBytes = 64 * 1024;
constexpr greg_t kFlagsOfACall =
    ~greg_t{0x100 | 0x400 | 0x40000};  // no single step, direction, alignment check

// Of kSignals, before ours. Written once, before the handler is there.
std::array<struct sigaction, kSignals.size()> earlier;

// As if we were not there: whoever was registered before is called, or the process ends.
void hand_on(int signal, siginfo_t* info, void* context) {
  std::size_t index = 0;
  while (index + 1 < kSignals.size() && kSignals[index] != signal) ++index;
  const struct sigaction& before = earlier[index];
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  const bool by_processor = info->si_code > 0;
  if (before.sa_handler == SIG_IGN && !by_processor) return;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  struct sigaction end = {};
  end.sa_handler = SIG_DFL;
  ::sigaction(signal, &end, nullptr);
  // The instruction is executed once more; what somebody has sent is sent once more.
  if (!by_processor) static_cast<void>(::raise(signal));
}

void on_signal(int signal, siginfo_t* info, void* context) {
  CrashExit* const exit = internal::crash_exit;
  if (exit == nullptr || info->si_code <= 0) return hand_on(signal, info, context);  // not by the processor
  internal::crash_exit = nullptr;
  exit->crash = {signal, reinterpret_cast<std::uintptr_t>(info->si_addr)};
  // Returning from here enters go_on(exit), as a call would: the stack is 8 off.
  void** const top = static_cast<void**>(exit->stack_top) - 1;
  *top = nullptr;
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RSP] = reinterpret_cast<greg_t>(top);
  registers[REG_RIP] = reinterpret_cast<greg_t>(exit->go_on);
  registers[REG_RDI] = reinterpret_cast<greg_t>(exit);
  registers[REG_EFL] &= kFlagsOfACall;
}

bool install() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    if (::sigaction(kSignals[i], nullptr, &earlier[i]) != 0) return false;
  struct sigaction ours = {};
  ours.sa_sigaction = &on_signal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  for (const int signal : kSignals)
    if (::sigaction(signal, &ours, nullptr) != 0) return false;
  return true;
}

// The stack for handlers of a thread that has none yet.
class SignalStack {
 public:
  SignalStack() {
    stack_t now = {};
    if (::sigaltstack(nullptr, &now) != 0) return;
    ready_ = (now.ss_flags & SS_DISABLE) == 0;
    if (ready_) return;
    memory_.reset(new (std::nothrow) std::byte[kSignalStackBytes]);
    if (!memory_) return;
    stack_t own = {};
    own.ss_sp = memory_.get();
    own.ss_size = kSignalStackBytes;
    ready_ = ::sigaltstack(&own, nullptr) == 0;
  }
  ~SignalStack() {
    stack_t now = {};
    if (!memory_ || ::sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_.get()) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

  bool ready() const { return ready_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  bool ready_ = false;
};

}  // namespace

bool expect_crashes() {
  static const bool installed = install();
  static thread_local const SignalStack stack;
  return installed && stack.ready();
}

}  // namespace tf::cpu
