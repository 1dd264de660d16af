// SPDX-License-Identifier: Apache-2.0
// Namespaces (namespaces(7)) of a session process. It keeps what is open: its channel, and the connections
// that the supervisor passes to it later. Processes keep their numbers, since those name who shared an event;
// /proc shows a process only to whoever may trace it.
//
// For the process as a whole, while it has one thread and, but for the second, CAP_SYS_ADMIN. Each says why
// it cannot be had.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "transport/base/status.h"

namespace tf::worker {

// The first of `devices` (files) without whose drivers' consent none of this is done: GPUs and network
// devices that do rdma may need the host's network and folders, and none has been tried without. Empty: there
// is none.
std::string untried_device(const std::vector<std::string>& devices);

// For a process without CAP_SYS_ADMIN: a user namespace in which it has that, with its user and group and no
// others. Files and processes of others are nobody's to it; what it may do outside stays as it was.
Status become_root_of_itself();
// Message queues, semaphores and shared memory by name of its own.
Status separate_ipc();
// No network interfaces but a loopback one that is down.
Status separate_network();
// Mounts of its own, of which nothing shows outside, and which end with the last process that sees them.
Status separate_mounts();
// The rest is for a process that has those. Folders of people and of other programs are empty, unless one of
// `needed` (files and folders) lies below them.
void hide_folders(const std::vector<std::string>& needed);
// Of the folder only what is `kept` (files and folders below it) is there; all stays if that cannot be had,
// or if one of `needed` lies below it.
void keep_only(const std::string& folder, const std::vector<std::string>& kept,
               const std::vector<std::string>& needed);
// The folder is a file system of its own of that size, in memory (tmpfs(5)), and `user`'s.
Status limit_folder(const std::string& folder, std::size_t mib, uid_t user, gid_t group);
// /proc without processes that this one may not trace.
Status hide_processes();

}  // namespace tf::worker
