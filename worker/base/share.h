// SPDX-License-Identifier: Apache-2.0
// Share: what a session may have of what its tenant has, and what it uses. take() and reached() belong to the
// executor thread; give() and the questions may be asked by any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "hipcore/limits/device_limits.h"
#include "worker/base/limits.h"
#include "worker/base/log_limit.h"
#include "worker/base/session_tally.h"
#include "worker/base/tenant_page.h"

namespace tf::worker {

class Share {
 public:
  // Without limits, and of no tenant.
  Share() : page_(TenantPage::alone()) {}
  // `devices`: what the host's manager says of them.
  Share(const LimitValues& limits, const hipcore::DeviceLimits& devices, TenantPage page)
      : limits_(limits), devices_(devices), page_(std::move(page)) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // The device has this UUID, in the words of ROCR_VISIBLE_DEVICES. Before the session starts.
  void name_device(std::size_t device, std::string_view uuid);

  // How the log calls the session.
  void call(std::string whose) { whose_ = std::move(whose); }

  // Counts refusals there too, for metrics. It outlives this.
  void count_in(SessionTally& tally) { tally_ = &tally; }

  // 0: none.
  std::uint64_t of(Limit limit) const { return limits_[static_cast<std::size_t>(limit)]; }
  const LimitValues& limits() const { return limits_; }
  // The tenant's limit and the device's, whichever is less. 0: there is none.
  std::uint64_t memory_limit(std::size_t device) const;

  // False: the tenant has no more. That is counted, and a line of the log unless there were many lately.
  // `most`: a limit besides the tenant's own; 0: none.
  bool take(Limit limit, Counter counter, std::uint64_t amount, std::uint64_t most = 0);
  void give(Counter counter, std::uint64_t amount) { page_.give(counter, amount); }

  // One without a counter is reached: counted and logged as the others.
  void reached(Limit limit) { refuse(limit, of(limit)); }

  std::uint64_t used_here(Counter counter) const { return page_.used_here(counter); }
  // By other sessions of the tenant.
  std::uint64_t used_by_others(Counter counter) const { return page_.used_by_others(counter); }

  // "at most 1048576 bytes of device 0, 3 streams; refused: memory 2 times": for the log, at the end.
  std::string text() const;

 private:
  void refuse(Limit limit, std::uint64_t most);

  const LimitValues limits_{};
  const hipcore::DeviceLimits devices_{};
  std::array<std::uint64_t, protocol::kDevicesMax> device_memory_{};  // bytes; 0: no limit
  TenantPage page_;
  SessionTally* tally_ = nullptr;
  std::string whose_ = "a session";
  LogLimit log_;
  // That the session had at a time.
  std::array<std::uint64_t, static_cast<std::size_t>(Counter::kEnd)> most_{};
  std::array<std::uint64_t, kLimits> refused_{};
};

}  // namespace tf::worker
