// SPDX-License-Identifier: Apache-2.0
// Records: the sealed records (transport/secure/records.h) in which a control connection's bytes travel.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/secure/records.h"
#include "transport/secure/session.h"

namespace tf::net {

// Both directions of one connection.
class Records {
 public:
  // For the control connection of a session.
  static Result<std::unique_ptr<Records>> make(const secure::Session& session, secure::Side own);

  Status write(int socket, std::span<const std::byte> bytes, Deadline deadline);
  // Exactly so many bytes. kPeerLost when the peer closed before. kProtocol: a record was tampered with.
  Status read(int socket, std::span<std::byte> bytes, Deadline deadline);

 private:
  Records(secure::Sealer sealer, secure::Opener opener)
      : sealer_(std::move(sealer)), opener_(std::move(opener)) {}
  Status receive_record(int socket, Deadline deadline);

  secure::Sealer sealer_;
  std::vector<std::byte> out_;
  secure::Opener opener_;
  std::vector<std::byte> in_;     // the last record
  std::vector<std::byte> plain_;  // and what it said
  std::size_t taken_ = 0;         // of plain_
};

}  // namespace tf::net
