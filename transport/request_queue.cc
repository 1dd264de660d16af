// SPDX-License-Identifier: Apache-2.0
// Two locks. `producer_` makes one message: reserve, fill, publish; it is never held across a wait.
// `mutex_` guards everything about waiting; it is never held while the endpoint is driven. Order: producer_,
// mutex_.
//
// One thread at a time is the driver (consumer and mover of the endpoint). A thread with a goal drives if
// nobody does, else sleeps on its own condition variable. Whoever stops driving with its goal reached wakes
// a follower, so that there is a driver as long as anybody waits; and every round ends with a look at all
// goals under `mutex_`, which is also held between a follower's look at its goal and its sleep.
#include "transport/request_queue.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tf {
namespace {

constexpr std::size_t kPollBatch = 64;  // messages delivered before bulk gets its turn
// A post from inside the notices sink that finds the ring full looks again at least this often.
constexpr std::chrono::milliseconds kNestedWait(10);
// After a failure: how often to look whether a transfer that the kernel still holds has ended.
constexpr std::chrono::milliseconds kFailedTransferPause(1);

struct Follower {
  std::condition_variable wake;
};

// A call on its way. Lives on the caller's stack, registered in calls_ from before its publish on.
struct PendingCall {
  std::uint16_t opcode = 0;
  std::span<std::byte> target;
  Reply reply;
  Status status;
  bool done = false;
  Follower* follower = nullptr;  // set while the caller sleeps
};

}  // namespace

struct RequestQueue::State final : MessageSink {
  State(Endpoint& endpoint, MessageSink& notices) : endpoint_(endpoint), notices_(notices) {}

  // What a thread waits for: exactly one of the three.
  struct Goal {
    PendingCall* call = nullptr;
    const BulkCompletion* transfer = nullptr;
    std::uint64_t round = 0;  // a round other than this one has ended
  };
  struct Waiting {
    Follower follower;
    const Goal& goal;
  };

  struct Outgoing {
    FrameHeader header;
    bool fresh_id = true;
    std::span<const std::byte> head;
    std::span<const std::byte> tail;
    PendingCall* call = nullptr;  // null: nobody waits for an answer
  };

  Status enqueue(Outgoing& message);
  Status publish(Outgoing& message);
  void give_turn_back();
  bool this_thread_drives();
  Status register_call(PendingCall& call, std::uint32_t& id);
  Status wait_for_room(std::uint64_t seen_round);
  Status wait_for_room_as_driver();

  // REQUIRES of all below: `lock` holds mutex_.
  bool reached(const Goal& goal) const;
  bool is_driver() const { return driving_ && driver_ == std::this_thread::get_id(); }
  Status drive_until(std::unique_lock<std::mutex>& lock, const Goal& goal, Deadline deadline);
  void follow(std::unique_lock<std::mutex>& lock, const Goal& goal, Deadline deadline);
  void lead(std::unique_lock<std::mutex>& lock, const Goal& goal, Deadline deadline);
  void end_round(const Status& status, bool progress);
  void hand_over();

  // REQUIRES: this thread is the driver and does not hold mutex_.
  Status move(bool& progress);
  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override;

  Endpoint& endpoint_;
  MessageSink& notices_;

  std::mutex producer_;
  // All guarded by producer_. Of the threads whose reserve() was refused one has the turn to retry; nobody
  // else reserves meanwhile (but the driver, from inside the sink), so no small message overtakes a large one
  // for ever, and no success makes the endpoint forget that somebody waits for room.
  std::uint32_t next_id_ = 1;
  bool turn_taken_ = false;
  std::condition_variable turn_free_;

  std::mutex mutex_;
  bool driving_ = false;
  std::thread::id driver_;  // meaningful while driving_
  Status failure_;          // sticky
  std::unordered_map<std::uint32_t, PendingCall*> calls_;
  std::vector<Waiting*> followers_;  // asleep, in order of arrival
  // Counts rounds in which anything moved or may have. Written under mutex_; read without it before a
  // reserve().
  std::atomic<std::uint64_t> rounds_{0};
  std::atomic<std::uint64_t> dropped_replies_{0};
};

// --- Producing ------------------------------------------------------------------------------------------

Status RequestQueue::State::enqueue(Outgoing& message) {
  const std::size_t bytes_max = endpoint_.capabilities().max_message_bytes - kFrameHeaderBytes;
  if (message.head.size() > bytes_max || message.tail.size() > bytes_max - message.head.size())
    return {Code::kInvalidArgument, "a payload of more than " + std::to_string(bytes_max) + " bytes"};
  message.header.payload_length = message.head.size() + message.tail.size();
  bool has_turn = false;
  for (;;) {
    std::uint64_t seen_round = 0;
    {
      std::unique_lock producer(producer_);
      if (!has_turn && turn_taken_ && !this_thread_drives())
        turn_free_.wait(producer, [this] { return !turn_taken_; });
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
      const std::lock_guard producer(producer_);
      if (has_turn) give_turn_back();
      return status;
    }
  }
}

// REQUIRES: producer_ is held.
Status RequestQueue::State::publish(Outgoing& message) {
  Result<Slot> slot = endpoint_.reserve(kFrameHeaderBytes + message.head.size() + message.tail.size());
  if (!slot) return slot.status();
  if (message.fresh_id) {
    message.header.request_id = next_id_;
    const Status status =
        message.call == nullptr ? Status::ok() : register_call(*message.call, message.header.request_id);
    if (!status.is_ok()) {
      endpoint_.abandon(*slot);
      return status;
    }
    next_id_ = message.header.request_id == UINT32_MAX ? 1 : message.header.request_id + 1;
  }
  std::byte* target = slot->bytes.data();
  write_header(message.header, target);
  target += kFrameHeaderBytes;
  if (!message.head.empty()) std::memcpy(target, message.head.data(), message.head.size());
  if (!message.tail.empty())
    std::memcpy(target + message.head.size(), message.tail.data(), message.tail.size());
  endpoint_.publish(*slot);
  return Status::ok();
}

// REQUIRES: producer_ is held.
void RequestQueue::State::give_turn_back() {
  turn_taken_ = false;
  turn_free_.notify_all();
}

bool RequestQueue::State::this_thread_drives() {
  const std::lock_guard lock(mutex_);
  return is_driver();
}

// Enters `call` under `id`, or under the next id that no waiting call has (ids wrap after 2^32 requests).
Status RequestQueue::State::register_call(PendingCall& call, std::uint32_t& id) {
  const std::lock_guard lock(mutex_);
  if (calls_.size() >= kWaitersMax)
    return {Code::kResourceExhausted, "kWaitersMax calls are already waiting"};
  while (calls_.contains(id)) id = id == UINT32_MAX ? 1 : id + 1;
  calls_.emplace(id, &call);
  return Status::ok();
}

// Bounded by the life of the connection only: how long the peer may be behind is not this layer's to know.
Status RequestQueue::State::wait_for_room(std::uint64_t seen_round) {
  std::unique_lock lock(mutex_);
  if (is_driver()) {
    lock.unlock();
    return wait_for_room_as_driver();
  }
  return drive_until(lock, {.call = nullptr, .transfer = nullptr, .round = seen_round}, Deadline::never());
}

// The notices sink is posting: messages cannot be polled from within poll(), bulk can.
Status RequestQueue::State::wait_for_room_as_driver() {
  const Result<std::size_t> moved = endpoint_.bulk().poll();
  if (!moved) return moved.status();  // whoever posts into a loss need not post
  Status status = endpoint_.wait(Interest::kBulk, Deadline::after(kNestedWait));
  return status.code() == Code::kTimeout ? Status::ok() : status;
}

// --- Driving --------------------------------------------------------------------------------------------

bool RequestQueue::State::reached(const Goal& goal) const {
  if (goal.call != nullptr) return goal.call->done;
  if (goal.transfer != nullptr) return goal.transfer->done();
  return rounds_.load(std::memory_order_relaxed) != goal.round;  // under mutex_, like its writers
}

Status RequestQueue::State::drive_until(std::unique_lock<std::mutex>& lock, const Goal& goal,
                                        Deadline deadline) {
  Status status;
  for (;;) {
    if (reached(goal)) break;
    if (is_driver()) {
      status = {Code::kInvalidArgument, "the notices sink must not wait on its own queue"};
      return status;
    }
    // A transfer is waited for even then: until it is done its memory may be in use.
    if (!failure_.is_ok() && goal.transfer == nullptr) {
      status = failure_;
      break;
    }
    if (deadline.passed()) {
      status = {Code::kTimeout, "the deadline passed while waiting for the peer"};
      break;
    }
    if (driving_)
      follow(lock, goal, deadline);
    else
      lead(lock, goal, deadline);
  }
  hand_over();
  return status;
}

void RequestQueue::State::follow(std::unique_lock<std::mutex>& lock, const Goal& goal, Deadline deadline) {
  Waiting waiting{.follower = {}, .goal = goal};
  followers_.push_back(&waiting);
  if (goal.call != nullptr) goal.call->follower = &waiting.follower;
  if (deadline.is_never())
    waiting.follower.wake.wait(lock);
  else
    waiting.follower.wake.wait_for(lock, deadline.remaining());
  if (goal.call != nullptr) goal.call->follower = nullptr;
  followers_.erase(std::find(followers_.begin(), followers_.end(), &waiting));
}

// One round as the driver: move what can be moved; if that was nothing and the goal is still open, sleep.
void RequestQueue::State::lead(std::unique_lock<std::mutex>& lock, const Goal& goal, Deadline deadline) {
  driving_ = true;
  driver_ = std::this_thread::get_id();
  lock.unlock();
  bool progress = false;
  Status status = move(progress);
  lock.lock();
  end_round(status, progress);
  if (!progress && !reached(goal)) {
    lock.unlock();
    if (status.is_ok())
      status = endpoint_.wait(Interest::kBoth, deadline);
    else
      std::this_thread::sleep_for(kFailedTransferPause);
    lock.lock();
    end_round(status, true);
  }
  driving_ = false;
}

void RequestQueue::State::end_round(const Status& status, bool progress) {
  const bool fine = status.is_ok() || status.code() == Code::kTimeout;
  if (!fine && failure_.is_ok()) failure_ = status;
  if (progress) rounds_.fetch_add(1, std::memory_order_release);  // pairs with the load in enqueue()
  for (Waiting* waiting : followers_)
    if (!failure_.is_ok() || reached(waiting->goal)) waiting->follower.wake.notify_one();
}

// Called by whoever leaves: if nobody drives now, the follower that came first shall.
void RequestQueue::State::hand_over() {
  if (!driving_ && !followers_.empty()) followers_.front()->follower.wake.notify_one();
}

Status RequestQueue::State::move(bool& progress) {
  const Result<std::size_t> delivered = endpoint_.poll(*this, kPollBatch);
  const Result<std::size_t> moved = endpoint_.bulk().poll();
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
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(header.request_id);
  if (found == calls_.end()) {
    // The answer to a call that timed out, or an invention of the peer; neither can harm.
    dropped_replies_.fetch_add(1, std::memory_order_relaxed);
    return Status::ok();
  }
  PendingCall& call = *found->second;
  if (header.opcode != call.opcode)
    return {Code::kProtocol, "request " + std::to_string(header.request_id) + " has opcode " +
                                 std::to_string(call.opcode) + ", its reply " +
                                 std::to_string(header.opcode)};
  if (payload.size() > call.target.size()) {
    call.status = {Code::kProtocol, "a reply of " + std::to_string(payload.size()) + " bytes where at most " +
                                        std::to_string(call.target.size()) + " are expected"};
  } else {
    if (!payload.empty()) std::memcpy(call.target.data(), payload.data(), payload.size());
    call.reply = {.header = header, .bytes = payload.size()};
  }
  call.done = true;
  calls_.erase(found);  // a second reply is dropped
  if (call.follower != nullptr) call.follower->wake.notify_one();
  return Status::ok();
}

// --- The queue ------------------------------------------------------------------------------------------

RequestQueue::RequestQueue(Endpoint& endpoint, MessageSink& notices)
    : state_(std::make_unique<State>(endpoint, notices)) {}

RequestQueue::~RequestQueue() = default;

Status RequestQueue::post(std::uint16_t opcode, std::uint32_t flags, std::span<const std::byte> head,
                          std::span<const std::byte> tail, std::uint32_t* request_id) {
  State::Outgoing message{.header = {.opcode = opcode, .flags = flags}, .head = head, .tail = tail};
  TF_RETURN_IF_ERROR(state_->enqueue(message));
  if (request_id != nullptr) *request_id = message.header.request_id;
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
  TF_RETURN_IF_ERROR(state_->enqueue(message));
  std::unique_lock lock(state_->mutex_);
  Status status = state_->drive_until(lock, {.call = &call}, deadline);
  if (!call.done) state_->calls_.erase(message.header.request_id);
  if (!status.is_ok()) return status;
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
  std::unique_lock lock(state_->mutex_);
  TF_RETURN_IF_ERROR(state_->drive_until(lock, {.transfer = &completion}, deadline));
  return completion.status();
}

Status RequestQueue::drive(Deadline deadline) {
  std::unique_lock lock(state_->mutex_);
  const std::uint64_t seen_round = state_->rounds_.load(std::memory_order_relaxed);  // under mutex_
  return state_->drive_until(lock, {.call = nullptr, .transfer = nullptr, .round = seen_round}, deadline);
}

Status RequestQueue::poll() {
  State& state = *state_;
  std::unique_lock lock(state.mutex_);
  if (!state.failure_.is_ok()) return state.failure_;
  if (state.driving_) return Status::ok();
  state.driving_ = true;
  state.driver_ = std::this_thread::get_id();
  lock.unlock();
  bool progress = false;
  const Status status = state.move(progress);
  lock.lock();
  state.driving_ = false;
  state.end_round(status, progress);
  state.hand_over();
  return state.failure_;
}

std::uint64_t RequestQueue::dropped_replies() const {
  return state_->dropped_replies_.load(std::memory_order_relaxed);  // a statistic
}

Endpoint& RequestQueue::endpoint() { return state_->endpoint_; }

}  // namespace tf
