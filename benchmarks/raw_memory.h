// SPDX-License-Identifier: Apache-2.0
// Every kind of memory that copies use, to measure what one core can copy between the same kinds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tf::bench {

enum class Pages {
  kHeap,   // of malloc
  kSmall,  // private, 4 KiB
  kHuge,   // private, 2 MiB where the system gives them
  kFile,   // of a memory file that others map too, as the transports and the CPU runtime have them
};

// Touched pages. data() is null if there is no room.
class RawMemory {
 public:
  // `address`: its address (not for the heap); 0: the kernel chooses.
  RawMemory(Pages pages, std::uint64_t bytes, std::uint64_t address = 0);
  RawMemory(const RawMemory&) = delete;
  RawMemory& operator=(const RawMemory&) = delete;
  ~RawMemory();

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Pages pages_;
  std::uint64_t bytes_;
  std::uint64_t mapped_bytes_;
  std::byte* data_ = nullptr;
};

// One memcpy of all of it by this core, median, in GB/s (1e9 bytes); short ones in batches. 0: there is no
// memory.
double memcpy_gb_per_s(const RawMemory& target, const RawMemory& source, double budget_s);

}  // namespace tf::bench
