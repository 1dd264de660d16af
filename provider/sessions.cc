// SPDX-License-Identifier: Apache-2.0
// Reads /proc, and sends signals through pidfds, so that a number that is used again hits nobody else.
#include "provider/sessions.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

#include "smi/runtime/files.h"
#include "transport/base/deadline.h"
#include "transport/net/fd.h"

namespace tf::provider {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kLookPeriod = 1ms;

fs::path proc(pid_t pid) { return fs::path("/proc") / std::to_string(pid); }

// hip-worker starts its session processes under its own name and with this option. The kernel's short name of
// them is no help: they are started as /proc/self/exe.
bool is_session(pid_t pid) {
  const std::string line = smi::read_text(proc(pid) / "cmdline") + '\0';
  const std::string program = line.substr(0, line.find('\0'));
  const std::string option("\0--session\0", 11);
  return fs::path(program).filename() == "hip-worker" && line.find(option) != std::string::npos;
}

struct Stat {
  char state = '\0';
  std::uint64_t ticks = 0;  // user and system
};

// proc(5): the name in brackets may hold anything.
Stat stat_of(pid_t pid) {
  const std::string text = smi::read_text(proc(pid) / "stat");
  const std::size_t bracket = text.rfind(')');
  Stat stat;
  if (bracket == std::string::npos) return stat;
  std::istringstream words(text.substr(bracket + 1));
  words >> stat.state;
  std::string skipped;
  for (int column = 4; column < 14; ++column) words >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  if (words >> user >> system) stat.ticks = user + system;
  return stat;
}

std::uint64_t shared_bytes(pid_t pid) {
  std::istringstream lines(smi::read_text(proc(pid) / "status"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kib = 0;
    if (words >> name >> kib && name == "RssShmem:") return kib * 1024;
  }
  return 0;
}

net::OwnedFd open_process(pid_t pid) {
  return net::OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

Status send(const net::OwnedFd& process, int signal) {
  if (::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0) return Status::ok();
  return Status::from_errno("a signal to a session", errno);
}

// All of them exist, and are sessions.
Result<std::vector<net::OwnedFd>> open_all(std::span<const pid_t> processes) {
  std::vector<net::OwnedFd> opened;
  for (const pid_t pid : processes) {
    net::OwnedFd process = open_process(pid);
    if (!process || !is_session(pid))
      return Status(Code::kUnavailable, "process " + std::to_string(pid) + " is no session of hip-worker");
    opened.push_back(std::move(process));
  }
  return opened;
}

bool wait_for(pid_t pid, bool stopped, Deadline deadline) {
  while (!deadline.passed()) {
    const char state = stat_of(pid).state;
    if (state == '\0' || state == 'Z' || state == 'X') return false;
    if ((state == 'T' || state == 't') == stopped) return true;
    std::this_thread::sleep_for(kLookPeriod);
  }
  return false;
}

}  // namespace

unsigned usable_processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

std::vector<smi::Process> Sessions::list() {
  std::vector<smi::Process> found;
  std::map<pid_t, Reading> readings;
  for (const fs::path& folder : smi::entries("/proc")) {
    const std::string name = folder.filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || !is_session(pid)) continue;
    smi::Process process{static_cast<std::uint32_t>(pid), shared_bytes(pid), smi::kUnknown};
    const Reading now{std::chrono::steady_clock::now(), stat_of(pid).ticks};
    if (const auto last = last_.find(pid); last != last_.end() && now.ticks >= last->second.ticks) {
      const std::chrono::duration<double> passed = now.when - last->second.when;
      const double busy =
          static_cast<double>(now.ticks - last->second.ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
      const double all = std::max(1e-3, passed.count()) * usable_processors();
      process.compute_percent = static_cast<std::uint64_t>(std::min(100.0, 100 * busy / all));
    }
    readings[pid] = now;
    if (process.memory_bytes != 0 && found.size() < smi::kProcessesMax) found.push_back(process);
  }
  last_ = std::move(readings);
  return found;
}

Status freeze(std::span<const pid_t> processes) {
  Result<std::vector<net::OwnedFd>> opened = open_all(processes);
  if (!opened) return opened.status();
  const Deadline deadline = Deadline::after(kFreezeTime);
  std::vector<std::size_t> ours;
  Status done = Status::ok();
  for (std::size_t index = 0; done && index < processes.size(); ++index) {
    const char before = stat_of(processes[index]).state;
    if (before == 'T') continue;
    done = send((*opened)[index], SIGSTOP);
    if (done) ours.push_back(index);
  }
  for (std::size_t index = 0; done && index < processes.size(); ++index)
    if (!wait_for(processes[index], true, deadline))
      done = Status(Code::kTimeout, "process " + std::to_string(processes[index]) + " does not stop");
  if (!done)
    for (const std::size_t index : ours) static_cast<void>(send((*opened)[index], SIGCONT));
  return done;
}

Status thaw(std::span<const pid_t> processes) {
  Result<std::vector<net::OwnedFd>> opened = open_all(processes);
  if (!opened) return opened.status();
  const Deadline deadline = Deadline::after(kFreezeTime);
  Status done = Status::ok();
  for (const net::OwnedFd& process : *opened)
    if (const Status sent = send(process, SIGCONT); !sent) done = sent;
  for (const pid_t pid : processes)
    if (done && !wait_for(pid, false, deadline))
      done = Status(Code::kTimeout, "process " + std::to_string(pid) + " does not go on");
  return done;
}

}  // namespace tf::provider
