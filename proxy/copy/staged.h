// SPDX-License-Identifier: Apache-2.0
// StagedCopies: copies of pageable memory through buffers that the worker shares (HostAccess::kShared).
//
// A copy goes in pieces through a few buffers of the host window: this thread copies between the program's
// memory and one buffer while the worker copies between another and the device. After each piece the stream
// fills a word (stream_words.h), so its end is seen here without a message. Several threads copy large lines
// (CopyThreads), since one core is slower than the device. The payload of such a copy never uses the bulk
// plane. Any thread. One thread at a time posts a copy; others use the bulk plane. A copy of one piece takes
// any free buffer, and one of at most kSmallChunkBytes has small ones of its own: so many may be under way,
// on any streams.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proxy/copy/copy_threads.h"
#include "proxy/copy/plan.h"
#include "proxy/copy/stream_words.h"
#include "proxy/memory/host_window.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

inline constexpr std::size_t kStagingChunkBytes = 256 << 10;
inline constexpr std::size_t kStagingChunks = 4;
inline constexpr std::size_t kSmallChunkBytes = 32 << 10;
inline constexpr std::size_t kSmallChunks = 32;
inline constexpr std::size_t kStagingBytes = kStagingChunks * kStagingChunkBytes;  // usable without waiting
// For copies that several threads make.
inline constexpr std::uint64_t kJointChunks = 8;  // about; each costs the device more than its bytes do
inline constexpr std::uint64_t kJointChunkUpBytesMin = 512 << 10;
inline constexpr std::uint64_t kJointChunkDownBytesMin = 256 << 10;
inline constexpr std::uint64_t kJointChunkBytesMax = 2 << 20;
inline constexpr std::uint64_t kJointPieceBytesMin = 32 << 10;
// Copies that bypass the caches: one core streams slower than it copies, so many cores must share them; and
// the caches have already dropped what the device comes to read of a large copy.
inline constexpr std::uint64_t kStreamingBytesMax = 16 << 20;
inline constexpr unsigned kStreamingThreadsMin = 4;
inline constexpr std::size_t kJointChunksPerThread = 3;
inline constexpr std::uint64_t kJointCopyBytesMin = 1 << 20;

class StagedCopies {
 public:
  StagedCopies(Connection& connection, HostWindow& window, StreamWords& words, CopyThreads& threads)
      : connection_(connection), window_(window), words_(words), threads_(threads) {}

  // To the device: the source may be reused on return. From the device: the target holds the bytes on return.
  // Nothing: there is no shared memory, or the buffers are in use; then nothing has happened.
  std::optional<hipError_t> copy(const CopyPlan& plan);

 private:
  struct Chunk {
    std::uint64_t address = 0;
    StreamWord own;   // its word
    StreamWord word;  // must be done before the buffer is reused: its own, or a later chunk's
    int device = 0;
    std::uint64_t stream = 0;
  };

  // Buffers of one size, which copies use in turn.
  struct Ring {
    const std::size_t chunk_bytes;
    std::vector<Chunk> chunks;  // with addresses once they are there
    std::size_t turn = 0;
    bool impossible = false;

    Chunk& take() { return chunks[turn++ % chunks.size()]; }
  };

  bool set_up(Ring& ring);
  // Those that the copy can use at once; null: there are none.
  Ring* claim(const CopyPlan& plan) TF_REQUIRES(copying_);
  hipError_t to_device(const CopyPlan& plan, Ring& ring) TF_REQUIRES(copying_);
  hipError_t from_device(const CopyPlan& plan, Ring& ring) TF_REQUIRES(copying_);
  struct JointCopy;
  // For a buffer in such a copy: how many pieces have been carried to or from it.
  struct alignas(64) Carried {
    std::atomic<std::uint64_t> pieces{0};
  };
  // Nothing: not taken, since it is small or not a line, or there are no helpers or no memory for it.
  std::optional<hipError_t> jointly(const CopyPlan& plan) TF_REQUIRES(copying_);
  bool set_up_joint() TF_REQUIRES(copying_);
  bool allocate_chunks(std::uint64_t bytes, std::span<Chunk> chunks);
  // The device's part of a piece: between the chunk and the device's memory.
  hipError_t post(const CopyMode& mode, Chunk& chunk, const Box& piece, Leaves leaves);
  hipError_t mark(const CopyMode& mode, Chunk& chunk);
  hipError_t await(const Chunk& chunk);

  Connection& connection_;
  HostWindow& window_;
  StreamWords& words_;
  CopyThreads& threads_;
  Mutex copying_;
  Ring small_ TF_GUARDED_BY(copying_){kSmallChunkBytes, std::vector<Chunk>(kSmallChunks)};
  Ring large_ TF_GUARDED_BY(copying_){kStagingChunkBytes, std::vector<Chunk>(kStagingChunks)};
  std::vector<Chunk> joint_chunks_ TF_GUARDED_BY(copying_);  // kJointChunksPerThread for each thread
  std::vector<Carried> carried_ TF_GUARDED_BY(copying_);     // of each
  std::uint64_t joint_turn_ TF_GUARDED_BY(copying_) = 0;     // chunks so far
  bool joint_impossible_ TF_GUARDED_BY(copying_) = false;
};

}  // namespace tf::proxy
