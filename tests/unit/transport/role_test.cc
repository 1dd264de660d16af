// SPDX-License-Identifier: Apache-2.0
// The driver's role: whoever leaves it while others wait leaves a driver behind.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "transport/base/mutex.h"
#include "transport/request_queue.h"

namespace tf {
namespace {

using std::chrono::seconds;

constexpr std::uint16_t kOpcode = 5;
constexpr seconds kRolePatience{5};  // of a call that nobody answers, and of the test

// Nothing is answered before the test says so, and what it gives out at once is polled at once.
class ScriptedEndpoint final : public Endpoint, private BulkPlane {
 public:
  std::string_view transport() const override { return "scripted"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Slot> reserve(std::size_t bytes) override {
    slot_.resize(bytes);
    return Slot{.bytes = slot_, .cookie = 0};
  }
  void publish(Slot) override {}
  void abandon(Slot) override {}
  BulkPlane& bulk() override { return *this; }
  void fail(Status) override {}
  Status status() const override { return Status::ok(); }

  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override {
    std::deque<std::uint32_t> answers;
    {
      const MutexLock lock(mutex_);
      answers.swap(answers_);
    }
    EXPECT_LE(answers.size(), limit);
    for (const std::uint32_t id : answers) {
      FrameHeader header;
      header.opcode = kOpcode;
      header.flags = kFlagResponse;
      header.request_id = id;
      TF_RETURN_IF_ERROR(sink.on_message(header, {}));
    }
    return answers.size();
  }

  Status wait(Interest, Deadline deadline) override {
    const MutexLock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    const bool answered = changed_.wait_until(mutex_, std::chrono::steady_clock::now() + deadline.remaining(),
                                              [this]() TF_REQUIRES(mutex_) { return !answers_.empty(); });
    --waiting_;
    return answered ? Status::ok() : Status{Code::kTimeout, "the deadline passed"};
  }

  // The next poll() finds answers to these requests.
  void answer(std::initializer_list<std::uint32_t> requests) {
    const MutexLock lock(mutex_);
    answers_.insert(answers_.end(), requests);
    changed_.notify_all();
  }

  // False: nobody came to wait() within the test's patience.
  bool await_driver() {
    const MutexLock lock(mutex_);
    return changed_.wait_until(mutex_, std::chrono::steady_clock::now() + kRolePatience,
                               [this]() TF_REQUIRES(mutex_) { return waiting_ != 0 && answers_.empty(); });
  }

 private:
  Status send(std::uint64_t, std::span<const std::byte>, BulkCompletion&) override { return would_block(); }
  Status receive(std::uint64_t, std::span<std::byte>, BulkCompletion&) override { return would_block(); }
  Status discard(std::uint64_t, std::uint64_t, BulkCompletion&) override { return would_block(); }
  Status abort(std::uint64_t, std::uint32_t) override { return would_block(); }
  Result<std::size_t> move_payload() override { return std::size_t{0}; }

  Capabilities capabilities_;
  std::vector<std::byte> slot_;  // the producer's
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::uint32_t> answers_ TF_GUARDED_BY(mutex_);
  int waiting_ TF_GUARDED_BY(mutex_) = 0;
};

class NoNotices final : public MessageSink {
 public:
  Status on_message(const FrameHeader&, std::span<const std::byte>) override { return Status::ok(); }
};

// A call on a thread of its own, with the deadline of the test.
class Caller {
 public:
  explicit Caller(RequestQueue& queue)
      : thread_([this, &queue] {
          status_ = queue.call(kOpcode, 0, {}, {}, {}, Deadline::after(kRolePatience)).status();
        }) {}
  Status finish() {
    thread_.join();
    return status_;
  }

 private:
  Status status_;
  std::thread thread_;  // last: it writes what is above
};

bool await_followers(const RequestQueue& queue, std::size_t count) {
  const Deadline deadline = Deadline::after(kRolePatience);
  while (queue.followers() != count && !deadline.passed()) std::this_thread::yield();
  return queue.followers() == count;
}

// The driver finds its own answer and that of the follower it then wakes to succeed it. That one has nothing
// to wait for either, and the next follower shall not sleep until its deadline.
TEST(DriversRole, ASuccessorThatNeedsNoRolePassesItOn) {
  ScriptedEndpoint endpoint;
  NoNotices notices;
  RequestQueue queue(endpoint, notices);
  Caller driver(queue);
  const bool drives = endpoint.await_driver();
  Caller successor(queue);
  const bool follows = await_followers(queue, 1);
  Caller last(queue);
  const bool last_follows = await_followers(queue, 2);
  endpoint.answer({1, 2});
  EXPECT_TRUE(driver.finish().is_ok());
  EXPECT_TRUE(successor.finish().is_ok());
  EXPECT_TRUE(drives && follows && last_follows);
  EXPECT_TRUE(endpoint.await_driver()) << "everybody sleeps";
  endpoint.answer({3});
  const Status status = last.finish();
  EXPECT_TRUE(status.is_ok()) << status.to_string();
}

}  // namespace
}  // namespace tf
