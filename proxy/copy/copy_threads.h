// SPDX-License-Identifier: Apache-2.0
// CopyThreads: large copies, shared between the caller and a few helper threads of this process.
//
// One core copies what one core can, a fraction of what the memory of a large machine gives. A copy is cut
// into pieces, and whoever is awake takes the next one: the caller begins at once and never waits for a
// helper to wake up, only for pieces that one has taken. One copy at a time has the helpers; others, and
// small ones, are plain ones. Helpers start with the first large copy, look for another one after each, for
// as long as copies lately followed each other, and sleep.
//
// A piece is claimed by one exchange of `turn_`, which holds the number of the job and the next piece: a
// helper that was late finds another number, and what it had read of the job does not count. Any thread;
// never in a child of fork(), which has no helpers.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "proxy/base/environment.h"
#include "transport/base/spin.h"
#include "transport/wakeup.h"

namespace tf::proxy {

inline constexpr unsigned kCopyHelpersUnaskedMax = 7;  // where nobody has said how many
// On two cores copies of 4 MiB, which fit in a cache, gained nothing, 8 MiB and more did.
inline constexpr std::uint64_t kSharedCopyBytesMin = 8 << 20;
inline constexpr std::uint64_t kPieceBytesMin = 64 << 10;
inline constexpr std::uint64_t kPieceBytesMax = 1 << 20;
inline constexpr std::uint64_t kPiecesPerThread = 4;  // about: whoever is slow leaves the rest to others

class CopyThreads {
 public:
  // `helpers` besides the calling thread, which make up kCopyThreadsMax with it at most; fewer where threads
  // cannot be had.
  explicit CopyThreads(unsigned helpers);
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;
  ~CopyThreads();

  // The processors that this process may use, less those that the program and the worker need.
  static unsigned helpers_to_spare();

  unsigned helpers() const { return helpers_; }
  // Whether a copy of so many bytes is shared when the helpers are free.
  bool worth(std::uint64_t bytes) const { return helpers_ > 0 && bytes >= kSharedCopyBytesMin; }
  // std::memmove().
  void copy(void* target, const void* source, std::uint64_t bytes);
  // Calls work(context, n) for every n below `pieces`, in the caller and in helpers, and returns when all
  // calls have. Before the caller takes any it calls lead(context), if there is one. False: the helpers are
  // busy or could not be had, and nothing has happened.
  bool together(std::uint64_t pieces, void (*work)(void* context, std::uint64_t piece), void* context,
                void (*lead)(void* context) = nullptr);
  // The process ends with this in it: nobody will join the helpers. Does not wait.
  void leave();
  // Pieces that helpers have copied so far.
  std::uint64_t pieces_helped() const { return pieces_helped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kPieceMask = 0xffff'ffff;
  static constexpr std::uint64_t kNotYet = kPieceMask;  // the next piece of a job that is being set up

  // What is to be done. Written before the job's number is open, and read before a piece of it is claimed:
  // by the exchange that claims it, the number was open all the time.
  struct Job {
    std::atomic<void (*)(void*, std::uint64_t)> work{nullptr};
    std::atomic<void*> context{nullptr};
    std::atomic<std::uint64_t> pieces{0};
  };

  bool start();
  void share(std::uint64_t pieces, void (*work)(void*, std::uint64_t), void* context, void (*lead)(void*));
  bool do_next_piece();
  bool is_open() const;
  void help();
  void await_job();

  const unsigned helpers_;
  std::mutex copying_;  // who shares a job; tried, never waited for
  std::vector<std::thread> threads_;
  bool started_ = false;
  std::atomic<bool> ended_{false};
  Job job_;
  alignas(64) std::atomic<std::uint64_t> turn_{kNotYet};   // number of the job << 32 | next piece
  alignas(64) std::atomic<std::uint64_t> pieces_done_{0};  // of this job
  std::atomic<std::uint64_t> pieces_helped_{0};
  SpinBudget spin_;  // of helpers, for the next job of a series
  alignas(8) std::array<std::byte, kDoorbellBytes> bell_words_{};
  Doorbell bell_{bell_words_.data(), false};
};

}  // namespace tf::proxy
