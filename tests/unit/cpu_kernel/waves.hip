// SPDX-License-Identifier: Apache-2.0
// Lanes that exchange through memory without a block's barrier, as programs for lockstep waves do.
#include <hip/hip_runtime.h>
// Behind the runtime's header, which AMD's version of it wants.
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

// Sums of tiles of 16. Tiles of odd number go round more often, so lanes of a wave are at different places.
extern "C" __global__ void tile_sums(const unsigned* in, unsigned* out) {
  __shared__ unsigned parts[1024];
  const cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
  const unsigned rank = tile.thread_rank(), number = threadIdx.x / 16;
  unsigned* const mine = parts + number * 16;
  unsigned all = 0;
  for (unsigned turn = 0; turn <= number % 2; ++turn) {
    unsigned sum = in[threadIdx.x] + turn;
    for (unsigned half = tile.size() / 2; half > 0; half /= 2) {
      mine[rank] = sum;
      tile.sync();
      if (rank < half) sum += mine[rank + half];
      tile.sync();
    }
    all += sum;
  }
  if (rank == 0) out[number] = all;
}

// The same through the untyped group, whose sync() asks for its kind.
extern "C" __global__ void group_reverse(unsigned* out) {
  __shared__ unsigned parts[1024];
  const cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 8);
  parts[threadIdx.x] = threadIdx.x;
  tile.sync();
  out[threadIdx.x] = parts[threadIdx.x ^ 7];
}

// The last steps of many reductions: one wave, volatile, no barrier.
extern "C" __global__ void volatile_sum(const unsigned* in, unsigned* out) {
  __shared__ unsigned parts[128];
  const unsigned t = threadIdx.x;
  parts[t] = in[t];
  __syncthreads();
  if (t < 64) {
    volatile unsigned* const s = parts;
    s[t] += s[t + 64];
    if (t < 32) {
      s[t] += s[t + 32];
      s[t] += s[t + 16];
      s[t] += s[t + 8];
      s[t] += s[t + 4];
      s[t] += s[t + 2];
      s[t] += s[t + 1];
    }
  }
  if (t == 0) out[0] = parts[0];
}

// Each lane takes its left and its right neighbour's value at once: neither order of lanes gives that by chance.
extern "C" __global__ void volatile_shift(unsigned* out) {
  __shared__ volatile unsigned s[64];
  const unsigned t = threadIdx.x;
  s[t] = t;
  for (unsigned turn = 0; turn < 3; ++turn) s[t] = s[(t + 1) % 64] + s[(t + 63) % 64];
  out[t] = s[t];
}

extern "C" __global__ void fences(unsigned* out) {
  extern __shared__ unsigned s[];
  const unsigned t = threadIdx.x, n = blockDim.x;
  s[t] = t;
  __threadfence_block();
  out[t] = s[t ^ 63];
  __builtin_amdgcn_wave_barrier();
  s[t] = 2 * t;
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  out[n + t] = s[t ^ 63];
  __builtin_amdgcn_wave_barrier();
  s[t] = 3 * t;
  __threadfence();
  out[2 * n + t] = s[t ^ 63];
}

// Some lanes have ended, some wait at the block's barrier, the others exchange.
extern "C" __global__ void some_are_gone(unsigned* out) {
  __shared__ volatile unsigned s[256];
  const unsigned t = threadIdx.x;
  if (t % 8 == 7) return;
  if (t % 8 < 4) {
    s[t] = t;
    s[t] = s[t ^ 3] + 1;
    out[t] = s[t ^ 1];
  }
  __syncthreads();
  if (t % 8 >= 4) out[t] = s[t ^ 4];
}

// A wave waits for another, and a lane for another of its wave, in a loop.
extern "C" __global__ void spins(unsigned* out, unsigned setter) {
  __shared__ volatile unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    out[0] = flag;
  } else if (threadIdx.x == setter) {
    flag = setter;
  }
}

// The same with atomic operations: an addition of nothing, an exchange, and a comparison.
extern "C" __global__ void spins_on_atomics(unsigned* out, unsigned setter, unsigned way) {
  __shared__ unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (way == 0) {
      while (atomicAdd(&flag, 0u) == 0) {
      }
    } else if (way == 1) {
      while (atomicExch(&flag, 0u) == 0) {
      }
    } else {
      while (atomicCAS(&flag, setter, 1u) != setter) {
      }
    }
    out[0] = setter;
  } else if (threadIdx.x == setter) {
    atomicExch(&flag, setter);
  }
}

// The same in memory of the grid: each thread waits for the one behind it, so the last one ends first. `counts` has a
// flag and a count of each thread.
extern "C" __global__ void spins_without_shared(unsigned* counts, unsigned way) {
  const unsigned block = blockIdx.x, threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned* const flag = counts + (block * threads + t) * 2;
  if (t + 1 < threads && t % 16 != 5) {
    if (way == 0) {
      while (atomicAdd(flag + 2, 0u) == 0) {
      }
    } else if (way == 1) {
      while (atomicCAS(flag + 2, 1u, 1u) != 1) {
      }
    } else if (way == 2) {
      while (*static_cast<volatile unsigned*>(flag + 2) == 0) {
      }
    } else {
      while (__hip_atomic_load(flag + 2, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
      }
    }
  }
  ++flag[1];
  atomicExch(flag, 1u);
}

// Many operations, none of which waits.
extern "C" __global__ void adds_without_shared(unsigned* sum, unsigned times) {
  for (unsigned i = 0; i < times; ++i) atomicAdd(sum, threadIdx.x + 1);
}

extern "C" __global__ void coalesced(unsigned* out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  out[t] = 0;
  if (t % 3 != 0) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  const unsigned rank = group.thread_rank();
  s[rank] = t;
  group.sync();
  out[t] = 10000 * group.size() + 100 * rank + s[group.size() - 1 - rank];
}

// No shared memory: runs as a loop, whatever it fences.
extern "C" __global__ void fenced_global(volatile unsigned* out) {
  out[threadIdx.x] = threadIdx.x;
  __threadfence();
  out[threadIdx.x] = out[threadIdx.x] + 1;
}

// Both paths do the same, in groups of their own: the size, and which of the group's lanes has the first value.
extern "C" __global__ void coalesced_on_both_paths(const unsigned* in, unsigned* sizes, unsigned long long* found) {
  const unsigned value = in[threadIdx.x];
  if (threadIdx.x % 2 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    sizes[threadIdx.x] = group.size();
    found[threadIdx.x] = __ballot(value == 10);
  } else {
    const cg::coalesced_group group = cg::coalesced_threads();
    sizes[threadIdx.x] = group.size();
    found[threadIdx.x] = __ballot(value == 10);
  }
}
