// SPDX-License-Identifier: Apache-2.0
// Loads without HIP: what the kernel alone makes of as many processes as there are clients.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "benchmarks/hip_load/loads.h"
#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr int kRoundsPerStep = 2000;  // some microseconds

void compute() {
  for (int round = 0; round < kRoundsPerStep; ++round) asm volatile("" : : "r"(round));
}

template <typename Step>
LoadFigures steps_for(double seconds, Step step) {
  const Samples steps = repeat(seconds, 1, SIZE_MAX, step);
  return {.operations = steps.count(),
          .seconds = seconds,
          .p50_ns = steps.median() * 1e9,
          .p99_ns = steps.quantile(0.99) * 1e9};
}

class Compute final : public Load {
 public:
  explicit Compute(const LoadOptions& options) : seconds_(options.seconds) {}
  LoadFigures run() override { return steps_for(seconds_, compute); }

 private:
  double seconds_;
};

// Two processes that wait for each other, as a client and its session do.
class Turns final : public Load {
 public:
  explicit Turns(const LoadOptions& options) : seconds_(options.seconds) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
    child_ = ::fork();
    if (child_ < 0) fail("fork");
    if (child_ == 0) {
      ::close(ends[0]);
      answer(ends[1]);
    }
    ::close(ends[1]);
    end_ = ends[0];
  }
  ~Turns() override {
    ::close(end_);
    ::waitpid(child_, nullptr, 0);
  }
  LoadFigures run() override {
    return steps_for(seconds_, [this] {
      compute();
      if (!pass_on(end_, true) || !pass_on(end_, false)) fail("a turn");
    });
  }

 private:
  static constexpr std::size_t kMessageBytes = 64;

  [[noreturn]] static void fail(const char* what) {
    std::perror(what);
    std::_Exit(1);
  }
  static bool pass_on(int end, bool out) {
    std::array<char, kMessageBytes> message{};
    const ssize_t passed =
        out ? ::write(end, message.data(), message.size()) : ::read(end, message.data(), message.size());
    return passed == static_cast<ssize_t>(message.size());
  }
  [[noreturn]] static void answer(int end) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (pass_on(end, false)) {
      compute();
      if (!pass_on(end, true)) break;
    }
    std::_Exit(0);
  }

  double seconds_;
  int end_ = -1;
  pid_t child_ = -1;
};

}  // namespace

Load* make_compute(const LoadOptions& options) { return new Compute(options); }
Load* make_turns(const LoadOptions& options) { return new Turns(options); }

}  // namespace tf::bench
