// SPDX-License-Identifier: Apache-2.0
// Aligned memory with a fresh ring in it, and the hands of a hostile peer on it. One thread.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "transport/ring.h"

namespace tf::test {

class RingMemory {
 public:
  explicit RingMemory(std::size_t capacity)
      : bytes_(ring_bytes(capacity)),
        memory_(static_cast<std::byte*>(std::aligned_alloc(kRingLineBytes, bytes_))),
        view_(RingView::format(span(), capacity).value()) {}

  RingView view() const { return view_; }
  std::span<std::byte> span() const { return {memory_.get(), bytes_}; }
  void write_word(std::uint64_t position, std::uint64_t word) const {
    view_.word(position).store(word, std::memory_order_release);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  RingView view_;
};

}  // namespace tf::test
