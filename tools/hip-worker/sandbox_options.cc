// SPDX-License-Identifier: Apache-2.0
// Reads users, ranges of users and paths.
#include "tools/hip-worker/sandbox_options.h"

#include <unistd.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "reference/gen/programs.h"
#include "tools/hip-worker/accounts.h"

namespace tf::worker {
namespace {

namespace about = reference::hip_worker;

// Two numbers with `between` between them.
Result<std::pair<std::uint32_t, std::uint32_t>> read_two(const reference::Option& option,
                                                         const std::string& text, char between) {
  std::pair<std::uint32_t, std::uint32_t> two;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, two.first);
  const bool more = first.ec == std::errc() && first.ptr != end && *first.ptr == between;
  const auto second = more ? std::from_chars(first.ptr + 1, end, two.second) : first;
  if (more && second.ec == std::errc() && second.ptr == end && two.first <= kIdMax && two.second <= kIdMax)
    return two;
  return invalid_argument(std::string(option.name) + " " + shown(text) + ": expected two numbers from 0 to " +
                          std::to_string(kIdMax) + " with a " + between + " between them");
}

Status take_range(const reference::CommandLine& line, const Options& options, UserOptions& users) {
  const std::string text = line.text(about::kSessionUids);
  auto range = read_two(about::kSessionUids, text, '-');
  if (!range) return range.status();
  const std::size_t needed = options.sessions_max + options.spares;
  const bool enough = range->second >= range->first && range->second - range->first + 1ull >= needed;
  if (range->first == 0 || !enough)
    return invalid_argument("--session-uids " + shown(text) + ": expected at least " +
                            std::to_string(needed) +
                            " numbers, one for each of --sessions-max and --spares, and 0 not among them");
  users.range = {range->first, range->second};
  return Status::ok();
}

Status take_users(const reference::CommandLine& line, const Options& options, UserOptions& users) {
  if (line.has(about::kUser)) {
    const Result<Account> account = read_account(about::kUser, line.text(about::kUser));
    if (!account) return account.status();
    users.same = account.value();
  }
  if (line.has(about::kSessionUids)) TF_RETURN_IF_ERROR(take_range(line, options, users));
  if ((users.same || users.range) && ::geteuid() != 0)
    return invalid_argument(std::string(users.same ? "--user" : "--session-uids") +
                            ": only root can start processes of other users");
  if ((users.same || users.range) && options.sandbox.off)
    return invalid_argument(
        "--no-sandbox leaves sessions the worker's own user: without --user and "
        "--session-uids");
  return Status::ok();
}

}  // namespace

Status take_sandbox_options(const reference::CommandLine& line, Options& options) {
  SandboxOptions& sandbox = options.sandbox;
  sandbox.off = line.has(about::kNoSandbox);
  sandbox.with_gpus = line.has(about::kSandbox);
  sandbox.required = line.has(about::kRequireSandbox);
  sandbox.readable = line.list(about::kReadable);
  sandbox.folder = line.text(about::kSessionFolder);
  sandbox.limits = line.text(about::kSessionLimits);
  LimitOptions& limits = options.limits;
  limits.memory_mib = static_cast<std::size_t>(line.number(about::kSessionMemory, 0));
  limits.processors = static_cast<unsigned>(line.number(about::kSessionProcessors, 0));
  limits.disk_mib = static_cast<std::size_t>(line.number(about::kSessionDisk, 1024));
  limits.processes = static_cast<std::size_t>(line.number(about::kSessionProcesses, 4096));
  if (options.is_session && line.has(about::kSessionDisk)) sandbox.disk_mib = limits.disk_mib;
  if (options.is_session && line.has(about::kSessionProcesses)) sandbox.processes = limits.processes;
  if (line.has(about::kSessionUser)) {
    auto account = read_two(about::kSessionUser, line.text(about::kSessionUser), ':');
    if (!account) return account.status();
    sandbox.user = Account{account->first, account->second};
  }
  return options.is_session ? Status::ok() : take_users(line, options, options.users);
}

}  // namespace tf::worker
