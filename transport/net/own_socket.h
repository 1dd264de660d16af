// SPDX-License-Identifier: Apache-2.0
// Own socket: where a user's own worker listens, and where the user's programs look for it, if nothing says
// otherwise.
#pragma once

#include <string>

namespace tf::net {

// "$XDG_RUNTIME_DIR/hip-remote.sock", or, if that is unset, the same in /run/user/UID. The folder has to
// belong to this user alone. If there is none: "@hip-remote-UID", an abstract name, which anybody may take.
std::string own_socket();

// Whether a process of this user listens there. It notices a connection that says nothing.
bool listens_as_this_user(const std::string& socket);

}  // namespace tf::net
