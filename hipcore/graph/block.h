// SPDX-License-Identifier: Apache-2.0
// Block: memory that a node of a graph allocates. Its address is known from the node's creation on, so the
// memory is there from then on too, as long as a node, an executable graph or a launch needs it. Launches
// only say whether it counts as allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tf::graph {

class Side;

struct Block {
  Block(Side& source, int device_ordinal, std::byte* base, std::size_t size)
      : side(source), device(device_ordinal), address(base), bytes(size) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();  // gives the memory back; without the Library's lock

  Side& side;
  const int device;
  std::byte* const address;
  const std::size_t bytes;
  // The rest is guarded by the Library's lock.
  bool allocated = false;               // a launch has, and nothing has freed it since
  std::weak_ptr<const void> free_node;  // there is one for it, in some graph
  std::weak_ptr<const void>
      allocators;                    // an executable graph that allocates it, and one that frees it: there is
  std::weak_ptr<const void> freers;  // at most one of each at a time
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
