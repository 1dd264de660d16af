// SPDX-License-Identifier: Apache-2.0
// SessionUsers: whom session processes become: all the same user, or each one of a range, which no two living
// ones share. Belongs to the supervisor.
#pragma once

#include <deque>
#include <optional>

#include "worker/base/options.h"

namespace tf::worker {

class SessionUsers {
 public:
  explicit SessionUsers(const UserOptions& options);

  // Whether there is one. Without options there always is.
  bool available() const { return !options_.range || !free_.empty(); }
  // REQUIRES: available(). None: the supervisor's own user.
  std::optional<Account> take();
  // The process has ended. Its number is the last to be used again.
  void give_back(const std::optional<Account>& account);

 private:
  const UserOptions options_;
  std::deque<uid_t> free_;
};

}  // namespace tf::worker
