// SPDX-License-Identifier: Apache-2.0
// A network that is cut, for one socket, and without any privilege: nothing that arrives for it gets as far
// as its connection any more, which so answers nothing.
#pragma once

#include <linux/filter.h>
#include <sys/socket.h>

namespace tf::test {

// The peer of `socket` hears nothing from now on. False: this kernel refuses.
inline bool cut_off(int socket) {
  sock_filter drop = {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
  const sock_fprog program = {.len = 1, .filter = &drop};
  return ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

// Whole again.
inline bool join_again(int socket) {
  const int unused = 0;
  return ::setsockopt(socket, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused) == 0;
}

}  // namespace tf::test
