// SPDX-License-Identifier: Apache-2.0
// KernelOutput: what kernels print, on its way to the program's own standard output and error.
//
// It arrives on the control connection while the kernels run, and the thread that reads it writes it. A call
// that waits must not return before the output of the work it waited for is written. So while a kernel that
// can print has been started and not seen finished, calls ask the worker how much was printed
// (kFlagWithOutput), and wait here until that much is written. Kernels that cannot print cost one look at two
// words for each call that waits for a reply. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "transport/base/mutex.h"

namespace tf::proxy {

class KernelOutput {
 public:
  // Work that can print was posted, and is marked as pending (PendingWork).
  void started() { started_.fetch_add(1, std::memory_order_release); }
  // How often started() was called. Acquire: the marks are visible.
  std::uint64_t starts() const { return started_.load(std::memory_order_acquire); }
  // Work that can print may not have been seen finished.
  bool outstanding() const { return starts() != settled_.load(std::memory_order_relaxed); }
  // Of so many starts, all are finished and their output is written.
  void settle(std::uint64_t starts);

  // Waits until as much is written as `printed` says (ReplyPrefix::output), or the connection is lost. The
  // caller must not hold the lock of `stdout` (flockfile): as natively, the output would wait for it.
  void await(std::uint32_t printed);

  // For the thread that reads the control connection. Writes through the C library, so that the output takes
  // its place behind what the program has printed into its buffers. What cannot be written is lost, as it is
  // to a program that prints to a closed descriptor.
  void write_out(std::span<const char> text);
  void write_error(std::span<const char> text);
  // Bytes written since the beginning.
  std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }
  // The connection is lost: nobody waits for output from now on. What still arrives is written.
  void end();

 private:
  void note_written(std::size_t bytes);
  static bool reaches(std::uint64_t written, std::uint32_t printed) {
    return static_cast<std::int32_t>(printed - static_cast<std::uint32_t>(written)) <= 0;
  }

  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> settled_{0};
  std::atomic<std::uint64_t> written_{0};  // by one thread
  Mutex mutex_;
  CondVar changed_;  // `written_` or `ended_`
  bool ended_ TF_GUARDED_BY(mutex_) = false;
};

}  // namespace tf::proxy
