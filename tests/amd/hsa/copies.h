// SPDX-License-Identifier: Apache-2.0
// Copies that run beside the queues, as an SDMA engine's.
//
// Sources of facts: hsa_ext_amd.h 5.2.3 (hsa_amd_memory_async_copy, hsa_amd_memory_async_copy_rect).
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tf::amd::hsa {

// One thread that does copies in the order in which they were given. A copy waits until each of its signals
// is 0; later copies of the same engine wait with it.
class CopyEngine {
 public:
  struct Copy {
    std::vector<hsa_signal_t> wait_for;
    std::function<void()> move;
    hsa_signal_t completion{0};  // decremented afterwards, with the times of the copy; may be 0
  };
  // Never waits.
  void submit(Copy copy);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<Copy> copies_;
  std::thread thread_;  // starts with the first copy, runs until the process ends
};

// A box in memory with pitches.
struct Box {
  hsa_pitched_ptr_t place{};
  hsa_dim3_t offset{};  // x in bytes, y in rows, z in slices

  char* row(std::uint32_t y, std::uint32_t z) const {
    return static_cast<char*>(place.base) + (offset.z + std::size_t{z}) * place.slice +
           (offset.y + std::size_t{y}) * place.pitch + offset.x;
  }
};

void copy_box(const Box& target, const Box& source, const hsa_dim3_t& range);

}  // namespace tf::amd::hsa
