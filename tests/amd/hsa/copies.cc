// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/copies.h"

#include <cstring>

#include "tests/amd/hsa/signals.h"

namespace tf::amd::hsa {

void CopyEngine::submit(Copy copy) {
  {
    const std::lock_guard lock(mutex_);
    copies_.push_back(std::move(copy));
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  }
  added_.notify_one();
}

void CopyEngine::serve() {
  for (;;) {
    Copy copy;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !copies_.empty(); });
      copy = std::move(copies_.front());
      copies_.pop_front();
    }
    for (const hsa_signal_t signal : copy.wait_for) {
      wait_for(
          *signal_at(signal), [](std::int64_t value) { return value == 0; }, kForever);
    }
    const std::uint64_t start = timestamp_ns();
    copy.move();
    if (copy.completion.handle == 0) continue;
    amd_signal_t& completion = *signal_at(copy.completion);
    completion.start_ts = start;
    completion.end_ts = timestamp_ns();
    value_of(completion).fetch_sub(1);
    signal_changed(completion);
  }
}

void copy_box(const Box& target, const Box& source, const hsa_dim3_t& range) {
  for (std::uint32_t z = 0; z < range.z; z++) {
    for (std::uint32_t y = 0; y < range.y; y++) std::memcpy(target.row(y, z), source.row(y, z), range.x);
  }
}

}  // namespace tf::amd::hsa
