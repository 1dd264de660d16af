// SPDX-License-Identifier: Apache-2.0
// Receiver and Sender over io_uring.
#include "tcp/uring_engine.h"

#include <fcntl.h>
#include <liburing.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "tcp/poll_engine.h"
#include "tcp/zero_copy.h"
#include "transport/base/deadline.h"
#include "transport/net/fd.h"

namespace tf::tcp {
namespace {

constexpr unsigned kRingEntries = 16;
constexpr unsigned kProvidedBuffers = 16;  // a power of two
constexpr std::size_t kProvidedBytes = 16 * 1024;
constexpr int kBufferGroup = 0;
constexpr std::chrono::seconds kCancelLimit(5);

// user_data. Senders count up from kOperation, so that a late notification names its send.
enum Mark : std::uint64_t { kCancel = 1, kOperation = 2 };

// From now on the ring sends and receives, and does nothing else for whoever has its descriptor: kernels of a
// client share a process with it (worker/sandbox), and no filter of system calls sees its operations. 0, or
// the errno.
int restrict_to_sockets(io_uring& ring) {
  std::vector<io_uring_restriction> allowed;
  const auto allow = [&](unsigned what, unsigned value) {
    io_uring_restriction entry{};
    entry.opcode = static_cast<std::uint16_t>(what);
    entry.sqe_op = static_cast<std::uint8_t>(value);  // one byte, whatever it is called
    allowed.push_back(entry);
  };
  for (const unsigned operation : {IORING_OP_RECV, IORING_OP_SEND, IORING_OP_SEND_ZC, IORING_OP_ASYNC_CANCEL})
    allow(IORING_RESTRICTION_SQE_OP, operation);
  allow(IORING_RESTRICTION_SQE_FLAGS_ALLOWED, IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT);
  allow(IORING_RESTRICTION_REGISTER_OP, IORING_REGISTER_PBUF_RING);
  const int failed =
      ::io_uring_register_restrictions(&ring, allowed.data(), static_cast<unsigned>(allowed.size()));
  return -(failed != 0 ? failed : ::io_uring_enable_rings(&ring));
}

// A ring and the one socket it works on.
class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (open_) ::io_uring_queue_exit(&ring_);
  }

  Status open(int socket, bool register_file) {
    const int result =
        ::io_uring_queue_init(kRingEntries, &ring_, IORING_SETUP_CLAMP | IORING_SETUP_R_DISABLED);
    if (result < 0) return Status::from_errno("io_uring_queue_init", -result);
    open_ = true;
    // Its descriptor may be one of the program's three (transport/net/fd.h).
    ring_.ring_fd = ring_.enter_ring_fd = net::above_standard(ring_.ring_fd);
    if (ring_.ring_fd < 0) return Status::from_errno("a descriptor for io_uring", errno);
    socket_ = socket;
    fixed_ = register_file && ::io_uring_register_files(&ring_, &socket, 1) == 0;
    const int failed = restrict_to_sockets(ring_);
    return failed == 0 ? Status::ok() : Status::from_errno("restricting an io_uring", failed);
  }

  io_uring* get() { return &ring_; }
  int fd() const { return ring_.ring_fd; }
  // Pass it to io_uring_prep_*, then call submit(). At most two entries are ever queued.
  int target() const { return fixed_ ? 0 : socket_; }

  Status submit(io_uring_sqe* entry, std::uint64_t mark, unsigned flags = 0) {
    entry->user_data = mark;
    entry->flags |= static_cast<std::uint8_t>(flags | (fixed_ ? unsigned{IOSQE_FIXED_FILE} : 0u));
    return submit_queued();
  }
  Status cancel(std::uint64_t mark) {
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
    if (entry == nullptr) return {Code::kInternal, "the io_uring is full"};
    ::io_uring_prep_cancel64(entry, mark, IORING_ASYNC_CANCEL_ALL);
    entry->user_data = kCancel;
    return submit_queued();
  }

  // Next completion that is not a cancellation's own; false: none now.
  bool take(io_uring_cqe& completion) {
    io_uring_cqe* found = nullptr;
    while (::io_uring_peek_cqe(&ring_, &found) == 0 && found != nullptr) {
      completion = *found;
      ::io_uring_cqe_seen(&ring_, found);
      if (completion.user_data != kCancel) return true;
    }
    return false;
  }
  void wait_for_completion(std::chrono::milliseconds limit) {
    pollfd entry{.fd = fd(), .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, static_cast<int>(limit.count()));
  }

 private:
  Status submit_queued() {
    for (;;) {
      const int result = ::io_uring_submit(&ring_);
      if (result >= 0) return Status::ok();
      if (result != -EINTR && result != -EAGAIN && result != -EBUSY)
        return Status::from_errno("io_uring_submit", -result);
    }
  }

  io_uring ring_{};
  bool open_ = false;
  bool fixed_ = false;
  int socket_ = -1;
};

bool is_pause(int error) {
  return error == EAGAIN || error == EINTR || error == ECANCELED || error == ENOBUFS;
}

// --- Receiving straight into the target -------------------------------------------------------------------

class DirectReceiver final : public Receiver {
 public:
  // `whole`: an operation ends when the target is full, not when something came.
  DirectReceiver(int socket, bool whole) : socket_(socket), flags_(whole ? MSG_WAITALL : 0) {}
  Status open(bool register_file) { return ring_.open(socket_, register_file); }

  void start(std::span<std::byte> target) override {
    target_ = target;
    io_uring_sqe* entry = ::io_uring_get_sqe(ring_.get());
    ::io_uring_prep_recv(entry, ring_.target(), target.data(), target.size(), flags_);
    failure_ = ring_.submit(entry, kOperation);
  }
  bool busy() const override { return !target_.empty(); }

  Result<std::size_t> finish() override {
    if (!failure_.is_ok()) return failure_;
    io_uring_cqe completion{};
    if (!busy() || !ring_.take(completion)) return std::size_t{0};
    target_ = {};
    if (completion.res > 0) return static_cast<std::size_t>(completion.res);
    if (completion.res == 0) return end_of_stream();
    if (is_pause(-completion.res)) return std::size_t{0};
    return io_failure("recv", -completion.res);
  }

  void cancel() override {
    if (!busy() || !failure_.is_ok()) return;
    (void)ring_.cancel(kOperation);
    const Deadline limit = Deadline::after(kCancelLimit);
    io_uring_cqe completion{};
    while (!ring_.take(completion) && !limit.passed())
      ring_.wait_for_completion(std::chrono::milliseconds(10));
    target_ = {};
  }

  pollfd wait_for() const override { return {.fd = ring_.fd(), .events = POLLIN, .revents = 0}; }
  bool uses_ring() const override { return true; }

 private:
  const int socket_;
  const int flags_;
  Ring ring_;
  Status failure_;
  std::span<std::byte> target_;
};

// --- Receiving into provided buffers, armed once ----------------------------------------------------------

class MultishotReceiver final : public Receiver {
 public:
  explicit MultishotReceiver(int socket) : socket_(socket) {}
  ~MultishotReceiver() override {
    MultishotReceiver::cancel();
    if (memory_ != nullptr) ::munmap(memory_, kMemoryBytes);
  }

  Status open(bool register_file) {
    TF_RETURN_IF_ERROR(ring_.open(socket_, register_file));
    void* memory = ::mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return Status::from_errno("mmap of receive buffers", errno);
    memory_ = static_cast<std::byte*>(memory);
    buffers_ = static_cast<io_uring_buf_ring*>(memory);
    io_uring_buf_reg request{};
    request.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
    request.ring_entries = kProvidedBuffers;
    request.bgid = kBufferGroup;
    const int result = ::io_uring_register_buf_ring(ring_.get(), &request, 0);
    if (result < 0) return Status::from_errno("io_uring_register_buf_ring", -result);
    ::io_uring_buf_ring_init(buffers_);
    for (unsigned index = 0; index < kProvidedBuffers; ++index) give_back(index);
    return Status::ok();
  }

  void start(std::span<std::byte> target) override {
    target_ = target;
    arm();
  }
  bool busy() const override { return !target_.empty(); }

  Result<std::size_t> finish() override {
    if (!busy()) return std::size_t{0};
    if (arrived_.empty() && failure_.is_ok()) take_completions();
    if (arrived_.empty()) {
      if (!failure_.is_ok()) return failure_;
      arm();
      return std::size_t{0};
    }
    std::size_t copied = 0;
    while (!arrived_.empty() && copied < target_.size()) copied += copy_front(target_.subspan(copied));
    target_ = {};
    return copied;
  }

  void cancel() override {
    const Deadline limit = Deadline::after(kCancelLimit);
    if (armed_) (void)ring_.cancel(kOperation);
    while (armed_ && !limit.passed()) {
      ring_.wait_for_completion(std::chrono::milliseconds(10));
      take_completions();
    }
    target_ = {};
  }

  pollfd wait_for() const override { return {.fd = ring_.fd(), .events = POLLIN, .revents = 0}; }
  bool uses_ring() const override { return true; }

 private:
  static constexpr std::size_t kRingPageBytes = 4096;
  static constexpr std::size_t kMemoryBytes = kRingPageBytes + kProvidedBuffers * kProvidedBytes;

  struct Arrival {
    unsigned buffer = 0;
    std::size_t bytes = 0;
    std::size_t taken = 0;
  };

  std::byte* buffer(unsigned index) { return memory_ + kRingPageBytes + index * kProvidedBytes; }

  void give_back(unsigned index) {
    ::io_uring_buf_ring_add(buffers_, buffer(index), kProvidedBytes, static_cast<std::uint16_t>(index),
                            ::io_uring_buf_ring_mask(kProvidedBuffers), 0);
    ::io_uring_buf_ring_advance(buffers_, 1);
  }

  void arm() {
    if (armed_ || !failure_.is_ok() || arrived_.size() == kProvidedBuffers) return;
    io_uring_sqe* entry = ::io_uring_get_sqe(ring_.get());
    ::io_uring_prep_recv_multishot(entry, ring_.target(), nullptr, 0, 0);
    entry->buf_group = kBufferGroup;
    failure_ = ring_.submit(entry, kOperation, IOSQE_BUFFER_SELECT);
    armed_ = failure_.is_ok();
  }

  void take_completions() {
    io_uring_cqe completion{};
    while (ring_.take(completion)) {
      if ((completion.flags & IORING_CQE_F_MORE) == 0) armed_ = false;
      if (completion.res > 0) {
        arrived_.push_back({.buffer = completion.flags >> IORING_CQE_BUFFER_SHIFT,
                            .bytes = static_cast<std::size_t>(completion.res)});
      } else if (completion.res == 0) {
        failure_ = end_of_stream();
      } else if (!is_pause(-completion.res)) {
        failure_ = io_failure("recv", -completion.res);
      }
    }
  }

  std::size_t copy_front(std::span<std::byte> target) {
    Arrival& front = arrived_.front();
    const std::size_t step = std::min(target.size(), front.bytes - front.taken);
    std::memcpy(target.data(), buffer(front.buffer) + front.taken, step);
    front.taken += step;
    if (front.taken == front.bytes) {
      give_back(front.buffer);
      arrived_.pop_front();
    }
    return step;
  }

  const int socket_;
  Ring ring_;
  std::byte* memory_ = nullptr;
  io_uring_buf_ring* buffers_ = nullptr;
  bool armed_ = false;
  Status failure_;
  std::deque<Arrival> arrived_;
  std::span<std::byte> target_;
};

// --- Sending ----------------------------------------------------------------------------------------------

class UringSender final : public Sender {
 public:
  UringSender(int socket, bool zero_copy) : socket_(socket), zero_copy_(zero_copy) {}
  Status open(bool register_file) { return ring_.open(socket_, register_file); }

  void start(std::span<const std::byte> source, bool more) override {
    source_ = source;
    is_zero_copy_ = zero_copy_.takes(source.size()) && sent_.size() < kRingEntries;
    const int flags = MSG_NOSIGNAL | (more ? MSG_MORE : 0);
    io_uring_sqe* entry = ::io_uring_get_sqe(ring_.get());
    if (is_zero_copy_) {
      ::io_uring_prep_send_zc(entry, ring_.target(), source.data(), source.size(), flags, kSendZcReportUsage);
    } else {
      ::io_uring_prep_send(entry, ring_.target(), source.data(), source.size(), flags);
    }
    sent_.push_back({.mark = next_mark_++});
    failure_ = ring_.submit(entry, sent_.back().mark);
  }
  bool busy() const override { return !source_.empty(); }

  Result<std::size_t> finish() override {
    if (!failure_.is_ok()) return failure_;
    if (!busy()) return std::size_t{0};
    take_completions();
    Sent& current = sent_.back();
    if (!current.ended) return std::size_t{0};
    current.reported = true;
    held_ += current.bytes;
    source_ = {};
    if (result_ > 0) return static_cast<std::size_t>(result_);
    const bool refused = is_zero_copy_ && zero_copy_.on_result(result_);
    if (result_ == 0 || is_pause(-result_) || refused) return std::size_t{0};
    failure_ = io_failure("send", -result_);
    return failure_;
  }

  // Never more than finish() has reported: a send whose completion is in the ring already does not count
  // before the caller knows of it.
  std::size_t take_released() override {
    if (held_ > 0) take_completions();
    std::size_t bytes = 0;
    while (!sent_.empty() && sent_.front().reported && !sent_.front().notice_due) {
      bytes += sent_.front().bytes;
      sent_.pop_front();
    }
    held_ -= bytes;
    return bytes;
  }
  std::size_t held() const override { return held_; }

  void cancel() override {
    const auto in_kernel = [this] {
      return std::any_of(sent_.begin(), sent_.end(),
                         [](const Sent& sent) { return !sent.ended || sent.notice_due; });
    };
    if (busy() && failure_.is_ok()) (void)ring_.cancel(sent_.back().mark);
    take_completions();
    // Resets the connection, which makes the kernel drop the pages that a silent peer never acknowledges.
    if (std::any_of(sent_.begin(), sent_.end(), [](const Sent& sent) { return sent.notice_due; })) {
      const sockaddr disconnect{.sa_family = AF_UNSPEC, .sa_data = {}};
      ::connect(socket_, &disconnect, sizeof disconnect);
    }
    const Deadline limit = Deadline::after(kCancelLimit);
    while (in_kernel() && failure_.is_ok() && !limit.passed()) {
      ring_.wait_for_completion(std::chrono::milliseconds(10));
      take_completions();
    }
    source_ = {};
  }

  pollfd wait_for() const override { return {.fd = ring_.fd(), .events = POLLIN, .revents = 0}; }

 private:
  struct Sent {
    std::uint64_t mark = 0;
    std::size_t bytes = 0;
    bool ended = false;       // the kernel has said how many bytes went
    bool notice_due = false;  // the kernel will report when it is done with the memory
    bool reported = false;    // by finish()
  };

  void take_completions() {
    io_uring_cqe completion{};
    while (ring_.take(completion)) {
      const auto sent =
          std::find_if(sent_.begin(), sent_.end(),
                       [mark = completion.user_data](const Sent& each) { return each.mark == mark; });
      if (sent == sent_.end()) continue;
      if ((completion.flags & IORING_CQE_F_NOTIF) != 0) {
        zero_copy_.on_notification(static_cast<std::uint32_t>(completion.res));
        sent->notice_due = false;
        continue;
      }
      result_ = completion.res;
      sent->ended = true;
      sent->notice_due = (completion.flags & IORING_CQE_F_MORE) != 0;
      sent->bytes = static_cast<std::size_t>(std::max(completion.res, 0));
    }
  }

  const int socket_;
  ZeroCopyPolicy zero_copy_;
  Ring ring_;
  Status failure_;
  std::span<const std::byte> source_;
  bool is_zero_copy_ = false;
  int result_ = 0;  // of the last send that ended
  std::uint64_t next_mark_ = kOperation;
  std::deque<Sent> sent_;  // oldest first; the last one is in flight while busy()
  std::size_t held_ = 0;
};

}  // namespace

Result<LaneIo> make_uring_io(int socket, Lane lane, const UringFeatures& features, bool whole) {
  // On a non-blocking socket the kernel would return EAGAIN instead of waiting for us.
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags < 0 || ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK) != 0)
    return Status::from_errno("fcntl", errno);
  LaneIo io;
  if (lane == Lane::kMessage && features.multishot_receive) {
    auto receiver = std::make_unique<MultishotReceiver>(socket);
    TF_RETURN_IF_ERROR(receiver->open(features.registered_files));
    io.receiver = std::move(receiver);
  } else {
    auto receiver = std::make_unique<DirectReceiver>(socket, whole);
    TF_RETURN_IF_ERROR(receiver->open(features.registered_files));
    io.receiver = std::move(receiver);
  }
  auto sender = std::make_unique<UringSender>(socket, lane == Lane::kBulk && features.zero_copy_send);
  TF_RETURN_IF_ERROR(sender->open(features.registered_files));
  io.sender = std::move(sender);
  return io;
}

}  // namespace tf::tcp
