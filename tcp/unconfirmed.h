// SPDX-License-Identifier: Apache-2.0
// Pieces whose receipt has not come. What a connection has lost of them is sent again over another one, so
// their memory stays in use until then.
//
// Its owner's mutex guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "tcp/piece.h"
#include "transport/base/status.h"

namespace tf::tcp {

class Unconfirmed {
 public:
  // Memory of the send `send` that nobody needs any more.
  struct Freed {
    std::uint64_t send = 0;
    std::size_t bytes = 0;
  };

  // Connection `lane` begins to send a piece.
  void begin(const OutgoingPiece& piece, unsigned lane);
  // Its kernel needs `bytes` more of the piece's memory no longer.
  std::optional<Freed> release(const PieceId& id, std::size_t bytes);
  // The receipt has come. kProtocol: of nothing that was sent.
  Result<std::optional<Freed>> confirm(const PieceId& id);
  // `lane` sends nothing any more, and has let go of all memory.
  std::vector<Freed> lose(unsigned lane);
  // The next one that is to be sent again. begin() follows.
  std::optional<OutgoingPiece> take_lost();

  // Pieces, and their bytes, that are to be sent again.
  std::size_t lost() const { return lost_.size(); }
  std::size_t lost_bytes() const { return lost_bytes_; }
  void forget_lost();

 private:
  struct Entry {
    OutgoingPiece piece;
    unsigned lane = 0;
    std::size_t released = 0;
    bool reading = false;  // the lane may still read its memory
    bool confirmed = false;
  };
  using Entries = std::map<PieceId, Entry>;
  Freed erase(Entries::iterator entry);

  Entries entries_;
  std::deque<PieceId> lost_;  // each has an entry
  std::size_t lost_bytes_ = 0;
};

}  // namespace tf::tcp
