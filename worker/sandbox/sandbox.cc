// SPDX-License-Identifier: Apache-2.0
// Puts the walls up, and says which of them stand.
#include "worker/sandbox/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>
#include <vector>

#include "hipcore/mirror/written_pages.h"
#include "worker/base/channel.h"
#include "worker/base/last_words.h"
#include "worker/base/runtime_library.h"
#include "worker/sandbox/call_filter.h"
#include "worker/sandbox/landlock.h"
#include "worker/sandbox/limits.h"
#include "worker/sandbox/namespaces.h"
#include "worker/sandbox/own_files.h"
#include "worker/sandbox/rights.h"

namespace tf::worker {
namespace {

namespace fs = std::filesystem;
using Access = Landlock::Access;

// What programs, the loader and libraries read. Of /etc nothing that says who may do what.
constexpr const char* kSystem[] = {"/usr", "/lib",  "/lib32", "/lib64",     "/libx32",
                                   "/bin", "/sbin", "/opt",   "/nix/store", "/gnu/store"};
constexpr const char* kSettings[] = {"/etc/ld.so.cache",   "/etc/ld.so.conf", "/etc/ld.so.conf.d",
                                     "/etc/ld.so.preload", "/etc/localtime",  "/etc/ssl/openssl.cnf",
                                     "/etc/nvidia",        "/etc/OpenCL",     "/etc/libibverbs.d",
                                     "/etc/alternatives"};
// About processors, memory and devices; of other processes nothing.
constexpr const char* kKernel[] = {"/sys/bus",       "/sys/class",     "/sys/dev",          "/sys/devices",
                                   "/sys/fs/cgroup", "/sys/kernel/mm", "/sys/module",       "/proc/cpuinfo",
                                   "/proc/devices",  "/proc/driver",   "/proc/filesystems", "/proc/meminfo",
                                   "/proc/modules",  "/proc/stat",     "/proc/sys",         "/proc/version"};
constexpr std::size_t kWallsTextMax = 512;

void open_devices(Landlock& rules) {
  const std::vector<std::string> devices = device_files();
  for (const std::string& file : devices) rules.open(file, Access::kDevice);
  open_streams(rules);
  // Drivers of GPUs share memory between processes by names there; the CPU runtime does not.
  if (!devices.empty()) rules.open("/dev/shm", Access::kOwn);
}

}  // namespace

bool spares_drivers(const SandboxOptions& options, const std::string& runtime,
                    const std::vector<std::string>& devices) {
  if (runtime == "cpu" || runtime == "cuda" || options.with_gpus || options.required || options.user)
    return false;
  return std::ranges::count(devices, "/dev/kfd") != 0;
}

Status Sandbox::close_files(const std::string& runtime) {
  Result<Landlock> rules = Landlock::make();
  if (!rules) return rules.status();
  for (const char* const path : kSystem) rules->open(path, Access::kRead);
  for (const char* const path : kSettings) rules->open(path, Access::kRead);
  for (const char* const path : kKernel) rules->open(path, Access::kRead);
  open_own_files(*rules, options_, runtime);
  open_devices(*rules);
  // Never closed: the rule is for this folder as it is now, and only an open one stays the same.
  const int self = ::open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (self >= 0) TF_RETURN_IF_ERROR(rules->open(self, Access::kDevice));
  TF_RETURN_IF_ERROR(rules->close_the_rest());
  note("signals", rules->holds_signals() ? Status::ok() : Status(Code::kUnavailable, "Linux 6.12 and later"));
  return Status::ok();
}

Status Sandbox::wall_compilers(const std::string& runtime) {
  Result<std::shared_ptr<const CompilerWalls>> walls = CompilerWalls::make(options_, runtime);
  if (walls) compilers_ = std::move(*walls);
  return walls.status();
}

void Sandbox::note(const char* wall, const Status& status) {
  std::string& list = status ? standing_ : missing_;
  list += list.empty() ? "" : ", ";
  list += wall;
  if (!status) list += " (" + status.message() + ")";
}

// What a session reads, for which no folder may be hidden.
std::vector<std::string> Sandbox::needed(const std::string& runtime) const {
  std::vector<std::string> paths = options_.readable;
  paths.push_back(options_.folder);
  paths.push_back(runtime);
  paths.push_back("/proc/self/exe");
  for (const fs::path& folder : own_library_directories()) paths.push_back(folder.string());
  for (const char* const variable : {"LD_LIBRARY_PATH", "LD_PRELOAD", "TF_HIPCC_CPU"}) {
    const char* const value = std::getenv(variable);
    std::istringstream list(value != nullptr ? value : "");
    for (std::string path; std::getline(list, path, ':');) paths.push_back(path);
  }
  std::erase_if(paths, [](const std::string& path) { return !path.starts_with('/'); });
  return paths;
}

// Without them nothing is lost that a wall keeps.
void Sandbox::share(const char* what, const Status& why) {
  shared_ += (shared_.empty() ? "" : ", ") + std::string(what) + " (" + why.message() + ")";
}

void Sandbox::separate(const std::string& runtime) {
  const Status possible = ::geteuid() == 0 ? Status::ok() : become_root_of_itself();
  const Status mounts = possible ? separate_mounts() : possible;
  const Account owner = options_.user.value_or(Account{::geteuid(), ::getegid()});
  disk_ = mounts ? limit_folder(options_.folder, options_.disk_mib, owner.user, owner.group) : mounts;
  const std::string device = untried_device(device_files());
  if (!device.empty()) return share("ipc, network, mounts, processes", {Code::kUnavailable, device});
  if (!mounts) return share("ipc, network, mounts, processes", mounts);
  const auto part = [&](const char* name, const Status& status) {
    status ? note(name, status) : share(name, status);
  };
  part("ipc", separate_ipc());
  part("network", separate_network());
  hide_folders(needed(runtime));
  keep_only("/etc", {std::begin(kSettings), std::end(kSettings)}, needed(runtime));
  part("mounts", mounts);
  part("processes", hide_processes());
}

std::string Sandbox::limits() const {
  const std::string disk = disk_ ? fmt::format("disk {} MiB", options_.disk_mib) : std::string();
  const std::size_t middle = std::min(options_.limits.size(), options_.limits.find('|'));
  std::string holds = options_.limits.substr(0, middle);
  std::string lacks = options_.limits.substr(std::min(options_.limits.size(), middle + 1));
  if (disk_)
    holds = disk + (holds.empty() ? "" : ", " + holds);
  else
    lacks = "disk (" + disk_.message() + ")" + (lacks.empty() ? "" : ", " + lacks);
  if (holds.empty()) holds = "none";
  return lacks.empty() ? holds : holds + "; not limited: " + lacks;
}

void Sandbox::enter(const std::string& runtime) {
  if (!options_.folder.empty()) ::setenv("TMPDIR", options_.folder.c_str(), 1);
  limit_process(options_.processes);
  static_cast<void>(own_library_directories());  // while /proc says where this program lies
  off_ = options_.off || spares_drivers(options_, runtime, device_files());
  if (off_) return;
  // What whoever started the worker had open, without close-on-exec; open files are behind no wall.
  if (::close_range(kTurnsFd + 1, ~0u, 0) != 0) note("descriptors", Status::from_errno("close_range", errno));
  separate(runtime);
  mirror::keep_page_tables();  // later they may not be opened
  bound_capabilities();
  if (options_.user) note("own user", become(options_.user->user, options_.user->group));
  note("capabilities", drop_capabilities());
  note("programs", gain_nothing());
  const Status compilers = wall_compilers(runtime);  // while it can look at folders that it will not read
  note("files", close_files(runtime));
  note("compilers", compilers);
}

void Sandbox::close() {
  if (off_) return;
  note("memory", hide_memory());
  note("system calls", refuse_calls());
}

Status Sandbox::seal() const { return off_ ? Status::ok() : refuse_new_rings(); }

std::string Sandbox::text() const {
  if (options_.off) return "none (--no-sandbox)";
  if (off_) return "none (AMD's driver may be loaded, which has not been tried behind them: --sandbox)";
  std::string text = standing_.empty() ? "none" : standing_;
  if (!missing_.empty()) text += "; missing: " + missing_;
  if (!shared_.empty()) text += "; shared with the host: " + shared_;
  return text.substr(0, kWallsTextMax);
}

}  // namespace tf::worker
