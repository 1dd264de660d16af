// SPDX-License-Identifier: Apache-2.0
// A program whose calls are known by number, for stats_test.py, and the ways in which programs end.
//
// usage: stats_client MODE    calls | leave | abandoned | fork | exec | threads | small
#include <hip/hip_runtime_api.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBytes = 1 << 20;

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "stats_client: %s: %d\n", what, static_cast<int>(error));
  std::_Exit(1);
}
#define CHECK(call) check((call), #call)

void query(int times) {
  hipSharedMemConfig config = hipSharedMemBankSizeDefault;  // what only the worker can answer
  for (int i = 0; i < times; ++i) CHECK(hipDeviceGetSharedMemConfig(&config));
}

// 3 hipGetDevice, 5 hipMemsetAsync, 7 hipDeviceGetSharedMemConfig, 2 copies up, 1 down, all of 1 MiB.
void calls() {
  std::vector<char> host(kBytes, 'x');
  void* memory = nullptr;
  CHECK(hipMalloc(&memory, kBytes));
  int device = -1;
  for (int i = 0; i < 3; ++i) CHECK(hipGetDevice(&device));
  for (int i = 0; i < 5; ++i) CHECK(hipMemsetAsync(memory, i, kBytes, nullptr));
  CHECK(hipDeviceSynchronize());
  query(7);
  for (int i = 0; i < 2; ++i) CHECK(hipMemcpy(memory, host.data(), kBytes, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(host.data(), memory, kBytes, hipMemcpyDeviceToHost));
  CHECK(hipFree(memory));
}

// The child starts HIP itself; the parent has not called it yet.
int forked() {
  const pid_t child = ::fork();
  if (child == 0) {
    query(4);
    return 0;
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  query(2);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void threads() {
  std::vector<std::thread> running;
  for (int i = 0; i < 4; ++i) running.emplace_back([] { query(50); });
  for (std::thread& thread : running) thread.join();
}

// 20 small copies of pageable memory into a stream that stands still until all have been given to it.
void small_copies() {
  constexpr std::size_t kSmallBytes = 16 << 10;
  constexpr int kCopies = 20;
  const std::vector<char> host(kCopies * kSmallBytes, 'x');
  char* memory = nullptr;
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), host.size()));
  hipStream_t stream = nullptr;
  CHECK(hipStreamCreate(&stream));
  std::atomic<bool> open{false};
  const auto wait = [](void* gate) { static_cast<std::atomic<bool>*>(gate)->wait(false); };
  CHECK(hipLaunchHostFunc(stream, wait, &open));
  for (std::size_t at = 0; at < host.size(); at += kSmallBytes)
    CHECK(hipMemcpyAsync(memory + at, host.data() + at, kSmallBytes, hipMemcpyHostToDevice, stream));
  open = true;
  open.notify_all();
  CHECK(hipStreamSynchronize(stream));
  std::vector<char> back(host.size());
  CHECK(hipMemcpy(back.data(), memory, back.size(), hipMemcpyDeviceToHost));
  if (back != host) std::_Exit(2);
}

}  // namespace

int main(int, char** arguments) {
  const std::string mode = arguments[1] != nullptr ? arguments[1] : "";
  if (mode == "calls") calls();
  if (mode == "fork") return forked();
  if (mode == "threads") threads();
  if (mode == "small") small_copies();
  if (mode == "leave") {
    query(6);
    ::_exit(0);
  }
  if (mode == "abandoned") {
    query(6);
    ::raise(SIGKILL);
  }
  if (mode == "exec") {
    query(3);
    ::execl("/proc/self/exe", "stats_client", "leave", nullptr);
    return 1;
  }
  return 0;
}
