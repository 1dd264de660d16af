// SPDX-License-Identifier: Apache-2.0
// Tells the runtime which page it shares processors by.
#include "worker/session/shared_processors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "transport/base/spin.h"
#include "worker/base/channel.h"
#include "worker/base/limits.h"
#include "worker/runtime/common/turn_page.h"

namespace tf::worker {
namespace {

using runtime::TurnPage;

class PageSign final : public CrowdSign {
 public:
  PageSign(const TurnPage& page, std::uint32_t slot) : page_(page), slot_(slot) {}
  bool crowded() const override { return page_.others_fill(slot_); }

 private:
  const TurnPage& page_;
  const std::uint32_t slot_;
};

// Maps the page a second time: the runtime's own mapping is the runtime's. Without it threads find out by
// yielding.
void put_up_sign(const net::OwnedFd& page, std::uint32_t slot) {
  struct stat facts {};
  if (slot >= runtime::kTurnSlots || ::fstat(page.get(), &facts) != 0 ||
      facts.st_size < static_cast<off_t>(sizeof(TurnPage)))
    return;
  const void* const mapped = ::mmap(nullptr, sizeof(TurnPage), PROT_READ, MAP_SHARED, page.get(), 0);
  if (mapped == MAP_FAILED) return;
  CrowdSign::put_up(*new PageSign(*static_cast<const TurnPage*>(mapped), slot));  // for the process's life
}

}  // namespace

net::OwnedFd take_page_of_turns() {
  static_cast<void>(::fcntl(kTurnsFd, F_SETFD, FD_CLOEXEC));
  return net::OwnedFd(kTurnsFd);
}

Status share_processors(const OptionalFunctions& runtime, const net::OwnedFd& page, std::uint32_t slot,
                        std::uint64_t weight) {
  if (runtime.share_processors == nullptr) return Status::ok();
  const auto part = static_cast<std::uint32_t>(weight == 0 ? kWeightMax : weight);
  if (runtime.share_processors(page.get(), slot, part) == hipSuccess) {
    put_up_sign(page, slot);
    return Status::ok();
  }
  return {Code::kInternal, "no turns with other sessions: the runtime does not take the page"};
}

}  // namespace tf::worker
