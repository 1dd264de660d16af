// SPDX-License-Identifier: Apache-2.0
// The system calls of landlock(7), by number.
#include "worker/sandbox/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tf::worker {
namespace {

// linux/landlock.h of Linux 6.12.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr std::uint32_t kAskVersion = 1;
constexpr int kPathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;  // since version 4
  std::uint64_t scopes = 0;   // since version 6
};
struct [[gnu::packed]] PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

constexpr std::uint64_t kExecute = 1u << 0;
constexpr std::uint64_t kWriteFile = 1u << 1;
constexpr std::uint64_t kReadFile = 1u << 2;
constexpr std::uint64_t kReadFolder = 1u << 3;
constexpr std::uint64_t kMakeDevices = 1u << 6 | 1u << 11;
constexpr std::uint64_t kAllOfFirst = (1u << 13) - 1;
constexpr std::uint64_t kRefer = 1u << 13;     // since version 2
constexpr std::uint64_t kTruncate = 1u << 14;  // since version 3
constexpr std::uint64_t kIoctl = 1u << 15;     // since version 5
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kIoctl;
constexpr std::uint64_t kNetwork = 3;  // bind and connect of TCP
constexpr std::uint64_t kScopes = 3;   // abstract sockets, signals

std::uint64_t known_files(int version) {
  std::uint64_t known = kAllOfFirst;
  if (version >= 2) known |= kRefer;
  if (version >= 3) known |= kTruncate;
  if (version >= 5) known |= kIoctl;
  return known;
}

std::uint64_t rights(Landlock::Access access) {
  switch (access) {
    case Landlock::Access::kRead: return kExecute | kReadFile | kReadFolder;
    case Landlock::Access::kDevice: return kReadFile | kReadFolder | kWriteFile | kTruncate | kIoctl;
    case Landlock::Access::kOwn: return (kAllOfFirst & ~kMakeDevices) | kRefer | kTruncate;
  }
  return 0;
}

}  // namespace

int Landlock::version() {
  const long found = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
  return found > 0 ? static_cast<int>(found) : 0;
}

Result<Landlock> Landlock::make() {
  const int version = Landlock::version();
  if (version == 0) return Status(Code::kUnavailable, "this kernel has no Landlock");
  RulesetAttributes wanted;
  wanted.files = known_files(version);
  std::size_t bytes = sizeof wanted.files;
  if (version >= 4) {
    wanted.network = kNetwork;
    bytes += sizeof wanted.network;
  }
  if (version >= kSignalsSince) {
    wanted.scopes = kScopes;
    bytes += sizeof wanted.scopes;
  }
  net::OwnedFd rules(static_cast<int>(::syscall(kCreateRuleset, &wanted, bytes, 0u)));
  if (!rules) return Status::from_errno("landlock_create_ruleset", errno);
  return Landlock(version, std::move(rules));
}

void Landlock::open(const std::string& path, Access access) {
  const net::OwnedFd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (file) static_cast<void>(open(file.get(), access));
}

Status Landlock::open(int file, Access access) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) return Status::from_errno("fstat", errno);
  PathRule rule;
  rule.allowed = rights(access) & known_files(version_);
  if (!S_ISDIR(status.st_mode)) rule.allowed &= kOfFiles;
  rule.parent = file;
  return ::syscall(kAddRule, rules_.get(), kPathBeneath, &rule, 0u) == 0
             ? Status::ok()
             : Status::from_errno("landlock_add_rule", errno);
}

Status Landlock::close_the_rest() const {
  return ::syscall(kRestrictSelf, rules_.get(), 0u) == 0
             ? Status::ok()
             : Status::from_errno("landlock_restrict_self", errno);
}

}  // namespace tf::worker
