// SPDX-License-Identifier: Apache-2.0
// KernelOutput: what a session's kernels have printed and its client has not been sent yet.
//
// Runtimes print through the C library, so its standard streams are the source (standard_streams.h). Whoever
// prints while kKernelOutputBytesMax bytes wait, waits until some are taken: nothing is lost. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hipcore/wire/control_message.h"
#include "transport/base/mutex.h"
#include "transport/net/fd.h"

namespace tf::worker {

inline constexpr std::size_t kKernelOutputBytesMax = 1 << 20;  // as AMD's and NVIDIA's own buffers
// How long a thread waits until what it writes to standard error is sent. The process may end next: a runtime
// says there why it calls abort().
inline constexpr std::chrono::milliseconds kErrorOutputWait{100};

class KernelOutput {
 public:
  KernelOutput();
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;

  void print(protocol::OutputStream stream, std::string_view text);
  // Bytes printed since the beginning, whether taken or not. Acquire: pairs with print().
  std::uint64_t printed() const { return printed_.load(std::memory_order_acquire); }

  // For the one thread that sends: the next bytes, moved to `buffer`, and that they were sent. `idle`: the
  // client has written all that was sent. Else less than a message's worth is kept back, except for errors:
  // what is printed line by line travels together.
  std::optional<protocol::Output> take(std::span<char, protocol::kOutputChunkMax> buffer, bool idle);
  void sent(std::size_t bytes);
  // Readable when there may be something to take, kept back or not; empty if there is none such.
  const net::OwnedFd& ready() const { return ready_; }

  // Nothing more will be sent: whoever prints is let go, and what is printed is dropped.
  void close();

 private:
  struct Piece {
    protocol::OutputStream stream;
    std::vector<char> text;
    std::size_t taken = 0;
  };
  void append(protocol::OutputStream stream, std::string_view text) TF_REQUIRES(mutex_);

  const net::OwnedFd ready_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Piece> pieces_ TF_GUARDED_BY(mutex_);
  std::size_t waiting_ TF_GUARDED_BY(mutex_) = 0;  // bytes in `pieces_`
  bool urgent_ TF_GUARDED_BY(mutex_) = false;      // some of it is for standard error
  std::uint64_t sent_ TF_GUARDED_BY(mutex_) = 0;
  bool closed_ TF_GUARDED_BY(mutex_) = false;
  std::atomic<std::uint64_t> printed_{0};
};

}  // namespace tf::worker
