// SPDX-License-Identifier: Apache-2.0
// Reads paths and modes.
#include "tools/hip-worker/socket_options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "reference/gen/programs.h"
#include "tools/hip-worker/accounts.h"

namespace tf::worker {
namespace {

namespace about = reference::hip_worker;

constexpr mode_t kOwnerOnly = 0600;
constexpr mode_t kGroupToo = 0660;
constexpr mode_t kEverybody = 0666;  // then the worker's check alone decides

Result<mode_t> read_mode(const reference::Option& option, const std::string& text) {
  unsigned mode = 0;
  const char* const behind = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), behind, mode, 8);
  if (error == std::errc() && end == behind && mode <= 0777) return mode;
  return invalid_argument(
      std::string(option.name) + " " + shown(text) +
      ": expected an octal number from 0 to 777: 600 (the worker's user), 660 (its group too) or 666 "
      "(everybody; then --allow-uid and --allow-gid alone decide)");
}

// A path or @name; "unix:" before it is what clients write, and harmless.
Status take_socket(const std::string& text, Options& options) {
  if (text.empty()) return Status::ok();
  const Result<net::Address> address = net::Address::parse(text.starts_with("unix:") ? text : "unix:" + text);
  if (!address) return {address.code(), "--socket: " + address.status().message()};
  options.socket = address.value().path();
  return Status::ok();
}

// Whether this process may give a file to the group, as far as can be told beforehand.
bool may_give_to(gid_t group) {
  if (::geteuid() == 0 || ::getegid() == group) return true;
  std::vector<gid_t> own(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  own.resize(static_cast<std::size_t>(std::max(0, ::getgroups(static_cast<int>(own.size()), own.data()))));
  return std::ranges::count(own, group) != 0;
}

// The least that lets the guests reach the socket. Root needs no right to write.
net::SocketFile least_file(const Guests& guests) {
  const bool has_users =
      std::ranges::any_of(guests.users, [](uid_t user) { return user != 0 && user != ::geteuid(); });
  if (!has_users && guests.groups.empty()) return {.mode = kOwnerOnly, .group = {}};
  if (!has_users && guests.groups.size() == 1 && may_give_to(guests.groups.front()))
    return {.mode = kGroupToo, .group = guests.groups.front()};
  return {.mode = kEverybody, .group = {}};
}

Status take_guests(const reference::CommandLine& line, Guests& guests) {
  for (const std::string& text : line.list(about::kAllowUid)) {
    const Result<uid_t> user = read_user(about::kAllowUid, text);
    if (!user) return user.status();
    guests.users.push_back(user.value());
  }
  for (const std::string& text : line.list(about::kAllowGid)) {
    const Result<gid_t> group = read_group(about::kAllowGid, text);
    if (!group) return group.status();
    guests.groups.push_back(group.value());
  }
  for (auto* ids : {&guests.users, &guests.groups}) {  // named twice, or by name and number
    std::ranges::sort(*ids);
    ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
  }
  return Status::ok();
}

Status take_file(const reference::CommandLine& line, Options& options) {
  options.socket_file = least_file(options.guests);
  for (const reference::Option* option : {&about::kSocketMode, &about::kSocketGroup})
    if (line.has(*option) && options.socket.starts_with('@'))
      return invalid_argument(
          std::string(option->name) + ": " + shown(options.socket) +
          " is no file, so it has no mode and no group; --allow-uid and --allow-gid say who may connect");
  if (line.has(about::kSocketGroup)) {
    const Result<gid_t> group = read_group(about::kSocketGroup, line.text(about::kSocketGroup));
    if (!group) return group.status();
    options.socket_file = {.mode = kGroupToo, .group = group.value()};
  }
  if (!line.has(about::kSocketMode)) return Status::ok();
  const Result<mode_t> mode = read_mode(about::kSocketMode, line.text(about::kSocketMode));
  if (!mode) return mode.status();
  options.socket_file.mode = mode.value();
  return Status::ok();
}

}  // namespace

Status take_socket_options(const reference::CommandLine& line, Options& options) {
  TF_RETURN_IF_ERROR(take_socket(line.text(about::kSocket), options));
  TF_RETURN_IF_ERROR(take_guests(line, options.guests));
  return take_file(line, options);
}

}  // namespace tf::worker
