// SPDX-License-Identifier: Apache-2.0
// Loss. The first lane that ends is the endpoint's end: from then on no message is taken any more. A peer
// that closes ends both lanes, not at the same instant, and what it sent before is still to be delivered: the
// message lane's end makes the endpoint fail when the bulk lane has ended too, or stands still, or kLossGrace
// has passed; the bulk lane's end when all messages that came are delivered and the message lane has ended
// too, or kBulkLossGrace has passed. Transfers end with the endpoint.
//
// A host that vanishes ends no lane that has something to send (transport/net/liveness.h). LaneWatch finds
// bytes that do not arrive: it compares the counts of both sides (transport/lane_watch.h).
//
// Recoverable payload lanes are an exception: only the last one's end is a loss (piece_lanes.h).
#include "tcp/endpoint.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "tcp/bulk_lane.h"
#include "tcp/congestion.h"
#include "tcp/message_lane.h"
#include "tcp/sealed_io.h"
#include "transport/base/mutex.h"
#include "transport/base/processor.h"
#include "transport/base/spin.h"
#include "transport/lane_watch.h"
#include "transport/net/lane_traffic.h"
#include "transport/net/liveness.h"
#include "transport/net/waker.h"

namespace tf::tcp {
namespace {

constexpr std::chrono::milliseconds kLossGrace{1000};
constexpr std::chrono::milliseconds kBulkLossGrace{300};
constexpr std::chrono::seconds kCloseLimit{2};
// A separate payload costs a request to the bulk lane and a wait for its end. Copies of 16 KiB take 16 us
// there, and 7 us inside their message, which leaves together with the messages around it. Not more than a
// small staging slot of the worker: it has few large ones, and a message that waits for one holds up all
// behind it.
constexpr std::size_t kInlinePayloadBytes = 16 << 10;
constexpr int kLossSlice_ms = 5;    // while one lane has ended and the other has not
constexpr int kNoSeatSlice_ms = 1;  // a third sleeper

// Messages and receipts are short: whoever has them seals and opens them.
unsigned helpers_for(unsigned number, const Layout& layout, const Options& options) {
  if (number != kBulkConnection && !layout.is_piece(number)) return 0;
  const unsigned lanes = layout.is_piece(number) ? layout.payload_lanes : 1;
  return options.crypto_helpers.value_or(default_crypto_helpers(lanes, usable_processors()));
}

// The connection's engine, inside records if the session is encrypted.
Result<LaneIo> make_io(int socket, unsigned number, const Layout& layout, Options options,
                       const Protection& protection) {
  options.records = protection.session != nullptr && protection.session->level == secure::Level::kEncrypt;
  // The kernel would hold memory whose receipt has come.
  if (options.recoverable) options.features.zero_copy_send = false;
  const bool is_payload = number == kBulkConnection || layout.is_piece(number);
  Result<LaneIo> io = make_lane_io(socket, is_payload ? Lane::kBulk : Lane::kMessage, options);
  if (!io || !options.records) return io;
  return make_sealed_io(std::move(*io), protection, number, helpers_for(number, layout, options));
}

// For who reads the counts of a lane.
constexpr std::array<std::string_view, kConnectionsMax> kNames = {
    "message",   "bulk",      "payload 1", "payload 2", "payload 3", "payload 4",
    "payload 5", "payload 6", "payload 7", "payload 8", "receipt"};

// By their number, and the last one's use.
Layout layout_of(std::size_t connections, bool recoverable) {
  const std::size_t others = kConnectionsMin + (recoverable ? 1U : 0U);
  return {.payload_lanes = connections > others ? static_cast<unsigned>(connections - others) : 1,
          .recoverable = recoverable};
}

// From now on the peer's kernel gets nothing from it, and at the end nobody waits for what it still has.
void give_up(int socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::shutdown(socket, SHUT_RDWR);
}

class TcpEndpoint final : public Endpoint, private QueuedBulkPlane, private PieceLanes::Listener {
 public:
  TcpEndpoint(std::vector<net::OwnedFd> sockets, const Options& options, std::vector<std::string> remarks)
      : sockets_(std::move(sockets)),
        layout_(layout_of(sockets_.size(), options.recoverable)),
        patience_(options.peer_timeout),
        remarks_(std::move(remarks)) {}

  Status open(const Options& options, const Protection& protection) {
    TF_RETURN_IF_ERROR(waker_.open());
    std::vector<LaneIo> io;
    for (unsigned number = 0; number < sockets_.size(); ++number) {
      Result<LaneIo> made = make_io(sockets_[number].get(), number, layout_, options, protection);
      if (!made) return made.status();
      io.push_back(std::move(*made));
    }
    Result<std::unique_ptr<MessageLane>> lane =
        MessageLane::create(std::move(io[kMessageConnection]), waker_);
    if (!lane) return lane.status();
    messages_ = std::move(*lane);
    bulk_lane_ = std::make_unique<BulkLane>(std::move(io[kBulkConnection]));
    if (!layout_.has_pieces()) return Status::ok();
    pieces_ = std::make_unique<PieceLanes>(bulk_lane_->queue(), static_cast<PieceLanes::Listener&>(*this),
                                           layout_.recoverable);
    for (unsigned number = 0; number < io.size(); ++number)
      if (layout_.is_piece(number)) pieces_->add(std::move(io[number]), number);
    if (layout_.recoverable) pieces_->add_receipts(std::move(io.back()));
    bulk_lane_->stripe_over(*pieces_);
    return pieces_->start();
  }

  ~TcpEndpoint() override {
    if (bulk_lane_ == nullptr) return;
    const Deadline deadline = Deadline::after(kCloseLimit);
    const bool flushed = !failed() && messages_->drain(deadline);
    messages_->stop();
    bulk_lane_->stop({Code::kClosed, "the endpoint was closed with this bulk transfer pending"});
    if (pieces_ != nullptr) pieces_->stop();
    if (flushed) linger(deadline);
  }

  std::string_view transport() const override { return "tcp"; }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<Slot> reserve(std::size_t bytes) override {
    if (failed()) return status();
    if (Status lost = lane_lost(); !lost.is_ok()) return lost;
    return messages_->reserve(bytes);
  }
  void publish(Slot slot) override {
    if (!failed()) messages_->publish(slot);
  }
  void abandon(Slot) override { messages_->abandon(); }

  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override {
    if (failed()) return status();
    messages_->flush();
    Result<std::size_t> delivered = messages_->poll(sink, limit);
    if (delivered) return delivered;
    if (delivered.code() != Code::kPeerLost) {
      fail(delivered.status());
      return status();
    }
    note_message_end(delivered.status());
    settle();
    return failed() ? Result<std::size_t>(status()) : Result<std::size_t>(std::size_t{0});
  }

  BulkPlane& bulk() override { return *this; }

  Status wait(Interest interest, Deadline deadline) override {
    messages_->flush();
    if (const Status now = look(interest); now.code() != Code::kWouldBlock) return now;
    const auto start = Deadline::Clock::now();
    const Status waited = wait_from(start, interest, deadline);
    spin_.learn(Deadline::Clock::now() - start);  // also if nothing came: an idle end must not spin
    return waited;
  }

  LaneTraffics lane_traffic() const override {
    LaneTraffics traffics{.lanes = {}, .count = sockets_.size(), .patience = patience_};
    for (unsigned number = 0; number < sockets_.size(); ++number) {
      const bool is_receipts = layout_.recoverable && number + 1 == sockets_.size();
      const auto name = kNames[is_receipts ? kConnectionsMax - 1 : number];
      const auto traffic = net::traffic_of(sockets_[number].get(), name);
      if (!traffic) return {};
      traffics.lanes[number] = *traffic;
      traffics.lanes[number].spare = layout_.recoverable && layout_.is_piece(number);
      traffics.lanes[number].lost = is_lost(number);
    }
    return traffics;
  }

  void drop_lane(std::size_t lane, const Status& why) override {
    if (layout_.recoverable) pieces_->drop(static_cast<unsigned>(lane), why);
  }

  std::vector<std::string> take_remarks() override {
    const MutexLock lock(failure_mutex_);
    return std::exchange(remarks_, {});
  }

  void fail(Status reason) override {
    {
      const MutexLock lock(failure_mutex_);
      if (failure_.is_ok()) failure_ = std::move(reason);
    }
    failed_.store(true, std::memory_order_seq_cst);  // pairs with failed(); before the lane's lock is tried
    bulk_lane_->fail(status());
    if (pieces_ != nullptr) pieces_->end();
    waker_.notify();
  }

  Status status() const override {
    const MutexLock lock(failure_mutex_);
    return failure_;
  }

 private:
  // --- QueuedBulkPlane ---
  BulkQueue& bulk_queue() override { return bulk_lane_->queue(); }
  Result<std::size_t> move_payload() override {
    Result<std::size_t> moved = bulk_lane_->move();
    if (failed()) {  // fail() may have found the lane busy
      bulk_lane_->fail(status());
      return status();
    }
    const bool ended = piece_ended_.load(std::memory_order_relaxed) &&
                       piece_ended_.exchange(false, std::memory_order_acq_rel);
    if (moved && pieces_ != nullptr && pieces_->is_over()) moved = pieces_->why_over();
    if (moved) return *moved == 0 && ended ? Result<std::size_t>(std::size_t{1}) : moved;
    take_bulk_end(moved.status());
    return failed() ? Result<std::size_t>(status()) : Result<std::size_t>(std::size_t{0});
  }

  bool can_send_filling(std::size_t bytes) const override {
    return pieces_ != nullptr && bytes >= kStripedBytesMin && bytes <= kStripeBytesMax;
  }
  Status send_filling(std::uint64_t tag, std::span<const std::byte> source, const Filling& filling,
                      BulkCompletion& completion) override {
    if (!can_send_filling(source.size())) return BulkPlane::send_filling(tag, source, filling, completion);
    return posted(bulk_lane_->queue().send(tag, source, completion, &filling));
  }
  void filled() override {
    if (pieces_ != nullptr) pieces_->filled();
  }

  void expect_device_reads(std::span<std::byte> memory) override {
    if (pieces_ != nullptr) pieces_->incoming().expect_device_reads(memory);
  }
  unsigned lanes() const override { return pieces_ == nullptr ? 1 : pieces_->count(); }
  bool fills_in_order() const override { return pieces_ == nullptr; }
  bool streams(std::size_t bytes) const override { return pieces_ != nullptr && bytes <= kStreamedStripeMax; }
  void forget(std::span<std::byte> memory) override {
    if (pieces_ != nullptr) pieces_->incoming().forget(memory);
  }

  Status posted(Status result) override {
    bulk_lane_->note_post();
    waker_.notify();
    return result;
  }

  // --- PieceLanes::Listener, on their threads ---
  void piece_moved() override {
    piece_ended_.store(true, std::memory_order_release);
    bulk_lane_->note_post();
    waker_.notify();
  }
  void piece_lanes_over() override { piece_moved(); }
  void piece_lane_lost(unsigned number, const Status& why, unsigned left) override {
    lost_.fetch_or(1U << number, std::memory_order_relaxed);
    give_up(sockets_[number].get());
    if (left == 0) return;
    const std::string others = left == 1 ? "another one goes on" : std::to_string(left) + " others go on";
    const MutexLock lock(failure_mutex_);
    remarks_.push_back("the " + std::string(kNames[number]) + " connection was lost, " + others + ": " +
                       why.message());
  }
  bool is_lost(unsigned number) const { return (lost_.load(std::memory_order_relaxed) >> number & 1U) != 0; }

  // A lane for payload is over.
  bool payload_over() const { return bulk_lane_->is_over() || (pieces_ != nullptr && pieces_->is_over()); }
  // REQUIRES: payload_over()
  Status payload_end() const { return bulk_lane_->is_over() ? bulk_lane_->why() : pieces_->why_over(); }

  bool failed() const { return failed_.load(std::memory_order_seq_cst); }

  // --- waiting ---
  // Unlike Spin, it goes on yielding while others run for a moment: one of them may be the peer, on the same
  // processor, and each of its messages would wake a sleeper.
  Status wait_from(Deadline::Clock::time_point start, Interest interest, Deadline deadline) {
    const std::chrono::nanoseconds budget = spin_.current();
    const SpinBudget::Crowd crowd = spin_.crowd(start);
    const auto alone = crowd == SpinBudget::Crowd::kAsk ? std::chrono::microseconds{0} : kSpinAlone;
    bool crowded = crowd == SpinBudget::Crowd::kSure;
    Yields yields(spin_.yield_cost());
    for (;;) {
      if (deadline.passed()) return {Code::kTimeout, "nothing came over tcp before the deadline"};
      const auto spun = Deadline::Clock::now() - start;
      std::optional<Yields::Outcome> gave_way;
      if (crowded || spun >= budget || (spun >= alone && CrowdSign::is_up()))
        sleep(interest, deadline);
      else if (spun >= alone)
        gave_way = yields.yield();
      const Status now = look(interest);
      const bool answered = now.code() != Code::kWouldBlock;
      if (gave_way)
        crowded = spin_.yielded(*gave_way, answered);
      else if (answered)
        spin_.answered_elsewhere();
      if (answered) return now;
    }
  }

  // kWouldBlock: nothing to do yet.
  Status look(Interest interest) {
    if (failed()) return status();
    if (messages_->has_wanted_room()) return Status::ok();
    if (message_ended_.load(std::memory_order_acquire)) {  // pairs with note_message_end()
      settle();
      if (failed()) return status();
    } else if (wants(interest, Interest::kMessages) && messages_->look()) {
      return Status::ok();
    }
    if (!wants(interest, Interest::kBulk)) return would_block();
    if (payload_over()) {
      take_bulk_end(payload_end());
      return failed() ? status() : would_block();
    }
    if (bulk_lane_->has_news()) return Status::ok();
    std::array<pollfd, 2> entries = {bulk_lane_->input(), bulk_lane_->output()};
    return ::poll(entries.data(), entries.size(), 0) > 0 ? Status::ok() : would_block();
  }

  void sleep(Interest interest, Deadline deadline) {
    const int seat = waker_.arm();
    if (look(interest).code() == Code::kWouldBlock) {
      std::array<pollfd, 5> entries{};
      for (pollfd& entry : entries) entry.fd = -1;
      const bool ended = message_ended_.load(std::memory_order_acquire);
      if (seat >= 0) entries[0] = {.fd = waker_.fd(seat), .events = POLLIN, .revents = 0};
      if (wants(interest, Interest::kMessages) && !ended) entries[1] = messages_->input();
      if (messages_->blocked()) entries[2] = messages_->output();
      if (wants(interest, Interest::kBulk) || ended) entries[3] = bulk_lane_->input();
      if (wants(interest, Interest::kBulk)) entries[4] = bulk_lane_->output();
      int cap_ms = 60'000;
      if (ended || payload_over()) cap_ms = kLossSlice_ms;
      if (seat < 0) cap_ms = kNoSeatSlice_ms;
      ::poll(entries.data(), entries.size(), deadline.poll_timeout_ms(cap_ms));
      if (entries[2].revents != 0) messages_->flush();
    }
    waker_.disarm(seat);
  }

  // --- loss ---
  // One lane has ended: nothing more is sent, even if there is more to read.
  Status lane_lost() const {
    if (!message_ended_.load(std::memory_order_acquire) && !payload_over()) return Status::ok();
    const MutexLock lock(failure_mutex_);
    if (!failure_.is_ok()) return failure_;
    // Not always a loss: the mover that found a malformed chunk may be about to tell it.
    return loss_.is_ok() ? payload_end() : loss_;
  }

  void note_message_end(const Status& reason) {
    const MutexLock lock(failure_mutex_);
    if (message_ended_.load(std::memory_order_relaxed)) return;
    loss_ = reason;
    loss_limit_ = Deadline::after(kLossGrace);
    message_ended_.store(true, std::memory_order_release);
  }

  // After the message lane's end: moves the remaining payload, then lets the endpoint fail.
  void settle() {
    Status loss;
    bool late = false;
    {
      const MutexLock lock(failure_mutex_);
      loss = loss_;
      late = loss_limit_.passed();
    }
    Result<std::size_t> moved = bulk_lane_->move();
    if (!moved && moved.code() != Code::kPeerLost) return fail(moved.status());
    const bool quiet = pieces_ == nullptr || pieces_->is_quiet();
    const bool more = (moved && (*moved > 0 || !bulk_lane_->is_stalled())) || !quiet;
    if (!more || late) fail(loss);
  }

  // A lost peer may have left messages. Any other reason is the endpoint's failure at once, whoever is first
  // to see it.
  void take_bulk_end(const Status& reason) {
    if (reason.code() == Code::kPeerLost) return settle_bulk_end(reason);
    fail(reason);
  }

  // After the bulk lane's end: the endpoint fails once all received messages are delivered, or after
  // kBulkLossGrace if the message lane goes on normally.
  void settle_bulk_end(const Status& reason) {
    Status why;
    if (messages_->at_end(why)) {
      note_message_end(why);
      return settle();
    }
    bool late = false;
    {
      const MutexLock lock(failure_mutex_);
      if (bulk_limit_.is_never()) bulk_limit_ = Deadline::after(kBulkLossGrace);
      late = bulk_limit_.passed();
    }
    if (late && !messages_->look()) fail(reason);
  }

  // Closing a TCP socket with unread input resets it, which would destroy what the peer has not fetched yet.
  // So: say that we are done, and wait until the kernel has sent the rest.
  void linger(Deadline deadline) {
    for (const net::OwnedFd& each : sockets_) ::shutdown(each.get(), SHUT_WR);
    for (unsigned number = 0; number < sockets_.size(); ++number)
      if (!is_lost(number)) linger_on(sockets_[number].get(), deadline);
  }

  static void linger_on(int socket, Deadline deadline) {
    std::array<std::byte, 16 * 1024> sink;
    int family = 0;
    socklen_t length = sizeof family;
    ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &length);
    int queued = family == AF_UNIX ? 0 : 1;  // Unix sockets keep what was sent
    while (queued > 0 && !deadline.passed()) {
      if (::ioctl(socket, SIOCOUTQ, &queued) != 0 || queued == 0) break;
      if (::recv(socket, sink.data(), sink.size(), MSG_DONTWAIT) == 0) break;  // the peer left, too
      ::poll(nullptr, 0, 1);
    }
  }

  const Capabilities capabilities_{.inline_payload_bytes = kInlinePayloadBytes};
  const std::vector<net::OwnedFd> sockets_;
  const Layout layout_;
  const std::chrono::milliseconds patience_;
  std::atomic<std::uint32_t> lost_{0};  // connections, by number; orders nothing
  net::Waker waker_;
  std::unique_ptr<MessageLane> messages_;
  std::unique_ptr<BulkLane> bulk_lane_;
  std::unique_ptr<PieceLanes> pieces_;    // null: one payload lane, which is the bulk lane
  std::atomic<bool> piece_ended_{false};  // a transfer has, since move_payload() last looked
  SpinBudget spin_;
  std::atomic<bool> failed_{false};         // seq_cst; stored after failure_
  std::atomic<bool> message_ended_{false};  // release after loss_
  mutable Mutex failure_mutex_;
  Status failure_ TF_GUARDED_BY(failure_mutex_);
  Status loss_ TF_GUARDED_BY(failure_mutex_);
  Deadline loss_limit_ TF_GUARDED_BY(failure_mutex_) = Deadline::never();
  Deadline bulk_limit_ TF_GUARDED_BY(failure_mutex_) = Deadline::never();
  std::vector<std::string> remarks_ TF_GUARDED_BY(failure_mutex_);
};

}  // namespace

Result<std::unique_ptr<Endpoint>> make_endpoint(std::vector<net::OwnedFd> sockets, const Options& options,
                                                const Protection& protection,
                                                std::vector<std::string> remarks) {
  // A rail that is lost while nothing is sent is found lost before the next large payload.
  const auto patience =
      options.recoverable ? std::min(options.peer_timeout, kSparePatience) : options.peer_timeout;
  const Layout layout = layout_of(sockets.size(), options.recoverable);
  for (unsigned number = 0; number < sockets.size(); ++number) {
    const int socket = sockets[number].get();
    TF_RETURN_IF_ERROR(net::watch_idle(socket, layout.is_piece(number) ? patience : options.peer_timeout));
    TF_RETURN_IF_ERROR(set_congestion(socket, options.congestion));
  }
  auto endpoint = std::make_unique<TcpEndpoint>(std::move(sockets), options, std::move(remarks));
  TF_RETURN_IF_ERROR(endpoint->open(options, protection));
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

}  // namespace tf::tcp
