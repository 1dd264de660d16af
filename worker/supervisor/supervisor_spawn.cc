// SPDX-License-Identifier: Apache-2.0
// Starts session processes.
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "worker/base/log.h"
#include "worker/supervisor/own_image.h"
#include "worker/supervisor/supervisor.h"

namespace tf::worker {
namespace {

// Our options that a session process needs, as its command line.
std::vector<std::string> session_arguments(const Options& options, const DeviceSet& devices,
                                           const std::string& folder, const std::optional<Account>& user,
                                           const std::optional<std::uint32_t>& turns,
                                           const std::string& limits) {
  std::vector<std::string> arguments = {"hip-worker", "--session", "--runtime", options.runtime};
  if (!devices.empty())
    arguments.insert(arguments.end(),
                     {"--session-devices", fmt::format("devices={}", fmt::join(devices, ","))});
  if (options.verbose) arguments.push_back("--verbose");
  if (options.keys.rdma_in_clear) arguments.push_back("--rdma-in-clear");
  add_walls(options.sandbox, arguments);
  if (!folder.empty()) arguments.insert(arguments.end(), {"--session-folder", folder});
  if (user)
    arguments.insert(arguments.end(), {"--session-user", fmt::format("{}:{}", user->user, user->group)});
  if (turns) arguments.insert(arguments.end(), {"--session-turns", std::to_string(*turns)});
  // Only where each session has a number of its own does this count the session's processes.
  if (options.users.range)
    arguments.insert(arguments.end(), {"--session-processes", std::to_string(options.limits.processes)});
  arguments.insert(arguments.end(), {"--session-limits", limits});
  arguments.insert(arguments.end(), {"--session-disk", std::to_string(options.limits.disk_mib)});
  return arguments;
}

}  // namespace

void add_walls(const SandboxOptions& sandbox, std::vector<std::string>& arguments) {
  if (sandbox.off) arguments.push_back("--no-sandbox");
  if (sandbox.with_gpus) arguments.push_back("--sandbox");
  if (sandbox.required) arguments.push_back("--require-sandbox");
  for (const std::string& path : sandbox.readable) arguments.insert(arguments.end(), {"--readable", path});
}

Status Supervisor::spawn(const DeviceSet& devices) {
  Child child;
  child.shown = devices;
  child.user = users_.take();
  child.turns = turns_.take();
  Status started = start(child);
  if (!started.is_ok()) clean_up_after(child);
  return started;
}

Status Supervisor::start(Child& child) {
  Result<std::string> folder = folders_.make(child.user);
  if (!folder) return folder.status();
  child.folder = std::move(*folder);
  Result<ChannelPair> channel = make_channel();
  if (!channel) return channel.status();
  net::OwnedFd log_end;
  Result<SessionLog> log_of_it = SessionLog::make(log_end);
  if (!log_of_it) return log_of_it.status();
  net::OwnedFd words_file;
  Result<LastWords> words = LastWords::make(words_file);
  if (!words && !std::exchange(told_of_words_, true))
    log(LogLevel::kWarning, "the log will not say whom a session served that ends: {}",
        words.status().to_string());
  std::vector<std::string> arguments =
      session_arguments(options_, child.shown, child.folder, child.user, child.turns, limits_text_);
  // None of the numbers is among those that are copied: a listener and the signals have been open for longer.
  const std::array passed = {
      PassedDescriptor{channel->session.get(), kSessionChannelFd},
      PassedDescriptor{log_end.get(), STDERR_FILENO},
      PassedDescriptor{words ? words_file.get() : -1, kLastWordsFd},
      PassedDescriptor{child.turns ? turns_.file().get() : -1, kTurnsFd},
  };
  const Result<pid_t> started = start_own_image(std::move(arguments), passed);
  if (!started) return started.status();
  const pid_t pid = started.value();
  // It has no client yet, so nothing of one runs outside.
  Result<std::string> cgroup = cgroups_.enter(pid);
  if (!cgroup) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return cgroup.status();
  }
  child.cgroup = std::move(*cgroup);
  child.channel = std::move(channel->supervisor);
  child.log = std::move(*log_of_it);
  if (words) child.words = std::move(*words);
  children_.emplace(pid, std::move(child));
  return Status::ok();
}

}  // namespace tf::worker
