// SPDX-License-Identifier: Apache-2.0
// TurnTable: which session process has which slot of the page by which they share the host's processors
// (worker/runtime/common/turn_page.h). Belongs to the supervisor, which trusts nothing in the page.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "worker/runtime/common/turn_page.h"

namespace tf::worker {

class TurnTable {
 public:
  // A seat for each processor: at least one, at most kSeatsMax.
  static Result<TurnTable> make(unsigned processors);

  // Of a table that was not made there are none.

  // None: all are taken; the process shares as the system's scheduler has it.
  std::optional<std::uint32_t> take();
  // The process has ended: what it had of the page is free.
  void give_back(std::uint32_t slot);
  // What session processes map. Owned by the table.
  const net::OwnedFd& file() const { return file_; }

 private:
  struct Unmap {
    void operator()(runtime::TurnPage* page) const;
  };

  net::OwnedFd file_;
  std::unique_ptr<runtime::TurnPage, Unmap> page_;
  std::vector<bool> taken_;
};

}  // namespace tf::worker
