// SPDX-License-Identifier: Apache-2.0
// SessionFolders: a folder for the files of each session process, all in one folder of this worker below
// TMPDIR. What a process leaves there goes with it. Belongs to the supervisor, so nothing blocks but the
// start and the end.
//
// A worker that is killed leaves its folder behind; the next one of the same user removes it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "worker/base/options.h"

namespace tf::worker {

inline constexpr std::chrono::seconds kRemovalTime{5};  // at the worker's start and end, for what was left

class SessionFolders {
 public:
  SessionFolders() = default;
  SessionFolders(const SessionFolders&) = delete;
  SessionFolders& operator=(const SessionFolders&) = delete;
  ~SessionFolders();

  Status open();
  // `owner`: none: this process's user.
  Result<std::string> make(const std::optional<Account>& owner);
  // Starts a process that removes it, if it is not empty.
  void remove(const std::string& folder);
  // For each child that has ended: if it was such a process and did not succeed, another one tries.
  void ended(pid_t pid, bool succeeded);
  bool is_remover(pid_t pid) const { return removers_.contains(pid); }

 private:
  void remove_stale(const std::string& above, const std::string& start);
  void start_removal(const std::string& folder, int attempt);

  std::string root_;
  net::OwnedFd lock_;  // of the root, held while this worker lives
  std::uint64_t next_ = 1;
  struct Removal {
    std::string folder;
    int attempt = 0;
  };
  std::map<pid_t, Removal> removers_;
};

}  // namespace tf::worker
