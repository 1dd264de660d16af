// SPDX-License-Identifier: Apache-2.0
// Users and groups as hip-worker's options name them: by name or number.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "tools/command_line/command_line.h"
#include "worker/base/options.h"

namespace tf::worker {

inline constexpr long kIdMax = 0xfffffffe;  // the one above is nobody's: to chown(2) it means "do not change"

// What was typed, for messages.
std::string shown(std::string_view text);

// kInvalidArgument: what is wrong, and what is possible.
Result<uid_t> read_user(const reference::Option& option, const std::string& text);
Result<gid_t> read_group(const reference::Option& option, const std::string& text);
// With the user's primary group; a user without a name has the group of that number.
Result<Account> read_account(const reference::Option& option, const std::string& text);

}  // namespace tf::worker
