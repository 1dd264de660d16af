// SPDX-License-Identifier: Apache-2.0
// Filling: how far memory has been filled that is sent meanwhile (BulkPlane::send_filling).
//
// Who fills it owns the object, and keeps it until the send has ended. One thread at a time fills; any looks.
#pragma once

#include <atomic>
#include <cstddef>

namespace tf {

class Filling {
 public:
  // That many bytes at the front are there, and do not change any more. Never fewer than before.
  void reach(std::size_t bytes) { reached_.store(bytes, std::memory_order_release); }
  // No more will come.
  void stop() { stopped_.store(true, std::memory_order_release); }

  std::size_t reached() const { return reached_.load(std::memory_order_acquire); }  // pairs with reach()
  bool is_stopped() const { return stopped_.load(std::memory_order_acquire); }      // pairs with stop()

 private:
  std::atomic<std::size_t> reached_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace tf
