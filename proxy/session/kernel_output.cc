// SPDX-License-Identifier: Apache-2.0
// Writes kernels' output where the program's own goes.
#include "proxy/session/kernel_output.h"

#include <signal.h>

#include <cstdio>

namespace tf::proxy {
namespace {

// Takes SIGPIPE for as long as it lives, which the library's threads otherwise leave to others: a program
// whose output nobody reads ends by it, as natively.
class TakesPipeSignal {
 public:
  TakesPipeSignal() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &pipe, &before_);
  }
  TakesPipeSignal(const TakesPipeSignal&) = delete;
  TakesPipeSignal& operator=(const TakesPipeSignal&) = delete;
  ~TakesPipeSignal() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// The library's one place that prints there: it is the program's output, not its own.
void write_to(std::FILE* file, std::span<const char> text) {
  if (file == nullptr) return;
  const TakesPipeSignal signal;
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), file));
  static_cast<void>(std::fflush(file));
}

}  // namespace

void KernelOutput::settle(std::uint64_t starts) {
  std::uint64_t settled = settled_.load(std::memory_order_relaxed);
  while (settled < starts && !settled_.compare_exchange_weak(settled, starts, std::memory_order_relaxed)) {
  }
}

void KernelOutput::await(std::uint32_t printed) {
  // Acquire: pairs with note_written(), for what the program reads of its own streams.
  if (reaches(written_.load(std::memory_order_acquire), printed)) return;
  const MutexLock lock(mutex_);
  changed_.wait(mutex_, [&]() TF_REQUIRES(mutex_) {
    return ended_ || reaches(written_.load(std::memory_order_relaxed), printed);
  });
}

void KernelOutput::note_written(std::size_t bytes) {
  const MutexLock lock(mutex_);
  written_.fetch_add(bytes, std::memory_order_release);
  changed_.notify_all();
}

void KernelOutput::write_out(std::span<const char> text) {
  write_to(stdout, text);
  note_written(text.size());
}

void KernelOutput::write_error(std::span<const char> text) {
  write_to(stderr, text);
  note_written(text.size());
}

void KernelOutput::end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace tf::proxy
