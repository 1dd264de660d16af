// SPDX-License-Identifier: Apache-2.0
// posix_spawn of /proc/self/exe.
#include "worker/supervisor/own_image.h"

#include <spawn.h>
#include <unistd.h>

extern char** environ;

namespace tf::worker {

sigset_t handled_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&set, number);
  return set;
}

Result<pid_t> start_own_image(std::vector<std::string> arguments, std::span<const PassedDescriptor> passed) {
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
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  // The copies made by dup2 are not close-on-exec; every other descriptor of ours is.
  for (const PassedDescriptor& descriptor : passed) {
    if (descriptor.from >= 0)
      ::posix_spawn_file_actions_adddup2(&actions, descriptor.from, descriptor.to);
    else  // whoever started us may have left a file there
      ::posix_spawn_file_actions_addclose(&actions, descriptor.to);
  }
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return Status::from_errno("posix_spawn", error);
  return pid;
}

}  // namespace tf::worker
