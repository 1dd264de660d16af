// SPDX-License-Identifier: Apache-2.0
// What an attacker sends: a kernel that makes any system call in the process that runs it. On the host's cores
// kernels are native code, which the C library of that process is linked to.
#include <hip/hip_runtime.h>

extern "C" __device__ long syscall(long number, long first, long second, long third, long fourth, long fifth,
                                   long sixth);
extern "C" __device__ int* __errno_location();

constexpr long kFork = 57;
constexpr long kPause = 34;

// words: the number, six arguments; then the result and errno.
extern "C" __global__ void call(long* words) {
  words[7] = syscall(words[0], words[1], words[2], words[3], words[4], words[5], words[6]);
  words[8] = *__errno_location();
}

// Forks until that fails, at most words[0] times.
extern "C" __global__ void bomb(long* words) {
  long forked = 0;
  for (; forked < words[0]; ++forked) {
    const long child = syscall(kFork, 0, 0, 0, 0, 0, 0);
    if (child < 0) break;
    if (child == 0) {
      for (;;) syscall(kPause, 0, 0, 0, 0, 0, 0);
    }
  }
  words[7] = forked;
  words[8] = *__errno_location();
}

// Leaves a process behind.
extern "C" __global__ void stay(long* words) {
  const long child = syscall(kFork, 0, 0, 0, 0, 0, 0);  // which shares the memory behind `words`
  if (child == 0) {
    for (;;) syscall(kPause, 0, 0, 0, 0, 0, 0);
  }
  words[7] = child;
}

// Each block keeps a core busy for words[0] ticks of a clock of 100 MHz.
extern "C" __global__ void burn(long* words) {
  const long long start = wall_clock64();
  while (wall_clock64() - start < words[0]) {
  }
}
