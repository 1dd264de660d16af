// SPDX-License-Identifier: Apache-2.0
// What a session process gives up of its rights: its user, capabilities, core files, and that others of its
// user look into it. For the process as a whole, while it has one thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transport/base/status.h"

namespace tf::worker {

// Programs that it starts will have no capabilities. As far as it may say so: before become().
void bound_capabilities();

// Becomes that user for ever, with the group, and of other groups with those that own the machine's devices.
Status become(uid_t user, gid_t group);

// No program that it starts gets more rights than it has (PR_SET_NO_NEW_PRIVS).
Status gain_nothing();
// Ok also if there are none.
Status drop_capabilities();
// No core files, and no other process of the same user can trace it. A sanitizer's build stays traceable.
Status hide_memory();

// Device files that runtimes use, as far as they are there, and folders of them.
std::vector<std::string> device_files();

}  // namespace tf::worker
