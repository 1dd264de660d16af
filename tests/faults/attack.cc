// SPDX-License-Identifier: Apache-2.0
// An attack on the worker: system calls that a kernel makes in the session's process.
#include <fcntl.h>
#include <hip/hip_runtime.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/faults/scenarios.h"

asm(".section .rodata\n.p2align 12\n.globl attack_image\nattack_image:\n.incbin \"" ATTACK_FILE
    "\"\n.previous\n");
extern "C" const char attack_image[];

namespace faults {
namespace {

constexpr std::size_t kWords = 9;               // of attack.hip's kernels
constexpr std::size_t kScratch = 4096;          // behind them: what the calls point at
constexpr long kTicksPerMillisecond = 100'000;  // of the device's clock
constexpr int kPidfdOpen = 434, kPidfdGetfd = 438;

// Memory of the session that kernel and program share, and the kernel.
class Attacker {
 public:
  bool open(const char* kernel) {
    hipModule_t module = nullptr;
    return hipModuleLoadData(&module, attack_image) == hipSuccess &&
           hipModuleGetFunction(&function_, module, kernel) == hipSuccess &&
           hipMalloc(&memory_, 2 * kScratch) == hipSuccess;
  }

  // The address of bytes in the session.
  long place(const void* bytes, std::size_t count, std::size_t at = 0) {
    char* const target = static_cast<char*>(memory_) + kScratch + at;
    return hipMemcpy(target, bytes, count, hipMemcpyHostToDevice) == hipSuccess
               ? static_cast<long>(reinterpret_cast<std::uintptr_t>(target))
               : 0;
  }
  long place(const std::string& text) { return place(text.c_str(), text.size() + 1); }

  // Says the name, the result, and errno if that is negative.
  long call(const char* name, long number, std::array<long, 6> arguments = {}) {
    const long result = run(number, arguments);
    say(name, result, result < 0 || error_ == EAGAIN ? error_ : 0);
    return result;
  }
  long error() const { return error_; }

  // Runs the kernel on the words, which are then what it made of them.
  hipError_t launch(std::array<long, kWords>& words, unsigned blocks = 1) {
    void* parameters[] = {&memory_};
    if (const hipError_t error = hipMemcpy(memory_, words.data(), sizeof words, hipMemcpyHostToDevice))
      return error;
    if (const hipError_t error =
            hipModuleLaunchKernel(function_, blocks, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr))
      return error;
    return hipMemcpy(words.data(), memory_, sizeof words, hipMemcpyDeviceToHost);
  }

  long run(long number, std::array<long, 6> arguments) {
    std::array<long, kWords> words{number};
    std::copy(arguments.begin(), arguments.end(), words.begin() + 1);
    if (launch(words) != hipSuccess) return say("lost"), -1;
    error_ = words[8];
    return words[7];
  }

 private:
  long error_ = 0;  // errno, as the last call left it
  hipFunction_t function_ = nullptr;
  void* memory_ = nullptr;
};

void reach_into(Attacker& attacker, long pid) {
  const long path = attacker.place("/proc/" + std::to_string(pid) + "/mem");
  attacker.call("mem", SYS_openat, {AT_FDCWD, path, O_RDWR});
  const long word = attacker.place("12345678", 8, 512);
  const iovec vector{reinterpret_cast<void*>(word), 8};
  const long vectors = attacker.place(&vector, sizeof vector, 1024);
  attacker.call("read", SYS_process_vm_readv, {pid, vectors, 1, vectors, 1, 0});
  attacker.call("write", SYS_process_vm_writev, {pid, vectors, 1, vectors, 1, 0});
  attacker.call("trace", SYS_ptrace, {PTRACE_SEIZE, pid, 0, 0});
  attacker.call("signal", SYS_kill, {pid, 0});
  const long handle = attacker.call("pidfd", kPidfdOpen, {pid, 0});
  attacker.call("getfd", kPidfdGetfd, {handle, 0, 0});
  attacker.call("limit", SYS_prlimit64, {pid, RLIMIT_NOFILE, 0, attacker.place("", 1, 2048)});
  attacker.call("pin", SYS_sched_setaffinity, {pid, 8, attacker.place("\1\0\0\0\0\0\0", 8)});
}

}  // namespace

int attack_process(long pid) {
  Attacker attacker;
  if (!attacker.open("call")) return 3;
  reach_into(attacker, pid);
  return 0;
}

int attack_file(const char* path) {
  Attacker attacker;
  if (!attacker.open("call")) return 3;
  const long name = attacker.place(path);
  attacker.call("open", SYS_openat, {AT_FDCWD, name, O_RDONLY});
  attacker.call("change", SYS_openat, {AT_FDCWD, name, O_WRONLY});
  attacker.call("mode", SYS_chmod, {name, 0600});
  attacker.call("make", SYS_openat,
                {AT_FDCWD, attacker.place(std::string(path) + ".made"), O_WRONLY | O_CREAT, 0600});
  return 0;
}

int attack_system() {
  Attacker attacker;
  if (!attacker.open("call")) return 3;
  attacker.call("unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0});
  attacker.call("tcp", SYS_socket, {AF_INET, SOCK_STREAM, 0});
  const long two = attacker.place("", 1);
  attacker.call("datagrams", SYS_socketpair, {AF_UNIX, SOCK_DGRAM, 0, two});
  io_uring_params parameters{};
  attacker.call("ring", SYS_io_uring_setup, {4, attacker.place(&parameters, sizeof parameters)});
  attacker.call("namespace", SYS_unshare, {CLONE_NEWUSER});
  attacker.call("clone3", SYS_clone3, {0, 0});
  attacker.call("segment", SYS_shmget, {4711, 4096, 01000 | 0600});
  attacker.call("own", SYS_openat, {AT_FDCWD, attacker.place("/proc/self/status"), O_RDONLY});
  attacker.call("pair", SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, two});
  return 0;
}

int attack_descriptor(long descriptor) {
  Attacker attacker;
  if (!attacker.open("call")) return 3;
  attacker.call("descriptor", SYS_fcntl, {descriptor, F_GETFD});
  return 0;
}

int attack_log(const std::string& text, long lines) {
  Attacker attacker;
  if (!attacker.open("call")) return 3;
  // A backslash at the end: the line does not end.
  const bool is_open = text.ends_with('\\');
  const std::string line = is_open ? text.substr(0, text.size() - 1) : text + "\n";
  const long place = attacker.place(line);
  for (long count = 0; count < std::max(1l, lines); ++count)
    attacker.call("write", SYS_write, {STDERR_FILENO, place, static_cast<long>(line.size())});
  return 0;
}

int attack_see(const char* path) {
  Attacker attacker;
  if (!attacker.open("call")) return 3;
  attacker.call("see", SYS_access, {attacker.place(path), F_OK});
  return 0;
}

int attack_bomb(long limit) {
  Attacker attacker;
  if (!attacker.open("bomb")) return 3;
  attacker.call("bomb", limit);
  return 0;
}

int attack_fill(const char* path, long mib) {
  Attacker attacker;
  if (!attacker.open("call")) return 3;
  const long file =
      attacker.call("open", SYS_openat, {AT_FDCWD, attacker.place(path), O_WRONLY | O_CREAT, 0600});
  void* block = nullptr;
  if (file < 0 || hipMalloc(&block, 1 << 20) != hipSuccess || hipMemset(block, 7, 1 << 20) != hipSuccess)
    return 4;
  const long from = static_cast<long>(reinterpret_cast<std::uintptr_t>(block));
  long written = 0;
  long last = 0;
  for (long count = 0; count < mib && last >= 0; ++count, written += std::max(last, 0l))
    last = attacker.run(SYS_write, {file, from, 1 << 20});
  say("fill", written, last < 0 ? attacker.error() : 0);
  return 0;
}

int attack_write(const char* path, const std::string& text) {
  Attacker attacker;
  if (!attacker.open("call")) return 3;
  const long file = attacker.call("open", SYS_openat, {AT_FDCWD, attacker.place(path), O_WRONLY});
  if (file < 0) return 0;
  attacker.call("write", SYS_write, {file, attacker.place(text), static_cast<long>(text.size())});
  return 0;
}

int attack_burn(long milliseconds, unsigned blocks) {
  Attacker attacker;
  if (!attacker.open("burn")) return 3;
  std::array<long, kWords> words{milliseconds * kTicksPerMillisecond};
  say("burnt", attacker.launch(words, blocks));
  for (int letter = 0; letter != '\n' && letter != EOF;) letter = std::getchar();
  return 0;
}

int attack_stay() {
  Attacker attacker;
  if (!attacker.open("stay")) return 3;
  attacker.call("stays", 0);
  for (int letter = 0; letter != '\n' && letter != EOF;) letter = std::getchar();
  return 0;
}

}  // namespace faults
