// SPDX-License-Identifier: Apache-2.0
// Looks users and groups up.
#include "tools/hip-worker/accounts.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <optional>

namespace tf::worker {
namespace {

// `whose`: "user" or "group". `look_up`: the number of a name, with errno 0 and none if there is no such
// name.
Result<std::uint32_t> read_id(const reference::Option& option, std::string_view whose,
                              const std::string& text, std::optional<std::uint32_t> (*look_up)(const char*)) {
  if (text.find_first_not_of("0123456789") == std::string::npos) {
    const Result<long> number = reference::parse_number(option.name, text, 0, kIdMax);
    if (!number) return number.status();
    return static_cast<std::uint32_t>(number.value());
  }
  const std::string what = std::string(option.name) + " " + shown(text);
  errno = 0;
  if (const std::optional<std::uint32_t> found = look_up(text.c_str())) return *found;
  // What getpwnam(3) lists for a name that nobody has.
  if (errno != 0 && errno != ENOENT && errno != ESRCH && errno != EBADF && errno != EPERM)
    return Status::from_errno(what + ": looking it up", errno);
  return invalid_argument(what + ": there is no such " + std::string(whose) +
                          " here; expected the name of a " + std::string(whose) +
                          " or its number, from 0 to " + std::to_string(kIdMax));
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t kShownBytesMax = 100;
  return std::string(text.substr(0, kShownBytesMax));
}

Result<uid_t> read_user(const reference::Option& option, const std::string& text) {
  return read_id(option, "user", text, [](const char* name) {
    const passwd* const entry = ::getpwnam(name);
    return entry != nullptr ? std::optional(entry->pw_uid) : std::nullopt;
  });
}

Result<gid_t> read_group(const reference::Option& option, const std::string& text) {
  return read_id(option, "group", text, [](const char* name) {
    const group* const entry = ::getgrnam(name);
    return entry != nullptr ? std::optional(entry->gr_gid) : std::nullopt;
  });
}

Result<Account> read_account(const reference::Option& option, const std::string& text) {
  const Result<uid_t> user = read_user(option, text);
  if (!user) return user.status();
  const passwd* const entry = ::getpwuid(user.value());
  return Account{user.value(), entry != nullptr ? entry->pw_gid : gid_t{user.value()}};
}

}  // namespace tf::worker
