// SPDX-License-Identifier: Apache-2.0
// Starts session processes.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "worker/base/log.h"
#include "worker/supervisor/supervisor.h"

extern char** environ;

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
  const SandboxOptions& sandbox = options.sandbox;
  if (sandbox.off) arguments.push_back("--no-sandbox");
  if (sandbox.with_gpus) arguments.push_back("--sandbox");
  if (sandbox.required) arguments.push_back("--require-sandbox");
  for (const std::string& path : sandbox.readable) arguments.insert(arguments.end(), {"--readable", path});
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

// Always a fresh program image: a process that has used a HIP runtime must not be forked.
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
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  sigset_t defaults = handled_signals();
  ::sigdelset(&defaults, SIGHUP);  // ignored there
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  // A process group of its own: Ctrl-C in a terminal reaches the supervisor, which lets sessions finish.
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  // The copies made by dup2 are not close-on-exec; every other descriptor of ours is. Neither number is among
  // those that are copied: a listener and the signals have been open for longer.
  ::posix_spawn_file_actions_adddup2(&actions, channel->session.get(), kSessionChannelFd);
  ::posix_spawn_file_actions_adddup2(&actions, log_end.get(), STDERR_FILENO);
  if (words)
    ::posix_spawn_file_actions_adddup2(&actions, words_file.get(), kLastWordsFd);
  else  // whoever started us may have left a file there
    ::posix_spawn_file_actions_addclose(&actions, kLastWordsFd);
  if (child.turns)
    ::posix_spawn_file_actions_adddup2(&actions, turns_.file().get(), kTurnsFd);
  else
    ::posix_spawn_file_actions_addclose(&actions, kTurnsFd);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return Status::from_errno("posix_spawn", error);
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
