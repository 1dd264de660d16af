// SPDX-License-Identifier: Apache-2.0
// Cooperative groups for HIP 5's headers: the vendor's, plus what HIP 6 adds to tiles, meta_group_size() and
// meta_group_rank(). Includes what they need of hip_runtime.h, whatever a source includes first.
#pragma once

#include <hip/hip_runtime.h>
#include <hip/hip_version.h>

#if HIP_VERSION_MAJOR >= 6
#include_next <hip/hip_cooperative_groups.h>
#else

// The vendor's tile, and the functions that make one, get other names; we take their names.
#define thread_block_tile hipr_block_tile
#define tiled_partition hipr_partition
#include_next <hip/hip_cooperative_groups.h>
#undef thread_block_tile
#undef tiled_partition

namespace cooperative_groups {

template <unsigned int size, class ParentCGTy = void>
class thread_block_tile : public hipr_block_tile<size, ParentCGTy> {
 public:
  // Made by tiled_partition().
  __CG_QUALIFIER__ explicit thread_block_tile(const ParentCGTy& parent)
      : hipr_block_tile<size, ParentCGTy>(parent),
        meta_size_((parent.size() + size - 1) / size),
        meta_rank_(parent.thread_rank() / size) {}

  // The number of the parent's tiles, and this tile's index.
  __CG_QUALIFIER__ unsigned int meta_group_size() const { return meta_size_; }
  __CG_QUALIFIER__ unsigned int meta_group_rank() const { return meta_rank_; }

 private:
  unsigned int meta_size_, meta_rank_;
};

// A tile of any parent.
template <unsigned int size>
class thread_block_tile<size, void> : public hipr_block_tile<size, void> {
 public:
  template <class ParentCGTy>
  __CG_QUALIFIER__ thread_block_tile(const thread_block_tile<size, ParentCGTy>& tile)
      : hipr_block_tile<size, void>(tile), meta_size_(tile.meta_group_size()), meta_rank_(tile.meta_group_rank()) {}

  __CG_QUALIFIER__ unsigned int meta_group_size() const { return meta_size_; }
  __CG_QUALIFIER__ unsigned int meta_group_rank() const { return meta_rank_; }

 private:
  unsigned int meta_size_, meta_rank_;
};

template <unsigned int size, class ParentCGTy>
__CG_QUALIFIER__ thread_block_tile<size, ParentCGTy> tiled_partition(const ParentCGTy& parent) {
  static_assert(is_valid_tile_size<size>::value, "a tile is a power of two and no larger than a wave");
  return thread_block_tile<size, ParentCGTy>(parent);
}

__CG_QUALIFIER__ thread_group tiled_partition(const thread_group& parent, unsigned int tile_size) {
  return hipr_partition(parent, tile_size);
}
__CG_QUALIFIER__ thread_group tiled_partition(const thread_block& parent, unsigned int tile_size) {
  return hipr_partition(parent, tile_size);
}
__CG_QUALIFIER__ tiled_group tiled_partition(const tiled_group& parent, unsigned int tile_size) {
  return hipr_partition(parent, tile_size);
}
__CG_QUALIFIER__ coalesced_group tiled_partition(const coalesced_group& parent, unsigned int tile_size) {
  return hipr_partition(parent, tile_size);
}

}  // namespace cooperative_groups

#endif
