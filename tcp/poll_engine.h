// SPDX-License-Identifier: Apache-2.0
// An engine that uses plain non-blocking system calls. See tcp/engine.h.
#pragma once

#include "tcp/engine.h"

namespace tf::tcp {

LaneIo make_poll_io(int socket);

// kPeerLost for the errors of a broken connection, with the errno's text.
Status io_failure(const char* what, int error_number);
Status end_of_stream();

}  // namespace tf::tcp
