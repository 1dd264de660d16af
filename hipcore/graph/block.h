// SPDX-License-Identifier: Apache-2.0
// Block: memory that a node of a graph allocates. Its address is known from the node's creation on, so the
// memory is there from then on too, as long as a node, an executable graph or a launch needs it. Launches
// only say whether it counts as allocated.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tf::graph {

class Side;

struct Block {
  // `all`: how many live.
  Block(Side& source, std::atomic<std::size_t>& all, int device_ordinal, std::byte* base, std::size_t size);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();  // gives the memory back; without the Library's lock

  Side& side;
  std::atomic<std::size_t>& count;
  const int device;
  std::byte* const address;
  const std::size_t bytes;
  // The rest is guarded by the Library's lock.
  bool allocated = false;                // a launch has, and nothing has freed it since
  std::weak_ptr<const void> free_node;   // the mark of the one node that frees it, in whatever graph
  std::weak_ptr<const void> allocators;  // the mark of the one executable graph that allocates it
  std::weak_ptr<const void> freers;      // the mark of the one executable graph that frees it
};

// What a device's graphs have allocated. Bytes.
struct MemoryAccount {
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved_high = 0;
};

// An allocation, or a release, among the items of a plan.
struct MemoryStep {
  std::shared_ptr<Block> block;
  bool allocates = false;
};

}  // namespace tf::graph
