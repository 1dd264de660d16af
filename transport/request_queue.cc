// SPDX-License-Identifier: Apache-2.0
// `producer_` makes one message: reserve, fill, publish; it is never held across a wait.
//
// One thread at a time is the driver (consumer and mover of the endpoint). A thread with a goal takes the
// role if nobody has it, and drives until the goal is reached; else it sleeps as a follower. A lone caller
// therefore takes no lock to wait for its reply.
//
// No wake-up is lost. A follower enters the list and counts itself (follow()) before its last look at its
// goal and at the role. The driver reaches goals and gives up the role before it looks at the count, with a
// full fence between. So either the follower sees that it need not sleep, or the driver sees the follower. It
// then signals the follower's condition variable under `mutex_`, which the follower holds from that last look
// until it sleeps. A thread that gives up the role wakes a follower to take it.
#include "transport/request_queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/biased_mutex.h"
#include "transport/base/fence.h"
#include "transport/base/mutex.h"
#include "transport/base/small_copy.h"
#include "transport/pending_calls.h"

namespace tf {
namespace {

constexpr std::size_t kPollBatch = 64;  // messages delivered before bulk gets its turn
// A post from inside the notices sink that finds the ring full looks again at least this often.
constexpr std::chrono::milliseconds kNestedWait(10);
// After a failure: how often to look whether a transfer that the kernel still holds has ended.
constexpr std::chrono::milliseconds kFailedTransferPause(1);

class Observed {
 public:
  Observed(WaitObserver* observer, Waiting what) : observer_(observer), what_(what) {
    if (observer_ != nullptr) observer_->wait_begins(what_);
  }
  ~Observed() {
    if (observer_ != nullptr) observer_->wait_ends(what_);
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  WaitObserver* observer_;
  Waiting what_;
};

void fill(const Slot& slot, const FrameHeader& header, std::span<const std::byte> head,
          std::span<const std::byte> tail) {
  std::byte* const target = slot.bytes.data();
  write_header(header, target);
  copy_small(target + kFrameHeaderBytes, head.data(), head.size());
  if (!tail.empty()) copy_small(target + kFrameHeaderBytes + head.size(), tail.data(), tail.size());
}

}  // namespace

struct RequestQueue::State final : MessageSink {
  State(Endpoint& endpoint, MessageSink& notices, WaitObserver* observer)
      : endpoint_(endpoint), notices_(notices), observer_(observer) {}

  // What a thread waits for: exactly one of the three.
  struct Goal {
    const PendingCall* call = nullptr;
    const BulkCompletion* transfer = nullptr;
    std::uint64_t round = 0;  // until a round other than this one has ended
  };
  struct Follower {
    const Goal& goal;
    CondVar wake;
  };

  struct Outgoing {
    FrameHeader header;
    bool fresh_id = true;
    std::span<const std::byte> head;
    std::span<const std::byte> tail;
    PendingCall* call = nullptr;  // null: nobody waits for an answer
  };

  bool send_at_once(Outgoing& message);
  Status enqueue(Outgoing& message);
  Status publish(Outgoing& message) TF_REQUIRES(producer_);
  void give_turn_back() TF_REQUIRES(producer_);
  Status wait_for_room(std::uint64_t seen_round);
  Status wait_for_room_as_driver();

  bool reached(const Goal& goal) const;
  bool is_driver() const { return driver_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  bool take_role();
  void give_role_back();
  void hand_over();
  Status drive_until(const Goal& goal, Deadline deadline);
  Status drive_or_follow(const Goal& goal, Deadline deadline, bool& followed);
  void follow(const Goal& goal, Deadline deadline);
  void lead(const Goal& goal, Deadline deadline);
  bool failed() const { return failed_.load(std::memory_order_acquire); }  // pairs with end_round()
  Status failure();

  // REQUIRES: this thread is the driver.
  void wait_to_move(Deadline deadline);
  void end_round(const Status& status, bool progress);
  void look_for_followers();
  void wake_followers() TF_REQUIRES(mutex_);
  Status move(bool& progress);
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;

  Endpoint& endpoint_;
  MessageSink& notices_;
  WaitObserver* const observer_;  // may be null

  BiasedMutex producer_;
  // All guarded by producer_. Of the threads whose reserve() was refused one has the turn to retry. Nobody
  // else reserves meanwhile (except the driver, inside the sink). So small messages do not overtake a large
  // one for ever, and no success makes the endpoint forget that somebody waits for room.
  std::uint32_t next_id_ TF_GUARDED_BY(producer_) = 1;
  bool turn_taken_ TF_GUARDED_BY(producer_) = false;
  std::condition_variable_any turn_free_;

  PendingCalls calls_;  // entered under producer_, completed by the driver

  std::atomic<bool> driving_{false};  // the role; taken with acquire, given back with release
  // Written by the driver only. Other threads compare it with their own id, and another thread's id never
  // matches.
  std::atomic<std::thread::id> driver_{};
  // Counts rounds in which anything moved or may have. Written by the driver, read before a reserve().
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<std::uint64_t> dropped_replies_{0};

  Mutex mutex_;
  Status failure_ TF_GUARDED_BY(mutex_);                    // sticky
  std::vector<Follower*> followers_ TF_GUARDED_BY(mutex_);  // asleep, in order of arrival
  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> follower_count_{0};  // sequentially consistent, see above
};

// --- Producing ------------------------------------------------------------------------------------------

// The fast path of enqueue(). False: it did nothing, and enqueue() finds out why.
bool RequestQueue::State::send_at_once(Outgoing& message) {
  const std::size_t bytes = message.head.size() + message.tail.size();
  if (message.head.size() > kMessageBytesMax || message.tail.size() > kMessageBytesMax) return false;
  message.header.payload_length = bytes;
  const MutexLock producer(producer_);
  if (turn_taken_) [[unlikely]]
    return false;
  const Slot slot = endpoint_.try_reserve(kFrameHeaderBytes + bytes);
  if (slot.bytes.empty()) [[unlikely]]
    return false;
  message.header.request_id = next_id_;
  if (message.call != nullptr && !calls_.enter(*message.call, message.header.request_id)) [[unlikely]] {
    endpoint_.abandon(slot);
    return false;
  }
  next_id_ = PendingCalls::after(message.header.request_id);
  fill(slot, message.header, message.head, message.tail);
  endpoint_.publish(slot);
  if (message.call != nullptr) producer_.end_burst();  // this thread waits now
  return true;
}

Status RequestQueue::State::enqueue(Outgoing& message) {
  const std::size_t bytes_max = endpoint_.capabilities().max_message_bytes - kFrameHeaderBytes;
  if (message.head.size() > bytes_max || message.tail.size() > bytes_max - message.head.size())
    return {Code::kInvalidArgument, "a payload of more than " + std::to_string(bytes_max) + " bytes"};
  message.header.payload_length = message.head.size() + message.tail.size();
  bool has_turn = false;
  for (;;) {
    std::uint64_t seen_round = 0;
    {
      const MutexLock producer(producer_);
      if (!has_turn && turn_taken_ && !is_driver())
        turn_free_.wait(producer_, [this]() TF_REQUIRES(producer_) { return !turn_taken_; });
      // Read before reserve(): if room appears after a refusal, a later round ends, and the wait sees it.
      seen_round = rounds_.load(std::memory_order_acquire);  // pairs with end_round()
      Status status = publish(message);
      if (status.code() != Code::kWouldBlock) {
        if (has_turn) give_turn_back();
        return status;
      }
      if (!turn_taken_) turn_taken_ = has_turn = true;
    }
    if (Status status = wait_for_room(seen_round); !status.is_ok()) {
      const MutexLock producer(producer_);
      if (has_turn) give_turn_back();
      return status;
    }
  }
}

Status RequestQueue::State::publish(Outgoing& message) {
  Result<Slot> slot = endpoint_.reserve(kFrameHeaderBytes + message.head.size() + message.tail.size());
  if (!slot) return slot.status();
  if (message.fresh_id) {
    message.header.request_id = next_id_;
    if (message.call != nullptr && !calls_.enter(*message.call, message.header.request_id)) {
      endpoint_.abandon(*slot);
      return {Code::kResourceExhausted, "kWaitersMax calls are already waiting"};
    }
    next_id_ = PendingCalls::after(message.header.request_id);
  }
  fill(*slot, message.header, message.head, message.tail);
  endpoint_.publish(*slot);
  if (message.call != nullptr) producer_.end_burst();
  return Status::ok();
}

void RequestQueue::State::give_turn_back() {
  turn_taken_ = false;
  turn_free_.notify_all();
}

// Limited only by the life of the connection: this layer cannot know how long the peer may be behind.
Status RequestQueue::State::wait_for_room(std::uint64_t seen_round) {
  const Observed observed(observer_, Waiting::kRoom);
  if (is_driver()) return wait_for_room_as_driver();
  return drive_until({.call = nullptr, .transfer = nullptr, .round = seen_round}, Deadline::never());
}

// The notices sink is posting: messages cannot be polled from within poll(), bulk can.
Status RequestQueue::State::wait_for_room_as_driver() {
  const Result<std::size_t> moved = endpoint_.bulk().move_payload();
  if (!moved) return moved.status();  // after a loss there is no need to post
  Status status = endpoint_.wait(Interest::kBulk, Deadline::after(kNestedWait));
  return status.code() == Code::kTimeout ? Status::ok() : status;
}

// --- Driving --------------------------------------------------------------------------------------------

bool RequestQueue::State::reached(const Goal& goal) const {
  if (goal.call != nullptr) return goal.call->done();
  if (goal.transfer != nullptr) return goal.transfer->done();
  return rounds_.load(std::memory_order_acquire) != goal.round;  // pairs with end_round()
}

Status RequestQueue::State::failure() {
  const MutexLock lock(mutex_);
  return failure_;
}

bool RequestQueue::State::take_role() {
  if (driving_.load(std::memory_order_relaxed) || driving_.exchange(true, std::memory_order_acquire))
    return false;
  driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return true;
}

// The exchange is the full fence between reaching goals and giving up the role, and the look for followers.
void RequestQueue::State::give_role_back() {
  driver_.store({}, std::memory_order_relaxed);
  driving_.exchange(false, std::memory_order_seq_cst);
  if (follower_count_.load(std::memory_order_seq_cst) == 0) return;
  const MutexLock lock(mutex_);
  wake_followers();
  if (!followers_.empty()) followers_.front()->wake.notify_one();
}

// A follower that was woken to take the role and finds its goal reached passes the wake-up on.
void RequestQueue::State::hand_over() {
  if (follower_count_.load(std::memory_order_seq_cst) == 0 || driving_.load(std::memory_order_seq_cst))
    return;
  const MutexLock lock(mutex_);
  if (!followers_.empty()) followers_.front()->wake.notify_one();
}

Status RequestQueue::State::drive_until(const Goal& goal, Deadline deadline) {
  bool followed = false;
  Status status = drive_or_follow(goal, deadline, followed);
  if (followed) hand_over();
  return status;
}

Status RequestQueue::State::drive_or_follow(const Goal& goal, Deadline deadline, bool& followed) {
  while (!reached(goal)) {
    if (is_driver()) return {Code::kInvalidArgument, "the notices sink must not wait on its own queue"};
    // A transfer is waited for even then: until it is done its memory may be in use.
    if (failed() && goal.transfer == nullptr) return failure();
    if (deadline.passed()) return {Code::kTimeout, "the deadline passed while waiting for the peer"};
    if (take_role()) {
      lead(goal, deadline);
    } else {
      followed = true;
      follow(goal, deadline);
    }
  }
  return Status::ok();
}

void RequestQueue::State::follow(const Goal& goal, Deadline deadline) {
  Follower self{.goal = goal, .wake = {}};
  const MutexLock lock(mutex_);
  followers_.push_back(&self);
  follower_count_.fetch_add(1, std::memory_order_seq_cst);
  const bool asleep = !reached(goal) && driving_.load(std::memory_order_seq_cst) &&
                      (failure_.is_ok() || goal.transfer != nullptr);
  if (asleep && deadline.is_never())
    self.wake.wait(mutex_);
  else if (asleep)
    self.wake.wait_for(mutex_, deadline.remaining());
  follower_count_.fetch_sub(1, std::memory_order_relaxed);  // too high a count only costs a look
  followers_.erase(std::find(followers_.begin(), followers_.end(), &self));
}

// REQUIRES: this thread has taken the role. Waits first; anything already there ends the wait at once. Looks
// for followers that a wake-up concerns (room) after it has delivered, so that a lone caller pays for no
// fence.
void RequestQueue::State::lead(const Goal& goal, Deadline deadline) {
  const auto is_over = [&] {
    return reached(goal) || deadline.passed() || (failed() && goal.transfer == nullptr);
  };
  while (!is_over()) {
    wait_to_move(deadline);
    bool progress = false;
    const Status status = move(progress);
    end_round(status, true);
    if (is_over()) break;
    look_for_followers();
  }
  give_role_back();
}

// REQUIRES: this thread is the driver.
void RequestQueue::State::wait_to_move(Deadline deadline) {
  // A transfer that the kernel still holds: the endpoint cannot be waited for any more.
  if (failed()) return std::this_thread::sleep_for(kFailedTransferPause);
  const Status status = endpoint_.wait(Interest::kBoth, deadline);
  if (!status.is_ok()) end_round(status, false);
}

void RequestQueue::State::end_round(const Status& status, bool progress) {
  const bool fine = status.is_ok() || status.code() == Code::kTimeout;
  if (!fine && !failed()) {
    const MutexLock lock(mutex_);
    failure_ = status;
    failed_.store(true, std::memory_order_release);  // pairs with failed()
  }
  if (progress)  // the driver is the only writer; pairs with the load in enqueue()
    rounds_.store(rounds_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void RequestQueue::State::look_for_followers() {
  full_fence();  // see the top of this file
  if (follower_count_.load(std::memory_order_seq_cst) == 0) return;
  const MutexLock lock(mutex_);
  wake_followers();
}

void RequestQueue::State::wake_followers() {
  for (Follower* follower : followers_)
    if (!failure_.is_ok() || reached(follower->goal)) follower->wake.notify_one();
}

Status RequestQueue::State::move(bool& progress) {
  const Result<std::size_t> delivered = endpoint_.poll(*this, kPollBatch);
  const Result<std::size_t> moved = endpoint_.bulk().move_payload();
  if (!delivered) return delivered.status();
  // A transport may see the bulk plane's loss first: messages still to be delivered come before the end.
  if (!moved) {
    if (Status status = endpoint_.status(); !status.is_ok()) return status;
  }
  progress = delivered.value() + (moved ? moved.value() : 0) > 0;
  return Status::ok();
}

Status RequestQueue::State::on_message(const FrameHeader& header, std::span<const std::byte> payload) {
  if (!header.has(kFlagResponse)) return notices_.on_message(header, payload);
  Status status;
  const bool awaited = calls_.complete(header.request_id, [&](PendingCall& call) {
    if (header.opcode != call.opcode) {
      status = call.status = {Code::kProtocol, "request " + std::to_string(header.request_id) +
                                                   " has opcode " + std::to_string(call.opcode) +
                                                   ", its reply " + std::to_string(header.opcode)};
    } else if (payload.size() > call.target.size()) {
      call.status = {Code::kProtocol, "a reply of " + std::to_string(payload.size()) +
                                          " bytes where at most " + std::to_string(call.target.size()) +
                                          " are expected"};
    } else {
      if (!payload.empty()) std::memcpy(call.target.data(), payload.data(), payload.size());
      call.reply = {.header = header, .bytes = payload.size()};
    }
  });
  if (awaited) return status;
  if (!calls_.forgive_late())
    return {Code::kProtocol, "an answer to request " + std::to_string(header.request_id) + " (opcode " +
                                 std::to_string(header.opcode) + "), which nobody asked for"};
  dropped_replies_.fetch_add(1, std::memory_order_relaxed);
  return status;
}

// --- The queue ------------------------------------------------------------------------------------------

RequestQueue::RequestQueue(Endpoint& endpoint, MessageSink& notices, WaitObserver* observer)
    : state_(std::make_unique<State>(endpoint, notices, observer)) {}

RequestQueue::~RequestQueue() = default;

Status RequestQueue::post(std::uint16_t opcode, std::uint32_t flags, std::span<const std::byte> head,
                          std::span<const std::byte> tail) {
  State::Outgoing message{.header = {.opcode = opcode, .flags = flags}, .head = head, .tail = tail};
  if (!state_->send_at_once(message)) [[unlikely]]
    TF_RETURN_IF_ERROR(state_->enqueue(message));
  if (state_->observer_ != nullptr) [[unlikely]]
    state_->observer_->sent(message.header.request_id);
  return Status::ok();
}

Result<Reply> RequestQueue::call(std::uint16_t opcode, std::uint32_t flags, std::span<const std::byte> head,
                                 std::span<const std::byte> tail, std::span<std::byte> reply,
                                 Deadline deadline) {
  PendingCall call;
  call.opcode = opcode;
  call.target = reply;
  State::Outgoing message{
      .header = {.opcode = opcode, .flags = flags}, .head = head, .tail = tail, .call = &call};
  const bool sent = state_->send_at_once(message);
  const Observed observed(state_->observer_, Waiting::kReply);  // what it does does not hold up the message
  if (!sent) TF_RETURN_IF_ERROR(state_->enqueue(message));
  if (state_->observer_ != nullptr) [[unlikely]]
    state_->observer_->sent(message.header.request_id);
  Status status = state_->drive_until({.call = &call}, deadline);
  if (!status.is_ok() && state_->calls_.give_up(call)) return status;
  if (!call.status.is_ok()) return call.status;
  return call.reply;
}

Status RequestQueue::respond(const FrameHeader& request, std::uint32_t flags, std::span<const std::byte> head,
                             std::span<const std::byte> tail) {
  State::Outgoing message{.header = {}, .fresh_id = false, .head = head, .tail = tail};
  message.header.opcode = request.opcode;
  message.header.request_id = request.request_id;
  message.header.flags = flags | kFlagResponse;
  return state_->enqueue(message);
}

Status RequestQueue::await(const BulkCompletion& completion, Deadline deadline) {
  if (completion.done()) return completion.status();
  const Observed observed(state_->observer_, Waiting::kTransfer);
  TF_RETURN_IF_ERROR(state_->drive_until({.transfer = &completion}, deadline));
  return completion.status();
}

Status RequestQueue::drive(Deadline deadline) {
  const std::uint64_t seen_round = state_->rounds_.load(std::memory_order_acquire);  // pairs with end_round()
  return state_->drive_until({.call = nullptr, .transfer = nullptr, .round = seen_round}, deadline);
}

Status RequestQueue::poll() {
  State& state = *state_;
  if (state.failed()) return state.failure();
  if (!state.take_role()) return Status::ok();
  bool progress = false;
  const Status status = state.move(progress);
  state.end_round(status, progress);
  state.give_role_back();
  return state.failed() ? state.failure() : Status::ok();
}

std::uint64_t RequestQueue::dropped_replies() const {
  return state_->dropped_replies_.load(std::memory_order_relaxed);  // a statistic
}

std::size_t RequestQueue::followers() const {
  return state_->follower_count_.load(std::memory_order_relaxed);  // a statistic
}

Endpoint& RequestQueue::endpoint() { return state_->endpoint_; }

}  // namespace tf
