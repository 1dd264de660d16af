// SPDX-License-Identifier: Apache-2.0
// mutex_ guards all state; inside_'s producer is whoever holds it. Its consumer and mover is whoever holds
// role_, which is taken before mutex_: the thread in poll(), bulk().move_payload() or wait(), or the
// listener, which keeps it while it sleeps in inside_->wait(). A caller that does not get the role needs
// nothing of it: the listener takes what comes and wakes the callers.
//
// No wake-up is lost: whatever a sleeper in wait() looks for changes under mutex_ and counts events_ up, and
// a sleeper falls asleep under mutex_ only while events_ is what its last wait() ended with.
#include "transport/shaper/endpoint.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/mutex.h"
#include "transport/base/spin.h"
#include "transport/base/thread.h"
#include "transport/shaper/incoming.h"
#include "transport/shaper/outgoing.h"

namespace tf::shaper {
namespace {

constexpr std::size_t kPollBatch = 64;
// Callers poll for this long before they sleep; while one polls, the carrier leaves it the work.
constexpr std::chrono::microseconds kSpin{100};
constexpr std::chrono::microseconds kCarrierGrace{50};
// What is on the wire when this end closes is still delivered, unless the far end has stopped reading.
constexpr std::chrono::seconds kDrainPatience{2};
// How long the listener waits on the inner endpoint at a time; closing may have to wait that long.
constexpr std::chrono::milliseconds kListenMax{100};

class SteadyClock final : public Clock {
 public:
  Time now() const override { return Deadline::Clock::now(); }
};
// Trivially destructible: threads still read it while the process ends.
constinit const SteadyClock kSteady;

class ShapedEndpoint final : public Endpoint, private BulkPlane, private MessageSink {
 public:
  ShapedEndpoint(std::unique_ptr<Endpoint> inside, const Shape& shape, const Clock& clock)
      : inside_(std::move(inside)),
        clock_(clock),
        rtt_(shape.rtt),
        capabilities_(inside_->capabilities()),
        out_(shape, *inside_),
        in_(shape, *inside_) {}
  ~ShapedEndpoint() override;

  Status start_threads();

  std::string_view transport() const override { return inside_->transport(); }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Slot> reserve(std::size_t bytes) override;
  void publish(Slot slot) override;
  void abandon(Slot) override { slot_.clear(); }
  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override;
  BulkPlane& bulk() override { return *this; }
  Status wait(Interest interest, Deadline deadline) override;
  LaneTraffics lane_traffic() const override { return inside_->lane_traffic(); }
  void drop_lane(std::size_t lane, const Status& why) override { inside_->drop_lane(lane, why); }
  std::vector<std::string> take_remarks() override { return inside_->take_remarks(); }
  void fail(Status reason) override;
  Status status() const override;

 private:
  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) override;
  Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) override;
  Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) override;
  Status abort(std::uint64_t tag, std::uint32_t reason) override;
  Result<std::size_t> move_payload() override;
  void remember(std::span<std::byte> memory) override { inside_->bulk().remember(memory); }
  void forget(std::span<std::byte> memory) override { inside_->bulk().forget(memory); }
  void expect_device_reads(std::span<std::byte> memory) override {
    inside_->bulk().expect_device_reads(memory);
  }
  unsigned lanes() const override { return inside_->bulk().lanes(); }
  bool fills_in_order() const override { return inside_->bulk().fills_in_order(); }
  bool streams(std::size_t bytes) const override { return inside_->bulk().streams(bytes); }
  void refuse_unasked() override { inside_->bulk().refuse_unasked(); }
  void keep_open(std::uint64_t tag, bool open) override { inside_->bulk().keep_open(tag, open); }
  Status remember_device(std::span<std::byte> memory, int dmabuf, std::uint64_t offset) override {
    return inside_->bulk().remember_device(memory, dmabuf, offset);
  }
  bool reaches(std::span<const std::byte> memory) const override { return inside_->bulk().reaches(memory); }
  // --- MessageSink of the endpoint inside ---
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;

  // Moves what it can; drives the inner endpoint only if the role is free.
  void pump();
  void pump_inside() TF_REQUIRES(role_);
  void settle(const Status& status);

  Status posted(Status status) TF_REQUIRES(mutex_);
  void move(Time now) TF_REQUIRES(mutex_);
  void note_moved(std::size_t moved) TF_REQUIRES(mutex_);
  void carry(Time now) TF_REQUIRES(mutex_);
  void fail_locked(const Status& reason) TF_REQUIRES(mutex_);
  void changed() TF_REQUIRES(mutex_);
  void wake_carrier() TF_REQUIRES(mutex_);
  std::optional<Time> next_event(Interest interest, Time now) const TF_REQUIRES(mutex_);
  bool is_ready(Interest interest, Time now) TF_REQUIRES(mutex_);
  bool listens() const TF_REQUIRES(mutex_) { return sleepers_ != 0 && failure_.is_ok() && !in_.is_lost(); }
  std::uint64_t& seen_by(Interest of) TF_REQUIRES(mutex_) { return seen_[static_cast<std::size_t>(of)]; }

  Status look(Interest interest, Deadline deadline) TF_REQUIRES(mutex_);
  Status sleep(Interest interest, Deadline deadline) TF_REQUIRES(mutex_);
  void run_carrier();
  void run_listener();
  void drain();

  std::unique_ptr<Endpoint> inside_;
  const Clock& clock_;
  const std::chrono::nanoseconds rtt_;
  Capabilities capabilities_;
  std::vector<std::byte> slot_;  // the producer's; the one message being filled

  Mutex role_;
  mutable Mutex mutex_;
  Outgoing out_ TF_GUARDED_BY(mutex_);
  Incoming in_ TF_GUARDED_BY(mutex_);
  Status failure_ TF_GUARDED_BY(mutex_);  // sticky
  std::uint64_t events_ TF_GUARDED_BY(mutex_) = 0;
  // events_ when the last wait() of each interest ended
  std::array<std::uint64_t, 4> seen_ TF_GUARDED_BY(mutex_){};
  // Bytes and pieces moved by any thread, not yet reported to the mover.
  std::size_t moved_ TF_GUARDED_BY(mutex_) = 0;
  std::size_t sleepers_ TF_GUARDED_BY(mutex_) = 0;
  std::size_t spinners_ TF_GUARDED_BY(mutex_) = 0;
  bool stop_ TF_GUARDED_BY(mutex_) = false;
  Time carrier_until_ TF_GUARDED_BY(mutex_) = Time::min();  // when the carrier looks next
  CondVar changed_;                                         // for sleepers
  CondVar carrier_wakes_;
  CondVar listener_wakes_;
  std::thread carrier_;
  std::thread listener_;
};

// --- Life -----------------------------------------------------------------------------------------------

Status ShapedEndpoint::start_threads() {
  if (start_thread(carrier_, "hip-shape-out", [this] { run_carrier(); }) &&
      start_thread(listener_, "hip-shape-in", [this] { run_listener(); }))
    return Status::ok();
  return {Code::kResourceExhausted, "TF_SHAPE: no thread for a shaped connection"};
}

// What was published before the end is delivered, as endpoint.h promises.
void ShapedEndpoint::drain() {
  const Deadline patience = Deadline::after(kDrainPatience + rtt_);
  UniqueLock lock(mutex_);
  while (failure_.is_ok() && !in_.is_lost() && out_.has_messages() && !patience.passed() &&
         carrier_.joinable()) {
    lock.unlock();
    std::this_thread::sleep_for(kRoomPause);
    lock.lock();
    carry(clock_.now());
  }
  stop_ = true;
  carrier_wakes_.notify_all();
  listener_wakes_.notify_all();
}

ShapedEndpoint::~ShapedEndpoint() {
  drain();
  if (carrier_.joinable()) carrier_.join();
  if (listener_.joinable()) listener_.join();
  inside_.reset();  // delivers what it has, and is done with others' memory
  const Status closed(Code::kClosed, "the endpoint was closed with this bulk transfer pending");
  in_.fail(closed);
  out_.fail(closed);
  (void)out_.carry(clock_.now());
  (void)in_.sweep(clock_.now());
}

Status ShapedEndpoint::status() const {
  const MutexLock lock(mutex_);
  return failure_;
}

void ShapedEndpoint::fail(Status reason) {
  const MutexLock lock(mutex_);
  fail_locked(reason);
}

void ShapedEndpoint::fail_locked(const Status& reason) {
  if (failure_.is_ok()) {
    failure_ = reason;
    inside_->fail(reason);
  }
  in_.fail(failure_);
  out_.fail(failure_);
  (void)in_.sweep(clock_.now());
  changed();
}

void ShapedEndpoint::changed() {
  ++events_;
  changed_.notify_all();
}

// Wakes it if it would sleep past what was just put on the wire.
void ShapedEndpoint::wake_carrier() {
  if (const std::optional<Time> next = out_.next(clock_.now()); next && *next < carrier_until_)
    carrier_wakes_.notify_one();
}

// --- Messages -------------------------------------------------------------------------------------------

Result<Slot> ShapedEndpoint::reserve(std::size_t bytes) {
  if (bytes < kFrameHeaderBytes || bytes > capabilities_.max_message_bytes)
    return Status(Code::kInvalidArgument, "a message has 24 bytes to max_message_bytes");
  const MutexLock lock(mutex_);
  if (!failure_.is_ok()) return failure_;
  if (!out_.reserve(bytes)) return would_block();
  slot_.resize(bytes);
  return Slot{.bytes = slot_, .cookie = 0};
}

void ShapedEndpoint::publish(Slot) {
  const MutexLock lock(mutex_);
  const Time now = clock_.now();
  out_.publish(std::exchange(slot_, {}), now);
  carry(now);
  wake_carrier();
}

Status ShapedEndpoint::on_message(const FrameHeader& header, std::span<const std::byte> payload) {
  const MutexLock lock(mutex_);
  in_.arrive(header, payload, clock_.now());
  return Status::ok();
}

Result<std::size_t> ShapedEndpoint::poll(MessageSink& sink, std::size_t limit) {
  pump();
  std::size_t delivered = 0;
  UniqueLock lock(mutex_);
  const Time now = clock_.now();
  while (delivered < limit && failure_.is_ok() && in_.has_message(now)) {
    const Incoming::Message message = in_.take();
    lock.unlock();
    const Status taken = sink.on_message(message.header, message.payload);
    lock.lock();
    if (!taken.is_ok()) {
      fail_locked(taken);
      return failure_;
    }
    ++delivered;
  }
  if (delivered != 0) return delivered;
  if (Status lost = in_.loss(now); !lost.is_ok()) fail_locked(lost);
  if (!failure_.is_ok()) return failure_;
  return delivered;
}

// --- Payload --------------------------------------------------------------------------------------------

// Makes a sleeping mover look again.
Status ShapedEndpoint::posted(Status status) {
  if (!failure_.is_ok()) return failure_;
  if (!status.is_ok()) return status;
  carry(clock_.now());
  changed();
  wake_carrier();
  return status;
}

Status ShapedEndpoint::send(std::uint64_t tag, std::span<const std::byte> source,
                            BulkCompletion& completion) {
  const MutexLock lock(mutex_);
  return posted(out_.send(tag, source, completion));
}

Status ShapedEndpoint::abort(std::uint64_t tag, std::uint32_t reason) {
  const MutexLock lock(mutex_);
  return posted(out_.abort(tag, reason));
}

Status ShapedEndpoint::receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) {
  const MutexLock lock(mutex_);
  return posted(in_.receive(tag, target, target.size(), completion));
}

Status ShapedEndpoint::discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) {
  const MutexLock lock(mutex_);
  return posted(in_.receive(tag, {}, bytes, completion));
}

Result<std::size_t> ShapedEndpoint::move_payload() {
  pump();
  const MutexLock lock(mutex_);
  if (moved_ != 0) return std::exchange(moved_, 0);
  if (Status lost = in_.loss(clock_.now()); !lost.is_ok()) fail_locked(lost);
  if (!failure_.is_ok()) return failure_;
  return std::size_t{0};
}

// --- Moving ---------------------------------------------------------------------------------------------

void ShapedEndpoint::pump() {
  if (role_.try_lock()) {
    const MutexLock role(role_, std::adopt_lock);
    pump_inside();
  }
  const MutexLock lock(mutex_);
  move(clock_.now());
}

void ShapedEndpoint::move(Time now) {
  carry(now);
  note_moved(in_.sweep(now) ? 1 : 0);
}

// A completion may be done that its owner has already checked: a thread other than the mover moved it.
void ShapedEndpoint::note_moved(std::size_t moved) {
  moved_ += moved;
  if (moved != 0 && sleepers_ != 0) changed();
}

void ShapedEndpoint::pump_inside() {
  bool room = false;
  {
    const MutexLock lock(mutex_);
    room = in_.has_room() && failure_.is_ok() && !in_.is_lost();
  }
  if (room) settle(inside_->poll(*this, kPollBatch).status());
  Result<std::size_t> moved = inside_->bulk().move_payload();
  // A transport may see the bulk plane's loss first: messages still to be delivered come before the end.
  if (!moved) settle(inside_->status());
  if (!moved || *moved == 0) return;
  const MutexLock lock(mutex_);
  in_.note_flow(clock_.now());
  note_moved(*moved);
}

// An inner failure is the loss of the peer, or a protocol error of it; reported after everything that came
// before.
void ShapedEndpoint::settle(const Status& status) {
  if (status.is_ok()) return;
  const MutexLock lock(mutex_);
  in_.lose(status, clock_.now());
}

void ShapedEndpoint::carry(Time now) {
  Result<bool> moved = out_.carry(now);
  if (!moved) in_.lose(moved.status(), now);
  note_moved(moved && *moved ? 1 : 0);
  if (out_.take_room()) changed();
}

// --- Waiting --------------------------------------------------------------------------------------------

// When a caller will next find something itself. The carrier handles the rest.
std::optional<Time> ShapedEndpoint::next_event(Interest interest, Time now) const {
  std::optional<Time> first = in_.next_loss();
  const auto consider = [&](std::optional<Time> time) {
    if (time) first = first ? std::min(*first, *time) : *time;
  };
  if (wants(interest, Interest::kMessages)) consider(in_.next_message());
  if (wants(interest, Interest::kBulk)) consider(in_.next_bulk());
  if (!carrier_.joinable()) consider(out_.next(now));
  return first;
}

bool ShapedEndpoint::is_ready(Interest interest, Time now) {
  if (events_ != seen_by(interest) || !failure_.is_ok()) return true;
  if (wants(interest, Interest::kBulk) && moved_ != 0) return true;
  const std::optional<Time> next = next_event(interest, now);
  return next && *next <= now;
}

Status ShapedEndpoint::wait(Interest interest, Deadline deadline) {
  const MutexLock lock(mutex_);
  ++spinners_;
  Status status = look(interest, deadline);
  --spinners_;
  if (status.code() == Code::kWouldBlock) status = sleep(interest, deadline);
  seen_by(interest) = events_;
  return failure_.is_ok() ? status : failure_;
}

// Polls for a while, and as long as something is due soon. kWouldBlock: nothing came.
Status ShapedEndpoint::look(Interest interest, Deadline deadline) {
  const Deadline spinning = Deadline::after(kSpin).sooner(deadline);
  const Deadline alone = Deadline::after(kSpinAlone);
  for (;;) {
    const Time now = clock_.now();
    if (is_ready(interest, now)) return Status::ok();
    const std::optional<Time> next = next_event(interest, now);
    const bool soon = next && *next - now < kSpin;
    if (deadline.passed() || (spinning.passed() && !soon)) return would_block();
    const MutexUnlock meanwhile(mutex_);
    if (alone.passed()) std::this_thread::yield();
    pump();
  }
}

Status ShapedEndpoint::sleep(Interest interest, Deadline deadline) {
  carrier_wakes_.notify_one();  // this thread has stopped carrying
  ++sleepers_;
  if (listens()) listener_wakes_.notify_one();
  Status status;
  while (!is_ready(interest, clock_.now())) {
    if (deadline.passed()) {
      status = {Code::kTimeout, "nothing came over the shaped connection before the deadline"};
      break;
    }
    if (!listener_.joinable()) {
      status = {Code::kTimeout, "on a clock of the test's nothing comes by waiting"};
      break;
    }
    const Time now = clock_.now();
    const std::optional<Time> next = next_event(interest, now);
    if (next && *next - now <= kSpin) break;  // the next wait() polls until then: sleeps end too late
    if (!next && deadline.is_never()) {
      changed_.wait(mutex_);
      continue;
    }
    const Time until = deadline.is_never() ? Time::max() : now + deadline.remaining();
    changed_.wait_until(mutex_, next ? std::min(*next - kSpin, until) : until);
  }
  --sleepers_;
  return status;
}

// --- Threads --------------------------------------------------------------------------------------------

void ShapedEndpoint::run_carrier() {
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // the kernel would add up to 50 us to every sleep
  UniqueLock lock(mutex_);
  while (!stop_) {
    const std::optional<Time> next = in_.is_lost() ? std::nullopt : out_.next(clock_.now());
    if (!next) {
      carrier_until_ = Time::max();
      carrier_wakes_.wait(mutex_);
      carrier_until_ = Time::min();
      continue;
    }
    carrier_until_ = spinners_ != 0 ? *next + kCarrierGrace : *next;
    const bool early = clock_.now() < carrier_until_ &&
                       carrier_wakes_.wait_until(mutex_, carrier_until_) == std::cv_status::no_timeout;
    carrier_until_ = Time::min();
    if (!early) carry(clock_.now());
  }
}

void ShapedEndpoint::run_listener() {
  UniqueLock lock(mutex_);
  while (!stop_) {
    if (!listens()) {
      listener_wakes_.wait(mutex_);
      continue;
    }
    // Without room for messages they stay in the inner endpoint, and must not wake it.
    const Interest interest = in_.has_room() ? Interest::kBoth : Interest::kBulk;
    lock.unlock();
    Status status;
    {
      const MutexLock role(role_);
      status = inside_->wait(interest, Deadline::after(kListenMax));
      if (status.code() != Code::kTimeout) pump_inside();
    }
    lock.lock();
    if (status.code() == Code::kTimeout) continue;
    if (!status.is_ok()) in_.lose(status, clock_.now());
    move(clock_.now());
    changed();
  }
}

}  // namespace

Result<std::unique_ptr<Endpoint>> make_shaped(std::unique_ptr<Endpoint> inside, const Shape& shape) {
  auto shaped = std::make_unique<ShapedEndpoint>(std::move(inside), shape, kSteady);
  TF_RETURN_IF_ERROR(shaped->start_threads());
  return std::unique_ptr<Endpoint>(std::move(shaped));
}

std::unique_ptr<Endpoint> make_shaped_by_hand(std::unique_ptr<Endpoint> inside, const Shape& shape,
                                              const Clock& clock) {
  return std::make_unique<ShapedEndpoint>(std::move(inside), shape, clock);
}

}  // namespace tf::shaper
