// SPDX-License-Identifier: Apache-2.0
// What the client says on the control connection, at any time after HELLO: outside the order of its requests,
// so that no number of requests can hold it up.
//
// A file that the worker is to map (MapHostFile), with the number by which the request names it: only if the
// client is on the worker's host. That a host function has run, so that the stream behind it goes on: the
// requests in front of such a message could be waiting for that very stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::protocol {

// Limit on files that are in flight or not yet named by a request. One more ends the session.
inline constexpr std::size_t kPassedFilesMax = 16;

struct ControlMessage {
  enum class Kind { kFile, kCallbackDone };
  Kind kind = Kind::kFile;
  std::uint64_t number = 0;  // kFile: the file's. kCallbackDone: the cookie of HostCallback
  net::OwnedFd file;         // kFile
};

// Client side. One call at a time per connection.
Status send_passed_file(int socket, std::uint64_t number, int file, Deadline deadline);
Status send_callback_done(int socket, std::uint64_t cookie, Deadline deadline);
// Worker side. kProtocol: something else came.
Result<ControlMessage> receive_control_message(int socket, Deadline deadline);

}  // namespace tf::protocol
