// SPDX-License-Identifier: Apache-2.0
// Chooses the socket of a user's own worker, and looks who listens there.
#include "transport/net/own_socket.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "transport/net/address.h"
#include "transport/net/socket.h"

namespace tf::net {
namespace {

constexpr std::chrono::milliseconds kLookTime{200};  // for a backlog that is full

bool belongs_to_this_user_alone(const std::string& folder) {
  struct stat info {};
  return folder.starts_with('/') && ::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

std::string own_socket() {
  const std::string user = std::to_string(::geteuid());
  const char* const named = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder = named != nullptr && *named != '\0' ? named : "/run/user/" + user;
  const std::string path = folder + "/hip-remote.sock";
  if (belongs_to_this_user_alone(folder) && path.size() < sizeof(sockaddr_un::sun_path)) return path;
  return "@hip-remote-" + user;
}

bool listens_as_this_user(const std::string& socket) {
  const Result<OwnedFd> connection = dial(Address::unix_socket(socket), Deadline::after(kLookTime));
  if (!connection) return false;
  const Result<PeerCredentials> peer = peer_credentials(connection.value().get());
  return peer && peer.value().uid == ::geteuid();
}

}  // namespace tf::net
