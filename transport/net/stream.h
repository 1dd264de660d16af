// SPDX-License-Identifier: Apache-2.0
// Stream: a connected socket whose bytes travel as they are, or in sealed records
// (transport/secure/records.h): a control connection.
//
// One thread at a time writes, and one at a time reads. What was written in one call travels in records of
// its own, so a reader that takes whole messages never leaves a part of one behind in memory, where poll(2)
// would not see it.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::net {

class Records;  // records.h

// Owns nothing.
struct Stream {
  Stream(int of) : socket(of) {}  // NOLINT: implicit, a socket without keys is itself
  Stream(int of, Records* through) : socket(of), records(through) {}

  int socket;
  Records* records = nullptr;  // null: as they are
};

class OwnedStream {
 public:
  OwnedStream() = default;
  OwnedStream(OwnedFd socket) : socket_(std::move(socket)) {}  // NOLINT: implicit, as above
  OwnedStream(OwnedFd socket, std::shared_ptr<Records> records)
      : socket_(std::move(socket)), records_(std::move(records)) {}

  explicit operator bool() const { return static_cast<bool>(socket_); }
  int get() const { return socket_.get(); }  // for poll(2) and the like
  Stream stream() const { return {socket_.get(), records_.get()}; }

 private:
  OwnedFd socket_;
  std::shared_ptr<Records> records_;
};

// As those for sockets (socket.h).
Status write_all(const Stream& stream, std::span<const std::byte> bytes, Deadline deadline);
Status read_all(const Stream& stream, std::span<std::byte> bytes, Deadline deadline);

}  // namespace tf::net
