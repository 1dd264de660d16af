// SPDX-License-Identifier: Apache-2.0
// Queues what kernels print, and lets those wait who print too much.
#include "worker/base/kernel_output.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace tf::worker {

using protocol::OutputStream;

KernelOutput::KernelOutput() : ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void KernelOutput::append(OutputStream stream, std::string_view text) {
  const bool joins = !pieces_.empty() && pieces_.back().stream == stream &&
                     pieces_.back().text.size() < protocol::kOutputChunkMax;
  if (!joins) pieces_.push_back({stream, {}});
  std::vector<char>& last = pieces_.back().text;
  last.insert(last.end(), text.begin(), text.end());
  const std::size_t before = waiting_;
  waiting_ += text.size();
  const bool is_error = stream == OutputStream::kError;
  urgent_ = urgent_ || is_error;
  const bool fills = before < protocol::kOutputChunkMax && waiting_ >= protocol::kOutputChunkMax;
  printed_.fetch_add(text.size(), std::memory_order_release);  // pairs with printed()
  if (!ready_ || (before != 0 && !is_error && !fills)) return;
  const std::uint64_t one = 1;
  // Cannot fail: the counter is far from its limit.
  [[maybe_unused]] const ssize_t written = ::write(ready_.get(), &one, sizeof one);
}

void KernelOutput::print(OutputStream stream, std::string_view text) {
  const MutexLock lock(mutex_);
  while (!text.empty()) {
    changed_.wait(mutex_,
                  [this]() TF_REQUIRES(mutex_) { return closed_ || waiting_ < kKernelOutputBytesMax; });
    if (closed_) return;
    const std::string_view part = text.substr(0, kKernelOutputBytesMax - waiting_);
    append(stream, part);
    text.remove_prefix(part.size());
  }
  if (stream != OutputStream::kError) return;
  const std::uint64_t all = printed_.load(std::memory_order_relaxed);
  changed_.wait_until(mutex_, std::chrono::steady_clock::now() + kErrorOutputWait,
                      [&]() TF_REQUIRES(mutex_) { return closed_ || sent_ >= all; });
}

std::optional<protocol::Output> KernelOutput::take(std::span<char, protocol::kOutputChunkMax> buffer,
                                                   bool idle) {
  const MutexLock lock(mutex_);
  const bool kept_back = !idle && !urgent_ && waiting_ < protocol::kOutputChunkMax;
  if (ready_ && (waiting_ == 0 || kept_back)) {
    std::uint64_t none = 0;
    // Nothing to read is as good.
    [[maybe_unused]] const ssize_t got = ::read(ready_.get(), &none, sizeof none);
  }
  if (pieces_.empty() || kept_back) return std::nullopt;
  Piece& first = pieces_.front();
  const std::size_t bytes = std::min(first.text.size() - first.taken, buffer.size());
  std::copy_n(first.text.data() + first.taken, bytes, buffer.data());
  const protocol::Output output{first.stream, buffer.first(bytes)};
  first.taken += bytes;
  if (first.taken == first.text.size()) pieces_.pop_front();
  waiting_ -= bytes;
  urgent_ = urgent_ && waiting_ != 0;
  changed_.notify_all();
  return output;
}

void KernelOutput::sent(std::size_t bytes) {
  const MutexLock lock(mutex_);
  sent_ += bytes;
  changed_.notify_all();
}

void KernelOutput::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  pieces_.clear();
  waiting_ = 0;
  urgent_ = false;
  changed_.notify_all();
}

}  // namespace tf::worker
