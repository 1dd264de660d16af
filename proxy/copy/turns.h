// SPDX-License-Identifier: Apache-2.0
// Turns: what is kept for copies that wait for their turn on the client's side (copy_turns.h). Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "hipcore/wire/device_snapshot.h"

namespace tf::proxy {

class Turns {
 public:
  // Some have not been made yet. Who copies sees those that it knows of.
  bool any() const { return waiting_.load(std::memory_order_acquire) != 0; }  // pairs with end()
  void begin() { waiting_.fetch_add(1, std::memory_order_relaxed); }
  void end() { waiting_.fetch_sub(1, std::memory_order_release); }

  // The stream that they are made on, while their own stands still. 0: none yet.
  std::mutex& streams_mutex() { return streams_mutex_; }
  std::uint64_t& stream(int device) { return streams_[static_cast<std::size_t>(device)]; }  // under the mutex

 private:
  std::atomic<std::size_t> waiting_{0};
  std::mutex streams_mutex_;
  std::array<std::uint64_t, protocol::kDevicesMax> streams_{};
};

}  // namespace tf::proxy
