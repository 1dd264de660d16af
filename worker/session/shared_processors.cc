// SPDX-License-Identifier: Apache-2.0
// Tells the runtime which page it shares processors by.
#include "worker/session/shared_processors.h"

#include <fcntl.h>

#include "worker/base/channel.h"
#include "worker/base/limits.h"

namespace tf::worker {

net::OwnedFd take_page_of_turns() {
  static_cast<void>(::fcntl(kTurnsFd, F_SETFD, FD_CLOEXEC));
  return net::OwnedFd(kTurnsFd);
}

Status share_processors(const OptionalFunctions& runtime, const net::OwnedFd& page, std::uint32_t slot,
                        std::uint64_t weight) {
  if (runtime.share_processors == nullptr) return Status::ok();
  const auto part = static_cast<std::uint32_t>(weight == 0 ? kWeightMax : weight);
  if (runtime.share_processors(page.get(), slot, part) == hipSuccess) return Status::ok();
  return {Code::kInternal, "no turns with other sessions: the runtime does not take the page"};
}

}  // namespace tf::worker
