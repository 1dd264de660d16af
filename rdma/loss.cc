// SPDX-License-Identifier: Apache-2.0
// Reads the lane's socket to tell a closed peer from a lost one.
#include "rdma/loss.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "transport/base/mutex.h"

namespace tf::rdma {

Status Loss::look() {
  if (!mutex_.try_lock()) return Status::ok();  // the holder looks
  const MutexLock lock(mutex_, std::adopt_lock);
  if (is_gone()) return Status::ok();
  for (;;) {
    std::byte extra{};
    const bool full = have_ == bytes_.size();
    const ssize_t got =
        full ? ::recv(socket_.get(), &extra, 1, MSG_DONTWAIT)
             : ::recv(socket_.get(), bytes_.data() + have_, bytes_.size() - have_, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Status::ok();
    if (got <= 0) break;
    if (full) return {Code::kProtocol, "rdma: bytes behind the peer's Bye"};
    have_ += static_cast<std::size_t>(got);
    std::uint64_t magic = 0;
    std::memcpy(&magic, bytes_.data(), sizeof magic);
    if (have_ >= sizeof magic && magic != kByeMagic)
      return {Code::kProtocol, "rdma: unexpected bytes on the lane's socket"};
  }
  late_at_ = Deadline::after(patience_.drain);
  gone_.store(true, std::memory_order_release);
  return Status::ok();
}

std::optional<Bye> Loss::bye() const {
  const MutexLock lock(mutex_);
  if (have_ != bytes_.size()) return std::nullopt;
  Bye bye;
  std::memcpy(&bye, bytes_.data(), sizeof bye);
  return bye;
}

bool Loss::is_late() const {
  const MutexLock lock(mutex_);
  return late_at_.passed();
}

void Loss::note_broken(Status reason) {
  const MutexLock lock(mutex_);
  if (is_broken()) return;
  reason_ = std::move(reason);
  overdue_at_ = Deadline::after(patience_.socket);
  broken_.store(true, std::memory_order_release);
}

Status Loss::overdue() const {
  const MutexLock lock(mutex_);
  return overdue_at_.passed() && !is_gone() ? reason_ : Status::ok();
}

}  // namespace tf::rdma
