// SPDX-License-Identifier: Apache-2.0
// A program whose kernels print, one case of prints_test.py for each word. What it writes must be the same
// wherever its kernels run.
#include <hip/hip_runtime.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kLines = 100000;
constexpr int kStreams = 4;
constexpr int kRounds = 8;

__global__ void say(int number) { printf("<%d>", number); }

__global__ void forms() {
  printf("%d %5.2f %s %c %ld %#x %% %-6s| %p\n", -3, 2.5, "text", 'z', -7L, 255u, "left", (void*)nullptr);
  printf("no arguments\n");
  printf("%s", "");
  printf("a long one: %s%s%s\n", "0123456789012345678901234567890123456789012345678901234567890123456789",
         "0123456789012345678901234567890123456789012345678901234567890123456789", "end");
}

__global__ void count(int tag, int lines) {
  for (int line = 0; line < lines; ++line) printf("%d: line %d\n", tag, line);
}

__global__ void assert_that(int bound) {
  printf("before the assertion\n");
  assert(static_cast<int>(threadIdx.x) < bound);
}

__global__ void give_up() {
  printf("before the trap");
  __builtin_trap();
}

__global__ void silent(int* out) { *out = 7; }

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  fprintf(stderr, "%s: %d\n", what, static_cast<int>(error));
  exit(1);
}
#define CHECK(call) check(call, #call)

struct Device {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  int* memory = nullptr;
  int host[64] = {};

  Device() {
    CHECK(hipStreamCreate(&stream));
    CHECK(hipEventCreate(&event));
    CHECK(hipMalloc(reinterpret_cast<void**>(&memory), sizeof host));
    CHECK(hipMemset(memory, 0, sizeof host));
  }
};

template <typename Query>
void until_done(Query query) {
  hipError_t error = hipErrorNotReady;
  while (error == hipErrorNotReady) error = query();
  check(error, "query");
}

// Every way to wait for a kernel, each between two prints of the host without a newline.
void all_waits() {
  Device d;
  int number = 0;
  const auto wait = [&](const char* name, hipStream_t stream, auto&& by) {
    printf("[%s", name);
    say<<<1, 1, 0, stream>>>(number++);
    CHECK(hipGetLastError());
    by();
    printf("]\n");
  };
  wait("device", d.stream, [] { CHECK(hipDeviceSynchronize()); });
  wait("stream", d.stream, [&] { CHECK(hipStreamSynchronize(d.stream)); });
  wait("null stream", nullptr, [] { CHECK(hipStreamSynchronize(nullptr)); });
  wait("event", d.stream, [&] {
    CHECK(hipEventRecord(d.event, d.stream));
    CHECK(hipEventSynchronize(d.event));
  });
  wait("stream query", d.stream, [&] { until_done([&] { return hipStreamQuery(d.stream); }); });
  wait("event query", d.stream, [&] {
    CHECK(hipEventRecord(d.event, d.stream));
    until_done([&] { return hipEventQuery(d.event); });
  });
  wait("from the device", nullptr,
       [&] { CHECK(hipMemcpy(d.host, d.memory, sizeof d.host, hipMemcpyDeviceToHost)); });
  wait("to the device", nullptr,
       [&] { CHECK(hipMemcpy(d.memory, d.host, sizeof d.host, hipMemcpyHostToDevice)); });
  wait("rows", nullptr, [&] { CHECK(hipMemcpy2D(d.host, 16, d.memory, 32, 8, 4, hipMemcpyDeviceToHost)); });
  wait("free", d.stream, [] {
    void* memory = nullptr;
    CHECK(hipMalloc(&memory, 64));
    CHECK(hipFree(memory));
  });
  wait("host function", d.stream, [&] {
    const auto print = [](void*) { printf(" then the host"); };
    CHECK(hipLaunchHostFunc(d.stream, print, nullptr));
    CHECK(hipStreamSynchronize(d.stream));
  });
  wait("another stream first", d.stream, [&] {
    silent<<<1, 1>>>(d.memory);
    CHECK(hipStreamSynchronize(nullptr));
    CHECK(hipStreamSynchronize(d.stream));
  });
  std::vector<char> large(3 << 20);
  char* memory = nullptr;
  CHECK(hipMalloc(reinterpret_cast<void**>(&memory), large.size()));
  wait("large", nullptr,
       [&] { CHECK(hipMemcpy(large.data(), memory, large.size(), hipMemcpyDeviceToHost)); });
}

void all_forms() {
  printf("host first, ");
  forms<<<1, 1>>>();
  CHECK(hipDeviceSynchronize());
  printf("then the host\n");
}

void many() {
  count<<<1, 1>>>(0, kLines);
  CHECK(hipDeviceSynchronize());
  printf("all lines\n");
}

void streams() {
  hipStream_t all[kStreams];
  for (hipStream_t& stream : all) CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  for (int round = 0; round < kRounds; ++round)
    for (int s = 0; s < kStreams; ++s) count<<<1, 1, 0, all[s]>>>(s, 10);
  for (int s = 0; s < kStreams; ++s) {
    CHECK(hipStreamSynchronize(all[s]));
    printf("%d: waited\n", s);
  }
}

// Host threads, each with a stream that it waits for.
void threads() {
  std::vector<std::thread> all;
  for (int number = 0; number < kStreams; ++number)
    all.emplace_back([number] {
      hipStream_t stream = nullptr;
      CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
      for (int round = 0; round < 50; ++round) {
        count<<<1, 1, 0, stream>>>(number, 1);
        CHECK(hipStreamSynchronize(stream));
        printf("%d: round %d\n", number, round);
      }
    });
  for (std::thread& thread : all) thread.join();
}

void graph() {
  Device d;
  hipGraph_t made = nullptr;
  hipGraphExec_t executable = nullptr;
  CHECK(hipStreamBeginCapture(d.stream, hipStreamCaptureModeGlobal));
  say<<<1, 1, 0, d.stream>>>(1);
  const auto print = [](void*) { printf("(host)"); };
  CHECK(hipLaunchHostFunc(d.stream, print, nullptr));
  say<<<1, 1, 0, d.stream>>>(2);
  CHECK(hipStreamEndCapture(d.stream, &made));
  CHECK(hipGraphInstantiate(&executable, made, nullptr, nullptr, 0));
  for (int launch = 0; launch < 3; ++launch) {
    printf("[");
    CHECK(hipGraphLaunch(executable, d.stream));
    CHECK(hipStreamSynchronize(d.stream));
    printf("]\n");
  }
  printf("[");
  CHECK(hipGraphLaunch(executable, d.stream));
  CHECK(hipGraphLaunch(executable, d.stream));
  CHECK(hipDeviceSynchronize());
  printf("]\n");
}

void failing(bool by_assertion) {
  printf("host, ");
  if (by_assertion)
    assert_that<<<1, 1>>>(0);
  else
    give_up<<<1, 1>>>();
  const hipError_t error = hipDeviceSynchronize();
  printf("; error %d\n", static_cast<int>(error));
}

// Nobody waits: the end of the process does.
void no_wait() {
  count<<<1, 1>>>(0, 2000);
  fflush(stdout);
}

void closed() {
  close(STDOUT_FILENO);
  count<<<1, 1>>>(0, 2000);
  CHECK(hipDeviceSynchronize());
  fprintf(stderr, "went on\n");
}

// Ends by SIGPIPE, if nobody reads.
void endless() {
  for (;;) {
    count<<<1, 1>>>(0, 1000);
    CHECK(hipDeviceSynchronize());
  }
}

}  // namespace

int main(int arguments, char** words) {
  const std::map<std::string, void (*)()> cases = {
      {"waits", all_waits},
      {"forms", all_forms},
      {"many", many},
      {"graph", graph},
      {"streams", streams},
      {"threads", threads},
      {"no_wait", no_wait},
      {"closed", closed},
      {"endless", endless},
      {"assert", [] { failing(true); }},
      {"trap", [] { failing(false); }},
  };
  const auto chosen = cases.find(arguments == 2 ? words[1] : "");
  if (chosen == cases.end()) return 2;
  chosen->second();
  return 0;
}
