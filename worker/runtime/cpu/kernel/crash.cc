// SPDX-License-Identifier: Apache-2.0
// The signal handler that turns a kernel's crash into an error.
#include "worker/runtime/cpu/kernel/crash.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace tf::cpu {

constinit thread_local CrashExit* volatile internal::crash_exit = nullptr;

namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
// Room for the registers that the kernel saves (AVX-512: about 3 KiB) and for a program's own handler.
constexpr std::size_t kSignalStackBytes = 64 * 1024;
// No single step, no direction, no alignment check.
constexpr greg_t kFlagsOfACall = ~greg_t{0x100 | 0x400 | 0x40000};

// The handlers of kSignals before ours. Written once, before our handler is installed.
std::array<struct sigaction, kSignals.size()> earlier;

// The threads that have called expect_crashes(), 0: a free slot. Relaxed: a thread looks for itself only.
std::array<std::atomic<pid_t>, kThreadsMax> threads;

bool replace_thread(pid_t before, pid_t now) {
  for (std::atomic<pid_t>& slot : threads) {
    pid_t expected = before;
    if (slot.load(std::memory_order_relaxed) == before &&
        slot.compare_exchange_strong(expected, now, std::memory_order_relaxed))
      return true;
  }
  return false;
}

bool is_known_thread(pid_t thread) {
  for (const std::atomic<pid_t>& slot : threads)
    if (slot.load(std::memory_order_relaxed) == thread) return true;
  return false;
}

// Acts as if we did not exist: calls the handler registered before, or lets the process end.
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
  // The instruction runs again; a signal that somebody sent is sent again.
  if (!by_processor) static_cast<void>(::raise(signal));
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const bool by_processor = info->si_code > 0;
  CrashExit* const exit = by_processor && is_known_thread(::gettid()) ? internal::crash_exit : nullptr;
  if (exit == nullptr) return hand_on(signal, info, context);
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

// What the handler needs from a thread: it is known, and it has a stack.
class CrashingThread {
 public:
  CrashingThread() : known_(replace_thread(0, ::gettid())) {
    if (!known_) return;
    set_crash_exit(nullptr);  // allocates it
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
  ~CrashingThread() {
    if (known_) replace_thread(::gettid(), 0);
    stack_t now = {};
    if (!memory_ || ::sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_.get()) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  CrashingThread(const CrashingThread&) = delete;
  CrashingThread& operator=(const CrashingThread&) = delete;

  bool ready() const { return ready_; }

 private:
  const bool known_;
  std::unique_ptr<std::byte[]> memory_;
  bool ready_ = false;
};

}  // namespace

bool expect_crashes() {
  static const bool installed = install();
  static thread_local const CrashingThread thread;
  return installed && thread.ready();
}

}  // namespace tf::cpu
