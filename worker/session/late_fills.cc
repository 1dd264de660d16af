// SPDX-License-Identifier: Apache-2.0
// Puts events behind fills, and lets streams wait for them.
#include "worker/session/late_fills.h"

#include <string>
#include <utility>

namespace tf::worker {

LateFills::~LateFills() {
  for (const NullStream& each : null_streams_)
    if (each.event != nullptr) own_calls_.pass_on(hip_.hipEventDestroy(each.event));
}

// Fills in a row share one event.
void LateFills::begin() {
  if (open_device_ == device_.get()) return;
  precede_null();
  open_device_ = device_.get();
}

void LateFills::order(hipStream_t stream, int device, std::uint64_t& seen) {
  const int before = device_.get();
  if (open_device_ >= 0) close();
  for (std::size_t index = 0; index < null_streams_.size() && seen != runs_; ++index) {
    NullStream& filled = null_streams_[index];
    const int owner = static_cast<int>(index);
    if (filled.run <= seen || (stream == nullptr && owner == device)) continue;
    if (own_calls_.is_done(hip_.hipEventQuery(filled.event), nullptr, owner)) {
      filled.run = 0;
      continue;
    }
    hipError_t error = device_.use(device);
    if (error == hipSuccess) error = hip_.hipStreamWaitEvent(stream, filled.event, 0);
    check(error, stream, device);
  }
  seen = runs_;
  device_.return_to(before);
}

// Before anything follows the fills on their null stream: nobody is to wait for more than them.
void LateFills::close() {
  const int device = std::exchange(open_device_, -1);
  hipError_t error = device_.use(device);
  if (error != hipSuccess) return check(error, nullptr, device);
  if (own_calls_.is_done(hip_.hipStreamQuery(nullptr), nullptr, device)) return;
  NullStream& filled = null_streams_[static_cast<std::size_t>(device)];
  if (filled.event == nullptr) {
    error = hip_.hipEventCreateWithFlags(&filled.event, hipEventDisableTiming);
    if (error != hipSuccess) filled.event = nullptr;
  }
  if (error == hipSuccess) error = hip_.hipEventRecord(filled.event, nullptr);
  if (error == hipSuccess) filled.run = ++runs_;
  check(error, nullptr, device);
}

// Failed work orders nothing any more. Anything else would let streams overtake the fill.
void LateFills::check(hipError_t error, hipStream_t stream, int device) {
  if (own_calls_.keep(error, stream, device) == hipSuccess || is_of_earlier_work(error)) return;
  life_.end({Code::kInternal, "no stream can wait for a fill: error " + std::to_string(error)});
}

}  // namespace tf::worker
