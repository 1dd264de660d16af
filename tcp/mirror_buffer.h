// SPDX-License-Identifier: Apache-2.0
// A byte ring whose memory is mapped twice in a row, so that any `capacity` bytes from any position are
// contiguous: records are filled, sent, received and parsed in place and never wrap. Move-only. Not
// synchronised: its user decides who touches which bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/base/status.h"

namespace tf::tcp {

class MirrorBuffer {
 public:
  // REQUIRES: capacity is a power of two and a multiple of the page size. The pages are touched here, not
  // on the data path.
  static Result<MirrorBuffer> create(std::size_t capacity);
  MirrorBuffer(MirrorBuffer&& other) noexcept;
  MirrorBuffer& operator=(MirrorBuffer&&) = delete;
  ~MirrorBuffer();

  std::size_t capacity() const { return capacity_; }
  // `bytes` <= capacity bytes at `position`, which counts up for ever.
  std::span<std::byte> at(std::uint64_t position, std::size_t bytes) const {
    return {memory_ + (position & (capacity_ - 1)), bytes};
  }

 private:
  MirrorBuffer(std::byte* memory, std::size_t capacity) : memory_(memory), capacity_(capacity) {}

  std::byte* memory_;
  std::size_t capacity_;
};

}  // namespace tf::tcp
