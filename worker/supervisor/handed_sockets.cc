// SPDX-License-Identifier: Apache-2.0
// Reads LISTEN_PID and LISTEN_FDS.
#include "worker/supervisor/handed_sockets.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "worker/supervisor/taken_variables.h"

namespace tf::worker {
namespace {

constexpr int kFirst = 3;  // SD_LISTEN_FDS_START

}  // namespace

Result<std::vector<net::Listener>> take_handed_sockets() {
  const std::string whom = take_variable("LISTEN_PID");
  const std::string text = take_variable("LISTEN_FDS");
  take_variable("LISTEN_FDNAMES");
  std::vector<net::Listener> handed;
  if (text.empty() || positive_number(whom) != ::getpid()) return handed;
  const std::int64_t count = positive_number(text).value_or(0);
  if (count < 1 || count > kHandedSocketsMax)
    return invalid_argument(fmt::format("LISTEN_FDS={}: expected 1 to {} sockets", text, kHandedSocketsMax));
  for (int number = kFirst; number < kFirst + static_cast<int>(count); ++number) {
    Result<net::Listener> listener = net::Listener::adopt(net::OwnedFd(number));
    if (!listener)
      return Status(listener.code(), fmt::format("LISTEN_FDS={}: descriptor {} cannot be listened on: {}",
                                                 text, number, listener.status().message()));
    handed.push_back(std::move(*listener));
  }
  return handed;
}

}  // namespace tf::worker
