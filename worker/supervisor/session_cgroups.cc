// SPDX-License-Identifier: Apache-2.0
// Reads and writes the files of cgroup v2.
#include "worker/supervisor/session_cgroups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "transport/net/fd.h"

namespace tf::worker {
namespace {

constexpr const char* kWanted[] = {"memory", "pids", "cpu"};
constexpr unsigned kPeriod_us = 100'000;           // of cpu.max
constexpr std::string_view kLeaf = "/hip-worker";  // where the supervisor itself is

Status write_file(const std::string& path, std::string_view text) {
  const net::OwnedFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return Status::from_errno(path, errno);
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  return written == static_cast<ssize_t>(text.size()) ? Status::ok() : Status::from_errno(path, errno);
}

std::vector<std::string> words_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istream_iterator<std::string>(file), {}};
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

// "+memory +pids"
std::string each(const char* sign, const std::vector<std::string>& controllers) {
  std::string list;
  for (const std::string& controller : controllers) list += (list.empty() ? "" : " ") + (sign + controller);
  return list;
}

Status make(const std::string& path) {
  // A worker that was killed may have left it.
  return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST ? Status::ok() : Status::from_errno(path, errno);
}

}  // namespace

Result<std::string> own_cgroup() {
  std::string own;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::")) own = line.substr(3);
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; !own.empty() && std::getline(mounts, line);) {
    const std::size_t type = line.find(" - cgroup2 ");
    if (type == std::string::npos) continue;
    std::istringstream words(line);
    std::string skipped;
    std::string root;
    std::string point;
    words >> skipped >> skipped >> skipped >> root >> point;
    if (root != "/" && own.starts_with(root)) own.erase(0, root.size());
    return own == "/" ? point : point + own;
  }
  return Status(Code::kUnavailable, "cgroup v2 is not mounted");
}

std::optional<unsigned> processors_granted(const std::string& own) {
  std::optional<unsigned> least;
  for (std::string path = own; ::access((path + "/cgroup.procs").c_str(), F_OK) == 0;
       path.erase(path.rfind('/'))) {
    std::ifstream limit(path + "/cpu.max");  // "QUOTA PERIOD", microseconds; or "max PERIOD"
    std::uint64_t quota = 0;
    std::uint64_t period = 0;
    if (!(limit >> quota >> period) || period == 0) continue;
    const std::uint64_t granted = std::clamp<std::uint64_t>((quota + period - 1) / period, 1, UINT_MAX);
    least = std::min(least.value_or(UINT_MAX), static_cast<unsigned>(granted));
  }
  return least;
}

Status SessionCgroups::open(const std::string& own, const LimitOptions& limits) {
  limits_ = limits;
  if (::access((own + "/cgroup.procs").c_str(), W_OK) != 0 || ::access(own.c_str(), W_OK) != 0)
    return {Code::kUnavailable, "the worker's cgroup is not writable"};
  for (const std::string& process : words_of(own + "/cgroup.procs"))
    if (process != std::to_string(::getpid()))
      return {Code::kUnavailable, "other processes are in the worker's cgroup, so it is not delegated"};
  const std::vector<std::string> there = words_of(own + "/cgroup.controllers");
  std::vector<std::string> usable;
  for (const std::string controller : kWanted)
    if (has(there, controller)) usable.push_back(controller);
  if (usable.empty()) return {Code::kUnavailable, "the worker's cgroup has no controllers"};
  TF_RETURN_IF_ERROR(make(own + std::string(kLeaf)));
  Status moved = write_file(own + std::string(kLeaf) + "/cgroup.procs", std::to_string(::getpid()));
  if (moved) moved = write_file(own + "/cgroup.subtree_control", each("+", usable));
  if (!moved) {
    static_cast<void>(write_file(own + "/cgroup.procs", std::to_string(::getpid())));
    ::rmdir((own + std::string(kLeaf)).c_str());
    return moved;
  }
  controllers_ = std::move(usable);  // the kernel takes all of them or fails
  own_ = own;
  return Status::ok();
}

// The worker leaves it as it was.
SessionCgroups::~SessionCgroups() {
  if (!available()) return;
  sweep();
  static_cast<void>(write_file(own_ + "/cgroup.subtree_control", each("-", controllers_)));
  static_cast<void>(write_file(own_ + "/cgroup.procs", std::to_string(::getpid())));
  ::rmdir((own_ + std::string(kLeaf)).c_str());
}

bool SessionCgroups::controls(const std::string& controller) const { return has(controllers_, controller); }

Result<std::string> SessionCgroups::enter(pid_t process) {
  if (!available()) return std::string();
  sweep();
  std::string name = fmt::format("session-{}", next_++);
  const std::string path = own_ + "/" + name;
  TF_RETURN_IF_ERROR(make(path));
  Status status = Status::ok();
  if (controls("pids")) status = write_file(path + "/pids.max", std::to_string(limits_.processes));
  if (status && controls("memory") && limits_.memory_mib != 0) {
    status = write_file(path + "/memory.max", std::to_string(limits_.memory_mib << 20));
    // One tenant's end, whole; without swap the file is not there.
    static_cast<void>(write_file(path + "/memory.oom.group", "1"));
    static_cast<void>(write_file(path + "/memory.swap.max", "0"));
  }
  if (status && controls("cpu") && limits_.processors != 0)
    status = write_file(path + "/cpu.max", fmt::format("{} {}", limits_.processors * kPeriod_us, kPeriod_us));
  if (status) status = write_file(path + "/cgroup.procs", std::to_string(process));
  if (status) return name;
  ::rmdir(path.c_str());
  return status;
}

std::optional<double> SessionCgroups::processor_seconds(const std::string& name) const {
  if (name.empty()) return std::nullopt;
  const std::vector<std::string> words = words_of(own_ + "/" + name + "/cpu.stat");
  const auto usage = std::ranges::find(words, "usage_usec");
  if (usage == words.end() || std::next(usage) == words.end()) return std::nullopt;
  return std::strtod(std::next(usage)->c_str(), nullptr) / 1e6;
}

void SessionCgroups::remove(const std::string& name) {
  if (name.empty()) return;
  static_cast<void>(write_file(own_ + "/" + name + "/cgroup.kill", "1"));  // Linux 5.14
  leaving_.push_back(name);
  sweep();
}

// What was killed takes a moment to be gone.
void SessionCgroups::sweep() {
  std::erase_if(leaving_, [this](const std::string& name) {
    return ::rmdir((own_ + "/" + name).c_str()) == 0 || errno == ENOENT;
  });
}

}  // namespace tf::worker
