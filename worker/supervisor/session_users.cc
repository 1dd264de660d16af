// SPDX-License-Identifier: Apache-2.0
// Hands out users.
#include "worker/supervisor/session_users.h"

namespace tf::worker {

SessionUsers::SessionUsers(const UserOptions& options) : options_(options) {
  if (!options_.range) return;
  for (uid_t user = options_.range->first; user <= options_.range->last; ++user) free_.push_back(user);
}

std::optional<Account> SessionUsers::take() {
  if (!options_.range) return options_.same;
  const uid_t user = free_.front();
  free_.pop_front();
  return Account{user, user};
}

void SessionUsers::give_back(const std::optional<Account>& account) {
  if (options_.range && account) free_.push_back(account->user);
}

}  // namespace tf::worker
