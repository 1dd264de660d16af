// SPDX-License-Identifier: Apache-2.0
// CopyThreads: shares large copies between the caller and a few helper threads of this process.
//
// One core uses only a fraction of a large machine's memory bandwidth. So a copy is cut into pieces, and any
// awake thread takes the next one. The caller starts at once; it never waits for a helper to wake up, only
// for pieces that a helper has taken. One copy at a time has the helpers; others, and small ones, are plain
// copies. Helpers start with the first large copy. After each copy they poll for the next one, as long as
// copies recently followed each other, and then sleep.
//
// A piece is claimed by one compare-exchange on `turn_`, which holds the job number and the next piece. A
// late helper finds another job number, and what it had read of the job is discarded. Any thread, but never
// in a child of fork(), which has no helpers.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "proxy/base/environment.h"
#include "transport/base/mutex.h"
#include "transport/base/spin.h"
#include "transport/wakeup.h"

namespace tf::proxy {

inline constexpr unsigned kCopyHelpersUnaskedMax = 7;  // if TF_COPY_THREADS is not set
// On two cores copies of 4 MiB, which fit in a cache, gained nothing, 8 MiB and more did.
inline constexpr std::uint64_t kSharedCopyBytesMin = 8 << 20;
inline constexpr std::uint64_t kPieceBytesMin = 64 << 10;
inline constexpr std::uint64_t kPieceBytesMax = 1 << 20;
inline constexpr std::uint64_t kPiecesPerThread = 4;  // roughly: a slow thread leaves the rest to others

class CopyThreads {
 public:
  // `helpers` in addition to the calling thread; at most kCopyThreadsMax in all. Fewer if threads cannot be
  // had.
  explicit CopyThreads(unsigned helpers);
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;
  ~CopyThreads();

  // The processors that this process may use, minus those that the program and the worker need.
  static unsigned helpers_to_spare();

  unsigned helpers() const { return helpers_; }
  // Whether a copy of this size is shared if the helpers are free.
  bool worth(std::uint64_t bytes) const { return helpers_ > 0 && bytes >= kSharedCopyBytesMin; }
  // std::memmove().
  void copy(void* target, const void* source, std::uint64_t bytes);
  // Calls work(context, n) for every n below `pieces`, in the caller and in helpers, and returns when all
  // calls have returned. First the caller calls lead(context), if given. False: the helpers are busy or could
  // not be had, and nothing was done.
  bool together(std::uint64_t pieces, void (*work)(void* context, std::uint64_t piece), void* context,
                void (*lead)(void* context) = nullptr);
  // For the end of the process, when nobody will join the helpers. Does not wait.
  void leave();
  // Pieces that helpers have copied so far.
  std::uint64_t pieces_helped() const { return pieces_helped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kPieceMask = 0xffff'ffff;
  static constexpr std::uint64_t kNotYet = kPieceMask;  // the next piece of a job that is being set up

  // The job. Written before its number is opened, and read before a piece is claimed; the compare-exchange
  // that claims the piece proves that the number was open all the time.
  struct Job {
    std::atomic<void (*)(void*, std::uint64_t)> work{nullptr};
    std::atomic<void*> context{nullptr};
    std::atomic<std::uint64_t> pieces{0};
  };

  bool start() TF_REQUIRES(copying_);
  void share(std::uint64_t pieces, void (*work)(void*, std::uint64_t), void* context, void (*lead)(void*))
      TF_REQUIRES(copying_);
  bool do_next_piece();
  bool is_open() const;
  void help();
  void await_job();

  const unsigned helpers_;
  Mutex copying_;  // held by whoever shares a job; try-locked, never waited for
  std::vector<std::thread> threads_ TF_GUARDED_BY(copying_);
  bool started_ TF_GUARDED_BY(copying_) = false;
  std::atomic<bool> ended_{false};
  Job job_;
  alignas(64) std::atomic<std::uint64_t> turn_{kNotYet};   // number of the job << 32 | next piece
  alignas(64) std::atomic<std::uint64_t> pieces_done_{0};  // of this job
  std::atomic<std::uint64_t> pieces_helped_{0};
  SpinBudget spin_;  // helpers' wait for the next job of a series
  alignas(8) std::array<std::byte, kDoorbellBytes> bell_words_{};
  Doorbell bell_{bell_words_.data(), false};
};

}  // namespace tf::proxy
