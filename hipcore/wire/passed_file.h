// SPDX-License-Identifier: Apache-2.0
// A file of the client that the worker is to map (MapHostFile), with the number by which the request names
// it. Travels on the control connection, at any time after HELLO, if the client is on the worker's host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::protocol {

// Limit on files that are in flight or not yet named by a request. One more ends the session.
inline constexpr std::size_t kPassedFilesMax = 16;

struct PassedFile {
  std::uint64_t number = 0;
  net::OwnedFd file;
};

// Client side. One call at a time per connection.
Status send_passed_file(int socket, std::uint64_t number, int file, Deadline deadline);
// Worker side. kProtocol: something else came.
Result<PassedFile> receive_passed_file(int socket, Deadline deadline);

}  // namespace tf::protocol
