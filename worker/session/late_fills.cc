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
    if (done(index)) continue;
    hipError_t error = device_.use(device);
    if (error == hipSuccess) error = hip_.hipStreamWaitEvent(stream, filled.event, 0);
    check(error, stream, device);
  }
  seen = runs_;
  device_.return_to(before);
}

bool LateFills::wait() {
  const int before = device_.get();
  if (open_device_ >= 0) close();
  std::size_t next = 0;
  const bool alive = life_.wait_until([&] {
    while (next < null_streams_.size() && done(next)) ++next;
    return next == null_streams_.size();
  });
  device_.return_to(before);
  return alive;
}

// Whether the fills of this device that have an event behind them are done.
bool LateFills::done(std::size_t device) {
  NullStream& filled = null_streams_[device];
  if (filled.run == 0) return true;
  if (!own_calls_.is_done(hip_.hipEventQuery(filled.event), nullptr, static_cast<int>(device))) return false;
  filled.run = 0;
  return true;
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
