// SPDX-License-Identifier: Apache-2.0
// Staging: pageable copies over memory that the worker shares (HostAccess::kShared), and waiting for copies
// by looking at memory.
//
// A copy goes in chunks through a few buffers of the host window: this thread copies between the program's
// memory and one buffer while the worker copies between another and the device. Behind each chunk the stream
// fills a word next to the buffers, so that its end is seen here without a message. Large copies are made by
// several threads (CopyThreads), since one core is slower than the device. The payload of such a copy never
// passes the bulk plane. Any thread; one copy at a time has the buffers, others go by the bulk plane.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "proxy/copy/box.h"
#include "proxy/copy/copy_threads.h"
#include "proxy/memory/host_window.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

struct CopyMode;

inline constexpr std::size_t kStagingChunkBytes = 256 << 10;
inline constexpr std::size_t kStagingChunks = 4;
inline constexpr std::size_t kStagingBytes = kStagingChunks * kStagingChunkBytes;  // without waiting for any
// Of copies that several threads make.
inline constexpr std::uint64_t kJointChunks = 8;  // about: each costs the device more than its bytes
inline constexpr std::uint64_t kJointChunkUpBytesMin = 512 << 10;
inline constexpr std::uint64_t kJointChunkDownBytesMin = 256 << 10;
inline constexpr std::uint64_t kJointChunkBytesMax = 2 << 20;
inline constexpr std::uint64_t kJointPieceBytesMin = 32 << 10;
// Copies that are streamed past the caches: one core streams slower than it copies, so many must, and of
// large copies the caches have dropped what the device comes to read.
inline constexpr std::uint64_t kStreamingBytesMax = 16 << 20;
inline constexpr unsigned kStreamingThreadsMin = 4;
inline constexpr std::size_t kJointChunksPerThread = 3;
inline constexpr std::uint64_t kJointCopyBytesMin = 1 << 20;
inline constexpr std::size_t kDoneWordsMax = 64;  // threads that wait for a copy by looking

class Staging {
 public:
  enum class Outcome { kDone, kNotTaken };

  Staging(Connection& connection, HostWindow& window, CopyThreads& threads)
      : connection_(connection), window_(window), threads_(threads) {}

  // There is shared memory for it.
  bool ready();

  // Copies between pageable memory and the device. kNotTaken: nothing has happened, for want of shared memory
  // or because the buffers are in use; else `error` is the result. The source may be reused on return; the
  // target holds the bytes.
  Outcome to_device(const CopyMode& mode, std::uint64_t target, const void* source, std::uint64_t bytes,
                    hipError_t& error);
  Outcome from_device(const CopyMode& mode, void* target, std::uint64_t source, std::uint64_t bytes,
                      hipError_t& error);
  // The same for strided copies, packed in the buffers. REQUIRES: is_valid(box), and nothing in it is 0
  Outcome box_to_device(const CopyMode& mode, const Box& box, hipError_t& error);
  Outcome box_from_device(const CopyMode& mode, const Box& box, hipError_t& error);
  // Waits until the stream has done what was posted to it so far, looking at a word of shared memory. What
  // the worker had to say until then has been heard.
  Outcome wait(const CopyMode& mode, hipError_t& error);

 private:
  // A word that a stream fills. Ends when it holds `expected`.
  struct DoneWord {
    std::uint64_t address = 0;
    std::uint32_t expected = 0;

    bool done() const;
    // Helpers of a copy may look at a buffer whose turn is over.
    void become(const DoneWord& other);
  };
  struct Chunk {
    std::uint64_t address = 0;
    DoneWord own;   // its word
    DoneWord word;  // what must be done before it is used again: its own, or that of a chunk behind it
    int device = 0;
    std::uint64_t stream = 0;
  };

  bool set_up();
  bool claim(const CopyMode& mode, std::unique_lock<std::mutex>& lock);
  struct JointCopy;
  // Of a buffer in such a copy: how many pieces have been carried to it or from it.
  struct alignas(64) Carried {
    std::atomic<std::uint64_t> pieces{0};
  };
  enum class Direction { kToDevice, kFromDevice };
  // False: not taken, since it is small, or there are no helpers or no memory for it.
  bool jointly(const CopyMode& mode, Direction direction, std::byte* host, std::uint64_t device,
               std::uint64_t bytes, hipError_t& error);
  bool set_up_joint();
  bool allocate_chunks(std::uint64_t bytes, std::span<Chunk> chunks, std::uint64_t words,
                       std::uint64_t& word);
  std::byte* memory(const Chunk& chunk) const { return reinterpret_cast<std::byte*>(chunk.address); }
  hipError_t mark(const CopyMode& mode, DoneWord& word);
  hipError_t post_chunk(const CopyMode& mode, Chunk& chunk, std::uint64_t target, std::uint64_t source,
                        std::uint64_t bytes);
  hipError_t move(const CopyMode& mode, Chunk& chunk, std::uint64_t target, std::uint64_t source,
                  std::uint64_t bytes);
  hipError_t mark(const CopyMode& mode, Chunk& chunk);
  // Rows of the device's memory and of a chunk.
  hipError_t move_box(const CopyMode& mode, Chunk& chunk, const Box& box);
  hipError_t await(const DoneWord& word, int device, std::uint64_t stream);

  Connection& connection_;
  HostWindow& window_;
  CopyThreads& threads_;
  std::atomic<int> state_{0};  // 0: not tried, 1: ready, -1: impossible; release after the members below
  std::mutex copying_;         // the chunks
  std::array<Chunk, kStagingChunks> chunks_;
  std::size_t turn_ = 0;
  std::vector<Chunk> joint_chunks_;  // kJointChunksPerThread for each thread
  std::vector<Carried> carried_;     // of each
  bool joint_impossible_ = false;
  std::mutex words_mutex_;
  std::vector<DoneWord> free_words_;
};

}  // namespace tf::proxy
