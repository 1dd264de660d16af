// SPDX-License-Identifier: Apache-2.0
// Makes and removes folders. What lies in them was made by clients' code, so rm(1) removes it, which follows
// no links, in a process of its own, which may take its time while clients are served.
#include "worker/supervisor/session_folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "transport/base/deadline.h"

extern char** environ;

namespace tf::worker {
namespace {

namespace fs = std::filesystem;

constexpr int kAttemptsMax =
    8;  // to make a root that no other worker takes for a stale one; to remove a folder
constexpr mode_t kOwnerOnly = 0700;
constexpr mode_t kPassage = 0711;  // sessions of other users reach theirs

std::string place_for_files() {
  const char* const chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen == '/' ? chosen : "/tmp";
}

// -1: it could not be started.
pid_t start_removing(const std::string& folder) {
  std::string words[] = {"rm", "-rf", "--", folder};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, "rm", nullptr, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : -1;
}

void wait_for(pid_t pid, Deadline deadline) {
  while (pid > 0 && ::waitpid(pid, nullptr, WNOHANG) == 0 && !deadline.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// The folder, locked for this process; empty: somebody else has it, or it is no folder of ours.
net::OwnedFd lock_folder(const std::string& path) {
  net::OwnedFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat held = {};
  struct stat named = {};
  const bool ours = folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 &&
                    ::fstat(folder.get(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
                    held.st_ino == named.st_ino && held.st_dev == named.st_dev && held.st_uid == ::geteuid();
  return ours ? std::move(folder) : net::OwnedFd();
}

}  // namespace

Status SessionFolders::open() {
  const std::string start = fmt::format("hip-worker-{}-", ::geteuid());
  const std::string above = place_for_files();
  remove_stale(above, start);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    std::string path = above + "/" + start + "XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return Status::from_errno("a folder in " + above, errno);
    lock_ = lock_folder(path);
    if (!lock_) continue;
    root_ = path;
    return Status::ok();
  }
  return {Code::kUnavailable, "a folder in " + above + ": another worker has taken it each time"};
}

void SessionFolders::remove_stale(const std::string& above, const std::string& start) {
  const Deadline deadline = Deadline::after(kRemovalTime);
  std::error_code error;
  for (fs::directory_iterator entry(above, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(start)) continue;
    const net::OwnedFd stale = lock_folder(entry->path().string());
    if (!stale) continue;
    wait_for(start_removing(entry->path().string()), deadline);
  }
}

Result<std::string> SessionFolders::make(const std::optional<Account>& owner) {
  if (root_.empty()) return std::string();
  const std::string path = fmt::format("{}/{}", root_, next_++);
  if (::mkdir(path.c_str(), kOwnerOnly) != 0) return Status::from_errno(path, errno);
  if (!owner) return path;
  // Nobody else can write to the root, so the path is still this folder.
  if (::chmod(root_.c_str(), kPassage) != 0 || ::chown(path.c_str(), owner->user, owner->group) != 0)
    return Status::from_errno(path, errno);
  return path;
}

void SessionFolders::remove(const std::string& folder) {
  if (folder.empty() || ::rmdir(folder.c_str()) == 0) return;
  start_removal(folder, 0);
}

void SessionFolders::start_removal(const std::string& folder, int attempt) {
  if (const pid_t pid = start_removing(folder); pid > 0) removers_.emplace(pid, Removal{folder, attempt});
}

// A process that was being killed may have made a file meanwhile.
void SessionFolders::ended(pid_t pid, bool succeeded) {
  const auto found = removers_.find(pid);
  if (found == removers_.end()) return;
  const Removal removal = std::move(found->second);
  removers_.erase(found);
  if (!succeeded && removal.attempt + 1 < kAttemptsMax) start_removal(removal.folder, removal.attempt + 1);
}

SessionFolders::~SessionFolders() {
  if (root_.empty() || ::rmdir(root_.c_str()) == 0) return;
  wait_for(start_removing(root_), Deadline::after(kRemovalTime));
}

}  // namespace tf::worker
