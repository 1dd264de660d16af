// SPDX-License-Identifier: Apache-2.0
// How a lost peer ends the endpoint: rdma/loss.h says that it is lost; what came before is delivered first.
// The consumer, when it finds no more messages, moves what payload is left, too, and then lets the endpoint
// fail. Should no consumer come, a mover does so after a while.
#include "rdma/endpoint.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "rdma/bulk.h"
#include "rdma/handshake.h"
#include "rdma/loss.h"
#include "rdma/waits.h"
#include "transport/base/mutex.h"
#include "transport/base/spin.h"
#include "transport/base/sticky_failure.h"
#include "transport/net/socket.h"
#include "transport/net/waker.h"

namespace tf::rdma {
namespace {

using Clock = Deadline::Clock;

constexpr std::chrono::seconds kCloseLimit{3};  // what is lost on the way may be sent again
constexpr int kRoomSlice_ms = 5;
constexpr int kLingerSlice_ms = 100;
constexpr int kLossSlice_ms = 2;                     // while the peer is lost and not all is delivered
constexpr int kShortSlice_ms = 1;                    // a third sleeper, or one that nobody would wake
constexpr std::uint32_t kEmptyPollsPerCheck = 1024;  // of the socket and the device's events
constexpr int kLooksPerClock = 4;
constexpr int kLooksBeforeClock = 192;    // quiet ones, some 3 us: most answers of a busy peer come sooner
constexpr int kQuietPerLook = 4;          // that take as long as one look at everything
constexpr int kLooksUntilSettled = 256;   // a round trip of the device's; then its completion wakes
constexpr unsigned kSpunBeforeWatch = 8;  // waits in a row that ended without a sleep
constexpr std::uint64_t kPayloadMax = kMessageBytesMax - kFrameHeaderBytes;

class RdmaEndpoint final : public tf::Endpoint, private BulkOwner {
 public:
  explicit RdmaEndpoint(Parts parts)
      : device_(std::move(parts.device)),
        messages_(std::move(parts.messages)),
        bulk_plane_(std::move(parts.bulk)),
        loss_(std::move(parts.socket), parts.patience),
        out_(messages_->producer()),
        in_(messages_->consumer()) {}

  Status open(Side side);
  ~RdmaEndpoint() override;

  std::string_view transport() const override { return "rdma"; }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<Slot> reserve(std::size_t bytes) override;
  Slot try_reserve(std::size_t bytes) override {
    const bool usual = !failure_.is_set() && bytes >= kFrameHeaderBytes && bytes <= kMessageBytesMax;
    return usual ? Slot{out_.reserve(bytes), 0} : Slot{};
  }
  void publish(Slot) override {
    if (Status status = out_.publish(); !status.is_ok()) take_failure(std::move(status));
  }
  void abandon(Slot) override { out_.abandon(); }
  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override;
  BulkPlane& bulk() override { return *bulk_; }
  Status wait(Interest interest, Deadline deadline) override;
  void fail(Status reason) override;
  Status status() const override { return failure_.get(); }

 private:
  bool failed() const { return failure_.is_set(); }
  Waiter& waiter(Interest interest) { return waiters_[interest == Interest::kBulk ? 1 : 0]; }
  void arrive();
  Status deliver(MessageSink& sink, std::size_t limit, std::size_t& delivered);
  Status pass_on_told();
  bool has_news(Interest interest, Waiter& waiter, Bulk::Look how);
  Status look(Interest interest, Waiter& waiter, Bulk::Look how = Bulk::Look::kIfFree);
  bool is_quiet(Interest interest);
  Status spin_without_clock(Interest interest, Waiter& waiter, const SpinBudget& budget);
  Status spin(Interest interest, Waiter& waiter, Spin& spin, Clock::time_point& now, Deadline deadline);
  Status sleep(Interest interest, Waiter& waiter, Deadline deadline);
  void watch_after(bool slept);
  Status stop_watching(Interest interest, Waiter& waiter);
  Sleep prepare(const Waiter& waiter, int seat, bool on_messages, bool on_bulk) const;
  Status rise(const Sleep& sleep);

  // --- Loss
  bool is_lost() const { return loss_.is_gone() || loss_.is_broken(); }
  void look_at_peer();
  Status take_events();
  void settle_messages();
  void settle_bulk();
  void take_failure(Status reason) override;
  Status look_now_and_then() override;
  void wake() override { waker_.notify(); }

  Capabilities capabilities_{.one_sided = true};
  std::unique_ptr<Device> device_;
  std::unique_ptr<Plane> messages_;
  std::unique_ptr<Plane> bulk_plane_;
  Loss loss_;
  net::Waker waker_;
  Producer& out_;
  Consumer& in_;
  std::unique_ptr<Bulk> bulk_;
  std::array<Waiter, 2> waiters_;
  std::array<std::atomic<unsigned>, 2> sleepers_{};  // on the completions of messages, and of payload
  std::uint32_t empty_polls_ = 0;                    // consumer's
  unsigned spun_ = 0;                                // consumer's: waits since the last sleep
  std::atomic<std::uint32_t> empty_bulk_polls_{0};   // movers'
  Mutex events_mutex_;                               // whoever fetches the device's events
  StickyFailure failure_;
};

Status RdmaEndpoint::open(Side side) {
  TF_RETURN_IF_ERROR(waker_.open());
  capabilities_.steady_mover = device_->is_software();
  const int flags = ::fcntl(device_->context()->async_fd, F_GETFL);
  if (flags < 0 || ::fcntl(device_->context()->async_fd, F_SETFL, flags | O_NONBLOCK) != 0)
    return Status::from_errno("rdma: the descriptor of the device's events", errno);
  Result<std::unique_ptr<Regions>> regions =
      Regions::make(device_->verbs(), {.pd = device_->pd(),
                                       .remote = side == Side::kClient,
                                       .on_demand = device_->limits().on_demand,
                                       .request_bytes = device_->limits().message_bytes});
  if (!regions) return regions.status();
  bulk_ = side == Side::kClient ? make_client_bulk(*bulk_plane_, *this, std::move(*regions))
                                : make_worker_bulk(*bulk_plane_, *this, std::move(*regions));
  return Status::ok();
}

// Pushes what is held, and says Bye. A peer that failed or left gets nothing.
RdmaEndpoint::~RdmaEndpoint() {
  if (bulk_ == nullptr) return;
  look_at_peer();
  if (!failed() && !is_lost()) {
    const Deadline deadline = Deadline::after(kCloseLimit);
    const bool flushed = out_.finish(deadline).is_ok() && bulk_plane_->producer().finish(deadline).is_ok();
    const Bye bye{.messages = out_.position(), .bulk = bulk_plane_->producer().position()};
    if (flushed) (void)::send(loss_.socket(), &bye, sizeof bye, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  ::shutdown(loss_.socket(), SHUT_RDWR);
  fail({Code::kClosed, "the endpoint was closed with this bulk transfer pending"});
  bulk_plane_->destroy_queues();
  messages_->destroy_queues();
}

// First the peer's device loses access to payload memory, then the owners are told. At the worker's end this
// waits for the device to let go: Bulk::fail_all().
void RdmaEndpoint::fail(Status reason) {
  if (!failure_.set(std::move(reason))) return;
  bulk_plane_->to_error();
  bulk_->fail_all(status());
  waker_.notify();
}

// --- Messages ---------------------------------------------------------------------------------------------

Result<Slot> RdmaEndpoint::reserve(std::size_t bytes) {
  if (failed()) return status();
  if (bytes < kFrameHeaderBytes || bytes > capabilities_.max_message_bytes)
    return Status{Code::kInvalidArgument, "a message has 24 bytes to max_message_bytes"};
  if (is_lost()) return Status{Code::kPeerLost, "rdma: the peer has gone"};
  std::span<std::byte> slot = out_.reserve(bytes);
  if (!slot.empty()) return Slot{slot, 0};
  Result<std::span<std::byte>> slow = out_.reserve_slowly(bytes);
  if (!slow) {
    take_failure(slow.status());
    return slow.status();
  }
  if (slow->empty()) {
    waker_.notify();  // a thread that fell asleep before the refusal
    return would_block();
  }
  return Slot{*slow, 0};
}

// Completions of the message plane.
void RdmaEndpoint::arrive() {
  if (!in_.has_news()) return;
  Status status = in_.take_news();
  const Status noted = pass_on_told();
  if (status.is_ok()) status = noted;
  if (!status.is_ok()) take_failure(std::move(status));
}

Status RdmaEndpoint::pass_on_told() {
  const std::optional<std::uint64_t> told = in_.take_told();
  return told ? out_.note_told(*told) : Status::ok();
}

// Returns what `sink` returned; the endpoint failed with any other error.
Status RdmaEndpoint::deliver(MessageSink& sink, std::size_t limit, std::size_t& delivered) {
  Status wrong;
  for (; delivered < limit && !failed(); ++delivered) {
    const Record* const record = in_.peek(kPayloadMax, wrong);
    if (record == nullptr) break;
    if (Status taken = sink.on_message(record->header, record->payload); !taken.is_ok()) {
      fail(taken);
      return taken;
    }
    in_.consume();
  }
  if (!wrong.is_ok()) fail(std::move(wrong));
  if (delivered == 0 || is_lost()) return Status::ok();
  Status status = in_.has_told() ? pass_on_told() : Status::ok();
  if (status.is_ok()) status = in_.advance();
  if (!status.is_ok()) take_failure(std::move(status));
  return Status::ok();
}

Result<std::size_t> RdmaEndpoint::poll(MessageSink& sink, std::size_t limit) {
  if (failed()) return status();
  if (!in_.has_record()) arrive();
  std::size_t delivered = 0;
  TF_RETURN_IF_ERROR(deliver(sink, limit, delivered));
  if (delivered != 0) return delivered;
  if (is_lost() || ++empty_polls_ % kEmptyPollsPerCheck == 0) {
    look_at_peer();
    if (is_lost()) settle_messages();
  }
  if (failed()) return status();
  return delivered;
}

// --- Loss -------------------------------------------------------------------------------------------------

// Handles a failure of a queue pair, or of the peer's records.
void RdmaEndpoint::take_failure(Status reason) {
  if (reason.code() != Code::kPeerLost) return fail(std::move(reason));
  loss_.note_broken(std::move(reason));
  waker_.notify();
}

void RdmaEndpoint::look_at_peer() {
  Status status = loss_.look();
  if (status.is_ok()) status = take_events();
  if (!status.is_ok()) fail(std::move(status));
}

// The device's events. Ports go up and down; what that does to a queue pair shows in its requests.
Status RdmaEndpoint::take_events() {
  if (!events_mutex_.try_lock()) return Status::ok();
  const MutexLock lock(events_mutex_, std::adopt_lock);
  const Verbs& verbs = device_->verbs();
  ibv_async_event event{};
  while (verbs.get_async_event(device_->context(), &event) == 0) {
    const ibv_event_type type = event.event_type;
    verbs.ack_async_event(&event);
    const std::string what = "rdma: " + device_->describe() + ": " + verbs.event_type_str(type);
    if (type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_CQ_ERR) return {Code::kInternal, what};
    if (type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR)
      take_failure({Code::kPeerLost, what});
  }
  return Status::ok();
}

// Consumer, with the peer lost: delivers what is left, then fails.
void RdmaEndpoint::settle_messages() {
  if (Status overdue = loss_.overdue(); !overdue.is_ok()) return fail(std::move(overdue));
  if (!loss_.is_gone()) return;
  const std::optional<Bye> bye = loss_.bye();
  (void)in_.poll();
  const bool have_all = !bye || in_.finish(bye->messages) || loss_.is_late();
  if (in_.has_record() || !have_all) return;
  if (bye) (void)bulk_->finish(bye->bulk);
  const std::size_t moved = bulk_->drain();
  const bool bulk_over = !bye || bulk_->finish(bye->bulk) || loss_.is_late();
  if (moved == 0 && bulk_over) fail({Code::kPeerLost, "rdma: the peer closed the endpoint or died"});
}

// Mover. The consumer ends the endpoint, if one comes.
void RdmaEndpoint::settle_bulk() {
  if (Status overdue = loss_.overdue(); !overdue.is_ok()) return fail(std::move(overdue));
  if (!loss_.is_gone()) return;
  if (const std::optional<Bye> bye = loss_.bye(); bye) (void)bulk_->finish(bye->bulk);
  (void)bulk_->drain();
  if (loss_.is_late()) fail({Code::kPeerLost, "rdma: the peer closed the endpoint or died"});
}

Status RdmaEndpoint::look_now_and_then() {
  const std::uint32_t polls = empty_bulk_polls_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!is_lost() && polls % kEmptyPollsPerCheck != 0) return Status::ok();
  look_at_peer();
  if (is_lost()) settle_bulk();
  return status();
}

// --- Waiting ----------------------------------------------------------------------------------------------

// There is room, or something arrived.
bool RdmaEndpoint::has_news(Interest interest, Waiter& waiter, Bulk::Look how) {
  const std::uint64_t refusal = out_.refusal_to_tell();
  if (refusal != Producer::kNotRefused && waiter.told.load(std::memory_order_relaxed) != refusal) {
    waiter.told.store(refusal, std::memory_order_relaxed);
    return true;
  }
  if (wants(interest, Interest::kMessages)) {
    arrive();
    if (in_.has_record()) return true;
  }
  return wants(interest, Interest::kBulk) && bulk_->look(how);
}

// kWouldBlock: nothing to do yet.
Status RdmaEndpoint::look(Interest interest, Waiter& waiter, Bulk::Look how) {
  if (failed()) return status();
  const bool news = has_news(interest, waiter, how);
  if (failed()) return status();
  if (news) return Status::ok();
  if (!is_lost()) return would_block();
  look_at_peer();
  if (wants(interest, Interest::kMessages)) {
    settle_messages();
    if (in_.has_record()) return Status::ok();
  } else {
    settle_bulk();
  }
  return failed() ? status() : would_block();
}

// A very cheap check for threads that wait for messages. False if look() might find messages, or anything
// else, except arrivals for a bulk plane with nothing pending.
bool RdmaEndpoint::is_quiet(Interest interest) {
  if (!wants(interest, Interest::kMessages) || (interest == Interest::kBoth && bulk_->has_pending()))
    return false;
  return !failed() && !is_lost() && !out_.refused() && !in_.has_news();
}

Status RdmaEndpoint::spin_without_clock(Interest interest, Waiter& waiter, const SpinBudget& budget) {
  int looks = budget.current().count() != 0 && !budget.crowded() ? kLooksBeforeClock : 0;
  for (;;) {
    while (looks > 0 && is_quiet(interest)) --looks;
    if (wants(interest, Interest::kMessages) && in_.take_marked()) return Status::ok();  // the usual answer
    Status seen = look(interest, waiter);
    looks -= kQuietPerLook;
    if (looks <= 0 || seen.code() != Code::kWouldBlock) return seen;
  }
}

// `now`: the time when the clock was last read.
Status RdmaEndpoint::spin(Interest interest, Waiter& waiter, Spin& spin, Clock::time_point& now,
                          Deadline deadline) {
  Status seen = would_block();
  while (seen.code() == Code::kWouldBlock && !deadline.passed(now) && spin.go_on(now)) {
    for (int looks = 0; looks < kLooksPerClock && seen.code() == Code::kWouldBlock; ++looks)
      seen = look(interest, waiter);
    if (seen.code() == Code::kWouldBlock) now = Clock::now();
  }
  return seen;
}

// What a sleeper polls.
Sleep RdmaEndpoint::prepare(const Waiter& waiter, int seat, bool on_messages, bool on_bulk) const {
  Sleep sleep;
  for (pollfd& entry : sleep.entries) entry = {.fd = -1, .events = POLLIN, .revents = 0};
  if (seat >= 0) sleep.entries[0].fd = waker_.fd(seat);
  if (on_messages) sleep.entries[1].fd = messages_->fd();
  if (on_bulk) sleep.entries[2].fd = bulk_plane_->fd();
  if (!loss_.is_gone()) sleep.entries[3].fd = loss_.socket();
  sleep.entries[4].fd = device_->context()->async_fd;
  // The kick comes when the peer polls again, and it may be busy with something long: but the credit is here.
  if (out_.refused() && out_.refusal() != waiter.told.load(std::memory_order_relaxed))
    sleep.cap_ms = kRoomSlice_ms;
  if (bulk_->has_lingering()) sleep.cap_ms = std::min(sleep.cap_ms, kLingerSlice_ms);
  if (is_lost()) sleep.cap_ms = kLossSlice_ms;
  if (seat < 0 || out_.short_of_sends()) sleep.cap_ms = kShortSlice_ms;
  return sleep;
}

// An event that one sleeper takes does not wake the others on the same plane, so they are woken to check for
// themselves. But threads that wait only for payload are not woken for each message.
Status RdmaEndpoint::rise(const Sleep& sleep) {
  Status status;
  if (sleep.entries[1].revents != 0) {
    const Result<bool> of_sends = messages_->take_events();
    status = of_sends.status();
    if (of_sends.is_ok() && of_sends.value()) status = out_.find_failure();
  }
  if (status.is_ok() && sleep.entries[2].revents != 0) status = bulk_plane_->take_events().status();
  const auto taken_from_others = [&](std::size_t plane) {
    return sleep.entries[1 + plane].revents != 0 && sleepers_[plane].load(std::memory_order_seq_cst) != 0;
  };
  if (taken_from_others(0) || taken_from_others(1)) waker_.notify();
  if (status.is_ok() && (out_.refused() || sleep.entries[1].revents != 0)) status = out_.take_kicks();
  if (sleep.entries[3].revents != 0 || sleep.entries[4].revents != 0) look_at_peer();
  return status;
}

// Ends that answer each other without sleeping find records in memory. The consumer waits for messages.
void RdmaEndpoint::watch_after(bool slept) {
  spun_ = slept ? 0 : spun_ + 1;
  if (spun_ == kSpunBeforeWatch) in_.watch(true);
}

Status RdmaEndpoint::stop_watching(Interest interest, Waiter& waiter) {
  in_.watch(false);
  Status seen = would_block();
  for (int looks = 0; looks < kLooksUntilSettled && seen.code() == Code::kWouldBlock && in_.is_settling();
       ++looks)
    seen = look(interest, waiter);
  return seen;
}

Status RdmaEndpoint::sleep(Interest interest, Waiter& waiter, Deadline deadline) {
  if (wants(interest, Interest::kMessages) && in_.is_watching()) {
    Status seen = stop_watching(interest, waiter);
    if (seen.code() != Code::kWouldBlock) return seen;
  }
  bulk_->end_overdue();
  const int seat = waker_.arm();
  OnPlane messages(sleepers_[0], wants(interest, Interest::kMessages) || out_.refused());
  OnPlane bulk(sleepers_[1], wants(interest, Interest::kBulk));
  Status status;
  if (messages.sleeps()) status = messages_->arm();
  if (status.is_ok() && bulk.sleeps()) status = bulk_plane_->arm();
  // One that arrived before needs no event, and neither does what was flushed before.
  if (status.is_ok() && messages.sleeps()) status = out_.take_kicks();
  if (!status.is_ok()) take_failure(status);
  Status seen = look(interest, waiter, Bulk::Look::kAlways);
  Sleep sleep;
  if (seen.code() == Code::kWouldBlock) {
    sleep = prepare(waiter, seat, messages.sleeps(), bulk.sleeps());
    ::poll(sleep.entries.data(), sleep.entries.size(), deadline.poll_timeout_ms(sleep.cap_ms));
  }
  waker_.disarm(seat);
  messages.end();
  bulk.end();
  if (seen.code() != Code::kWouldBlock) return seen;
  if (status = rise(sleep); !status.is_ok()) take_failure(std::move(status));
  // Our own completions wake nobody: the producer must look for itself.
  return out_.take_short_of_sends() ? Status::ok() : would_block();
}

Status RdmaEndpoint::wait(Interest interest, Deadline deadline) {
  Waiter& own = waiter(interest);
  SpinBudget& budget = bulk_->has_pending() ? own.payload_spin : own.spin;
  const bool for_messages = wants(interest, Interest::kMessages);
  Status seen = spin_without_clock(interest, own, budget);
  if (seen.code() != Code::kWouldBlock) {
    if (for_messages) watch_after(false);
    return seen;
  }
  const Clock::time_point start = Clock::now();
  Clock::time_point now = start;
  Spin spinning(budget, start);
  seen = spin(interest, own, spinning, now, deadline);
  if (for_messages) watch_after(seen.code() == Code::kWouldBlock);
  while (seen.code() == Code::kWouldBlock) {
    if (deadline.passed(now)) {
      seen = {Code::kTimeout, "nothing came over rdma before the deadline"};
    } else {
      seen = sleep(interest, own, deadline);
      // Before asking for events again: an event that nobody waits for costs an interrupt.
      if (seen.code() == Code::kWouldBlock) seen = look(interest, own);
    }
    now = Clock::now();
  }
  budget.learn(now - start);  // also if nothing came: an idle end must not spin
  return seen;
}

}  // namespace

Result<std::unique_ptr<tf::Endpoint>> make_endpoint(Parts parts, Side side) {
  auto endpoint = std::make_unique<RdmaEndpoint>(std::move(parts));
  TF_RETURN_IF_ERROR(endpoint->open(side));
  return std::unique_ptr<tf::Endpoint>(std::move(endpoint));
}

}  // namespace tf::rdma
