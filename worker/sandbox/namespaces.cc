// SPDX-License-Identifier: Apache-2.0
// unshare(2), and mounts inside of it.
#include "worker/sandbox/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "transport/net/fd.h"

namespace tf::worker {
namespace {

namespace fs = std::filesystem;

constexpr int kFilesMax = 65536;  // in a session's folder
constexpr const char* kNotForSessions[] = {"/boot", "/home", "/media", "/mnt", "/root",
                                           "/run",  "/srv",  "/tmp",   "/var", "/etc/ssh"};
// What drivers of GPUs have, and devices of networks that do rdma.
constexpr const char* kUntried[] = {"/dev/kfd", "/dev/nvidia", "/dev/infiniband"};

Status own(int which, const char* name) {
  return ::unshare(which) == 0 ? Status::ok() : Status::from_errno(name, errno);
}

Status write_file(const char* path, const std::string& text) {
  const net::OwnedFd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file) return Status::from_errno(path, errno);
  return ::write(file.get(), text.data(), text.size()) > 0 ? Status::ok() : Status::from_errno(path, errno);
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// As it is written, and where its links lead.
bool needs(const std::vector<std::string>& needed, const fs::path& folder) {
  return std::ranges::any_of(needed, [&](const std::string& one) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(one, error);
    return is_below(fs::path(one).lexically_normal(), folder) || (!error && is_below(real, folder));
  });
}

// An empty folder in its place. `/var/run` and its like are links, and lead to one that is hidden itself.
void hide(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return;
  static_cast<void>(::mount("none", folder.c_str(), "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
                            "size=4k,mode=755"));
}

struct Kept {
  std::string path;
  net::OwnedFd file;
  bool is_folder = false;
};

// Open, since they are then covered.
std::vector<Kept> open_all(const std::vector<std::string>& paths) {
  std::vector<Kept> all;
  for (const std::string& path : paths) {
    net::OwnedFd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status = {};
    if (!file || ::fstat(file.get(), &status) != 0) continue;
    all.push_back({path, std::move(file), S_ISDIR(status.st_mode)});
  }
  return all;
}

// In an empty folder, at its path again.
bool put_back(const Kept& one) {
  std::error_code error;
  fs::create_directories(one.is_folder ? fs::path(one.path) : fs::path(one.path).parent_path(), error);
  if (!one.is_folder) net::OwnedFd(::open(one.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0444)).reset();
  const std::string from = fmt::format("/proc/self/fd/{}", one.file.get());
  return ::mount(from.c_str(), one.path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
}

}  // namespace

std::string untried_device(const std::vector<std::string>& devices) {
  for (const std::string& device : devices)
    for (const char* const untried : kUntried)
      if (device.starts_with(untried)) return device;
  return {};
}

Status become_root_of_itself() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  TF_RETURN_IF_ERROR(own(CLONE_NEWUSER, "user namespace"));
  TF_RETURN_IF_ERROR(write_file("/proc/self/setgroups", "deny"));
  TF_RETURN_IF_ERROR(write_file("/proc/self/uid_map", fmt::format("{} {} 1", user, user)));
  return write_file("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

Status separate_ipc() { return own(CLONE_NEWIPC, "unshare"); }

Status separate_network() { return own(CLONE_NEWNET, "unshare"); }

Status separate_mounts() {
  TF_RETURN_IF_ERROR(own(CLONE_NEWNS, "unshare"));
  return ::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 ? Status::ok()
                                                                        : Status::from_errno("mount", errno);
}

void hide_folders(const std::vector<std::string>& needed) {
  for (const char* const path : kNotForSessions)
    if (!needs(needed, path)) hide(path);
}

void keep_only(const std::string& folder, const std::vector<std::string>& kept,
               const std::vector<std::string>& needed) {
  constexpr unsigned long kHow = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (needs(needed, folder)) return;
  const std::vector<Kept> all = open_all(kept);
  if (::mount("none", folder.c_str(), "tmpfs", kHow, "size=64k,mode=755") != 0) return;
  if (std::ranges::all_of(all, put_back))
    static_cast<void>(::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY | kHow, nullptr));
  else
    ::umount2(folder.c_str(), MNT_DETACH);
}

Status limit_folder(const std::string& folder, std::size_t mib, uid_t user, gid_t group) {
  const std::string how =
      fmt::format("mode=700,size={}m,nr_inodes={},uid={},gid={}", mib, kFilesMax, user, group);
  return ::mount("hip-worker", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, how.c_str()) == 0
             ? Status::ok()
             : Status::from_errno("mount", errno);
}

Status hide_processes() {
  // By this name since Linux 5.8: before, all mounts of /proc had this in common.
  return ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=ptraceable") == 0
             ? Status::ok()
             : Status::from_errno("mount", errno);
}

}  // namespace tf::worker
