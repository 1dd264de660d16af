// SPDX-License-Identifier: Apache-2.0
// Users, groups, capabilities and limits.
#include "worker/sandbox/rights.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tf::worker {
namespace {

namespace fs = std::filesystem;

constexpr int kCapabilitiesMax = 64;  // the kernel says where they end

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kTraceable = true;  // LeakSanitizer traces its own process
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kTraceable = true;
#else
constexpr bool kTraceable = false;
#endif
#else
constexpr bool kTraceable = false;
#endif

// Groups that may use devices which others may not.
std::vector<gid_t> device_groups() {
  std::vector<gid_t> groups;
  const auto look_at = [&](const std::string& file) {
    struct stat status = {};
    if (::stat(file.c_str(), &status) == 0 && S_ISCHR(status.st_mode) && status.st_gid != 0 &&
        (status.st_mode & S_IRGRP) != 0)
      groups.push_back(status.st_gid);
  };
  for (const std::string& file : device_files()) {
    look_at(file);
    std::error_code error;
    for (fs::directory_iterator entry(file, error), end; !error && entry != end; entry.increment(error))
      look_at(entry->path().string());
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return true;
  return std::any_of(std::begin(data), std::end(data), [](const __user_cap_data_struct& half) {
    return (half.permitted | half.inheritable) != 0;
  });
}

}  // namespace

std::vector<std::string> device_files() {
  std::vector<std::string> files = {"/dev/kfd", "/dev/dri", "/dev/infiniband"};
  std::error_code error;
  for (fs::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with("nvidia")) files.push_back(entry->path().string());
  std::erase_if(files, [](const std::string& file) { return ::access(file.c_str(), F_OK) != 0; });
  return files;
}

Status become(uid_t user, gid_t group) {
  const std::vector<gid_t> groups = device_groups();
  if (::setgroups(groups.size(), groups.data()) != 0) return Status::from_errno("setgroups", errno);
  if (::setresgid(group, group, group) != 0) return Status::from_errno("setresgid", errno);
  if (::setresuid(user, user, user) != 0) return Status::from_errno("setresuid", errno);
  return Status::ok();
}

Status gain_nothing() {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? Status::ok()
                                                       : Status::from_errno("no_new_privs", errno);
}

void bound_capabilities() {
  // Pages that devices reach are locked, and their number is limited for those without capabilities.
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  if (has_capabilities()) static_cast<void>(::setrlimit(RLIMIT_MEMLOCK, &unlimited));
  static_cast<void>(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
  for (int number = 0; number < kCapabilitiesMax; ++number)
    static_cast<void>(::prctl(PR_CAPBSET_DROP, number));
}

Status drop_capabilities() {
  if (!has_capabilities()) return Status::ok();
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
  return ::syscall(SYS_capset, &header, none) == 0 ? Status::ok() : Status::from_errno("capset", errno);
}

Status hide_memory() {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) return Status::from_errno("setrlimit", errno);
  if (kTraceable || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0) return Status::ok();
  return Status::from_errno("PR_SET_DUMPABLE", errno);
}

}  // namespace tf::worker
