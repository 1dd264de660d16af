// SPDX-License-Identifier: Apache-2.0
// The program of the fault tests: an ordinary HIP program, one scenario per run (first argument). It says on
// standard output where it is, a line at a time, so that the driver can strike at the right moment, and it
// ends by itself with what its calls returned.
#include <hip/hip_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/faults/scenarios.h"

// The code object, as hipcc-cpu --genco --emit-bundle wrote it.
asm(".section .rodata\n.p2align 12\n.globl kernel_image\nkernel_image:\n.incbin \"" KERNEL_FILE
    "\"\n.previous\n");
extern "C" const char kernel_image[];

namespace faults {
namespace {

constexpr int kLaterCalls = 1000;

}  // namespace

void say(const char* what, long value, long more) {
  std::printf("%s %ld %ld\n", what, value, more);
  std::fflush(stdout);
}

long milliseconds_since(Clock::time_point start) {
  return static_cast<long>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count());
}

// What every scenario ends with once a call has failed: later calls fail too, and at once.
int report_loss(hipError_t error) {
  say("error", error);
  const auto start = Clock::now();
  int failed = 0;
  for (int call = 0; call < kLaterCalls; ++call) {
    void* memory = nullptr;
    failed += hipMalloc(&memory, 64) != hipSuccess ? 1 : 0;
    failed += hipDeviceSynchronize() != hipSuccess ? 1 : 0;
  }
  say("later", failed, milliseconds_since(start));
  return 0;
}

hipError_t launch(const char* kernel, void** arguments) {
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  hipError_t error = hipModuleLoadData(&module, kernel_image);
  if (error == hipSuccess) error = hipModuleGetFunction(&function, module, kernel);
  if (error == hipSuccess)
    error = hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  return error;
}

hipError_t launch(unsigned long long steps) {
  void* memory = nullptr;
  if (const hipError_t error = hipMalloc(&memory, 4096); error != hipSuccess) return error;
  void* arguments[] = {&memory, &steps};
  return launch("spin", arguments);
}

}  // namespace faults

namespace {

using namespace faults;

int hello() {
  void* memory = nullptr;
  int sent = 42;
  int back = 0;
  const auto start = Clock::now();
  const hipError_t error = hipMalloc(&memory, sizeof sent);
  if (error != hipSuccess) {
    say("failed", error, milliseconds_since(start));
    return 3;
  }
  if (hipMemcpy(memory, &sent, sizeof sent, hipMemcpyHostToDevice) != hipSuccess) return 4;
  if (hipMemcpy(&back, memory, sizeof back, hipMemcpyDeviceToHost) != hipSuccess) return 4;
  say("hello", back);
  return back == sent ? 0 : 5;
}

// Holds device memory until the driver sends a line, then uses it.
int hold(std::size_t bytes) {
  void* memory = nullptr;
  const hipError_t error = hipMalloc(&memory, bytes);
  say("holding", error);
  if (error != hipSuccess) return 3;
  for (;;) {
    const int letter = std::getchar();
    if (letter == EOF) return 0;
    if (letter != '\n') continue;
    const hipError_t after = hipMemset(memory, 1, bytes);
    const hipError_t synchronized = hipDeviceSynchronize();
    if (after != hipSuccess || synchronized != hipSuccess)
      return report_loss(after != hipSuccess ? after : synchronized);
    say("alive");
  }
}

// Writes numbers of its own into device memory whenever the driver sends a line, and reads them back when it
// sends the next one: what other sessions did in between must not show.
int own(std::uint32_t mark) {
  std::vector<std::uint32_t> sent(1 << 18);
  std::vector<std::uint32_t> back(sent.size());
  const std::size_t bytes = sent.size() * sizeof sent[0];
  void* memory = nullptr;
  if (hipMalloc(&memory, bytes) != hipSuccess) return 3;
  for (std::uint32_t round = 0;; ++round) {
    std::iota(sent.begin(), sent.end(), mark * 1000003u + round);
    if (const hipError_t error = hipMemcpy(memory, sent.data(), bytes, hipMemcpyHostToDevice);
        error != hipSuccess)
      return report_loss(error);
    say("own", round);
    if (std::getchar() == EOF) return 0;
    if (const hipError_t error = hipMemcpy(back.data(), memory, bytes, hipMemcpyDeviceToHost);
        error != hipSuccess)
      return report_loss(error);
    if (back != sent) return 5;
  }
}

int copy(std::size_t bytes, hipMemcpyKind kind) {
  void* memory = nullptr;
  std::vector<char> host(bytes, 'x');
  if (hipMalloc(&memory, bytes) != hipSuccess) return 3;
  const bool in = kind == hipMemcpyHostToDevice;
  for (long round = 0;; ++round) {
    if (round == 1) say("copying");  // one whole copy has gone through
    const hipError_t error =
        in ? hipMemcpy(memory, host.data(), bytes, kind) : hipMemcpy(host.data(), memory, bytes, kind);
    if (error != hipSuccess) return report_loss(error);
  }
}

// Everything that uses the lanes, in turn: payload both ways, posts, and calls that are answered.
int rounds(std::size_t bytes) {
  void* memory = nullptr;
  std::vector<char> host(bytes, 'x');
  if (hipMalloc(&memory, bytes) != hipSuccess) return 3;
  for (long round = 0;; ++round) {
    if (round == 3) say("round");
    hipError_t error = hipMemcpy(memory, host.data(), bytes, hipMemcpyHostToDevice);
    if (error == hipSuccess) error = hipMemcpy(host.data(), memory, bytes, hipMemcpyDeviceToHost);
    if (error == hipSuccess) error = hipMemset(memory, 'x', bytes);
    if (error == hipSuccess) error = hipDeviceSynchronize();
    if (error != hipSuccess) return report_loss(error);
  }
}

// The same for payload, whose every byte is compared. Tells each round.
int checked(std::size_t bytes) {
  void* memory = nullptr;
  std::vector<std::uint64_t> sent(bytes / sizeof(std::uint64_t));
  std::vector<std::uint64_t> got(sent.size());
  if (hipMalloc(&memory, bytes) != hipSuccess) return 3;
  for (std::uint64_t word = 1;;) {
    for (std::uint64_t& each : sent) each = word = word * 6364136223846793005U + 1442695040888963407U;
    hipError_t error = hipMemcpy(memory, sent.data(), bytes, hipMemcpyHostToDevice);
    if (error == hipSuccess) error = hipMemcpy(got.data(), memory, bytes, hipMemcpyDeviceToHost);
    if (error != hipSuccess) return report_loss(error);
    say(got == sent ? "checked" : "wrong");
  }
}

int kernel(unsigned long long steps) {
  hipError_t error = launch(steps);
  if (error != hipSuccess) return 3;
  while (hipStreamQuery(nullptr) == hipSuccess) std::this_thread::yield();
  say("running");
  error = hipDeviceSynchronize();
  if (error != hipSuccess) return report_loss(error);
  say("done");
  return 0;
}

// A kernel writes where nothing is. The process goes on, and says what its calls return.
int crash() {
  void* nowhere = reinterpret_cast<void*>(64);
  unsigned long long steps = 1;
  void* arguments[] = {&nowhere, &steps};
  const hipError_t error = launch("spin", arguments);
  if (error != hipSuccess) return 3;
  say("crashed", hipDeviceSynchronize());
  say("again", hipStreamQuery(nullptr), hipGetLastError());
  return 0;
}

// The process ends while other threads are inside HIP calls.
int exit_with_threads() {
  for (int index = 0; index < 8; ++index) {
    std::thread([index] {
      void* memory = nullptr;
      std::vector<char> host(1 << 20);
      if (hipMalloc(&memory, host.size()) != hipSuccess) return;
      for (;;) {
        if (hipMemcpy(memory, host.data(), host.size(), hipMemcpyHostToDevice) != hipSuccess) return;
        if (index % 2 == 0 && hipDeviceSynchronize() != hipSuccess) return;
      }
    }).detach();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  say("exiting");
  return 0;
}

int forked_child() {
  void* memory = nullptr;
  const hipError_t first = hipMalloc(&memory, 64);
  const hipError_t second = hipDeviceSynchronize();
  say("child", first, second);
  return 0;
}

int fork_after_use() {
  if (hello() != 0) return 3;
  const pid_t child = ::fork();
  if (child == 0) std::exit(forked_child());
  int status = 0;
  ::waitpid(child, &status, 0);
  say("child_ended", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return hello();
}

// The child outlives its parent, with the descriptors that it got.
int fork_and_wait() {
  if (hello() != 0) return 3;
  const pid_t child = ::fork();
  if (child == 0) {
    while (::getppid() != 1) ::usleep(20'000);
    ::sleep(30);
    ::_exit(0);
  }
  say("forked", child);
  ::pause();
  return 0;
}

// Posts more than any queue holds, from many threads, each with a stream of its own: every other one launches
// kernels that count, the rest copies both ways.
class Flood {
 public:
  explicit Flood(int threads) : threads_(threads) {}

  int run() {
    hipModule_t module = nullptr;
    if (hipModuleLoadData(&module, kernel_image) != hipSuccess ||
        hipModuleGetFunction(&count_, module, "spin") != hipSuccess)
      return 3;
    std::vector<std::thread> threads;
    for (int index = 0; index < threads_; ++index)
      threads.emplace_back([this, index] { index % 2 == 0 ? launch_many() : copy_many(index); });
    while (ready_ < threads_) std::this_thread::yield();
    say("ready");
    for (int letter = 0; letter != '\n' && letter != EOF;) letter = std::getchar();
    go_ = true;
    watch();
    for (std::thread& thread : threads) thread.join();
    say("flooded", failed_, wrong_);
    return failed_ + wrong_ == 0 ? 0 : 4;
  }

 private:
  static constexpr long kLaunches = 4000;  // of a thread; three fill a ring of 1 MiB
  static constexpr long kCopies = 100;     // and back
  static constexpr std::size_t kCopyBytes = 192 << 10;

  // Says so when nothing has gone on for a while.
  void watch() {
    const long total = (threads_ + 1) / 2 * kLaunches + threads_ / 2 * kCopies * 2;
    long before = -1;
    for (int same = 0; ended_ < threads_ && same < 10;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const long now = posted_;
      same = now == before ? same + 1 : 0;
      before = now;
      if (same == 10) say("stuck", now, total);
    }
  }
  bool post(hipError_t error) {
    ++posted_;
    if (error != hipSuccess) ++failed_;
    return error == hipSuccess;
  }
  // This thread's stream and memory; then all begin at once.
  bool begin(hipStream_t& stream, void** memory, std::size_t bytes) {
    const bool made = hipStreamCreate(&stream) == hipSuccess && hipMalloc(memory, bytes) == hipSuccess &&
                      hipMemset(*memory, 0, bytes) == hipSuccess && hipDeviceSynchronize() == hipSuccess;
    if (!made) ++failed_;
    ++ready_;
    while (!go_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return made;
  }

  void launch_many() {
    hipStream_t stream = nullptr;
    void* memory = nullptr;
    unsigned long long steps = 1, counted = 0;
    void* arguments[] = {&memory, &steps};
    bool fine = begin(stream, &memory, sizeof counted);
    for (long index = 0; fine && index < kLaunches; ++index)
      fine = post(hipModuleLaunchKernel(count_, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    if (fine) fine = hipStreamSynchronize(stream) == hipSuccess;
    if (fine) fine = hipMemcpy(&counted, memory, sizeof counted, hipMemcpyDeviceToHost) == hipSuccess;
    if (fine && counted != kLaunches) ++wrong_;
    finish(fine);
  }

  void copy_many(int index) {
    hipStream_t stream = nullptr;
    void* memory = nullptr;
    std::vector<char> source(kCopyBytes), back(kCopyBytes);
    bool fine = begin(stream, &memory, kCopyBytes);
    for (long round = 0; fine && round < kCopies; ++round) {
      for (std::size_t at = 0; at < kCopyBytes; ++at)
        source[at] = static_cast<char>(at * 7 + static_cast<std::size_t>(round * 31 + index));
      fine = post(hipMemcpyAsync(memory, source.data(), kCopyBytes, hipMemcpyHostToDevice, stream)) &&
             post(hipMemcpyAsync(back.data(), memory, kCopyBytes, hipMemcpyDeviceToHost, stream));
      if (fine) fine = hipStreamSynchronize(stream) == hipSuccess;
      if (fine && back != source) ++wrong_;
    }
    finish(fine);
  }

  void finish(bool fine) {
    if (!fine) ++failed_;
    ++ended_;
  }

  const int threads_;
  hipFunction_t count_ = nullptr;
  std::atomic<int> ready_{0}, ended_{0};
  std::atomic<bool> go_{false};
  std::atomic<long> posted_{0}, failed_{0}, wrong_{0};
};

// Loads a file under its own name; says what came of it.
int load(const char* path) {
  hipModule_t module = nullptr;
  say("loaded", hipModuleLoad(&module, path));
  return hello();
}

// HIP is called by destructors of statics, registered before the library's first use.
struct AtTheEnd {
  bool wanted = false;
  ~AtTheEnd() {
    if (!wanted) return;
    void* memory = nullptr;
    const hipError_t error = hipMalloc(&memory, 64);
    say("destructor", error, hipDeviceSynchronize());
    static_cast<void>(hipFree(memory));
  }
};
AtTheEnd at_the_end;

int static_destructors() {
  at_the_end.wanted = true;
  std::atexit([] { say("atexit", hipDeviceSynchronize()); });
  return hello();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "";
  const char* text = argc > 2 ? argv[2] : "0";
  const std::size_t number = std::strtoull(text, nullptr, 10);
  if (scenario == "hello") return hello();
  if (scenario == "hold") return hold(number);
  if (scenario == "own") return own(static_cast<std::uint32_t>(number));
  if (scenario == "copy-in") return copy(number, hipMemcpyHostToDevice);
  if (scenario == "copy-out") return copy(number, hipMemcpyDeviceToHost);
  if (scenario == "rounds") return rounds(number);
  if (scenario == "checked") return checked(number);
  if (scenario == "kernel") return kernel(number);
  if (scenario == "crash") return crash();
  if (scenario == "threads") return exit_with_threads();
  if (scenario == "fork") return fork_after_use();
  if (scenario == "fork-and-wait") return fork_and_wait();
  if (scenario == "static") return static_destructors();
  if (scenario == "load") return load(text);
  if (scenario.starts_with("busy-")) return busy(argv[1], number, std::atol(argc > 3 ? argv[3] : "0"));
  if (scenario == "closed") return closed(static_cast<int>(number));
  if (scenario == "exhaust") return exhaust();
  if (scenario == "attack-process") return attack_process(static_cast<long>(number));
  if (scenario == "attack-file") return attack_file(text);
  if (scenario == "attack-descriptor") return attack_descriptor(static_cast<long>(number));
  if (scenario == "attack-system") return attack_system();
  if (scenario == "attack-log") return attack_log(text, argc > 3 ? std::atol(argv[3]) : 1);
  if (scenario == "attack-see") return attack_see(text);
  if (scenario == "attack-bomb") return attack_bomb(static_cast<long>(number));
  if (scenario == "attack-fill") return attack_fill(text, argc > 3 ? std::atol(argv[3]) : 1);
  if (scenario == "attack-write") return attack_write(text, argc > 3 ? argv[3] : "");
  if (scenario == "attack-burn")
    return attack_burn(static_cast<long>(number), static_cast<unsigned>(std::atol(argc > 3 ? argv[3] : "1")));
  if (scenario == "attack-stay") return attack_stay();
  if (scenario == "memory") return take_memory(text, std::strtoull(argc > 3 ? argv[3] : "0", nullptr, 10));
  if (scenario == "devices") return tell_devices();
  if (scenario == "streams") return make_streams(static_cast<long>(number));
  if (scenario == "fill") return fill_queue();
  if (scenario == "latency") return measure_latency(static_cast<long>(number));
  if (scenario == "flood") return Flood(static_cast<int>(number)).run();
  std::fprintf(stderr, "unknown scenario '%s'\n", scenario.c_str());
  return 2;
}
