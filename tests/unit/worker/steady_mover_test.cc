// SPDX-License-Identifier: Apache-2.0
// A transport whose payload is best moved by one thread that stays on its processor.
#include <sched.h>

#include <functional>
#include <set>
#include <thread>

#include "tests/unit/worker/session_rig.h"
#include "transport/base/mutex.h"

namespace tf::worker {
namespace {

// A bulk plane that notes who moves it, and on how many processors these may run.
class WatchedBulk final : public BulkPlane {
 public:
  explicit WatchedBulk(BulkPlane& plane) : plane_(plane) {}
  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) override {
    return plane_.send(tag, source, completion);
  }
  Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) override {
    return plane_.receive(tag, target, completion);
  }
  Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) override {
    return plane_.discard(tag, bytes, completion);
  }
  Status abort(std::uint64_t tag, std::uint32_t reason) override { return plane_.abort(tag, reason); }
  Result<std::size_t> move_payload() override {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    EXPECT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    {
      const MutexLock lock(mutex_);
      movers_.insert(std::this_thread::get_id());
      places_.insert(CPU_COUNT(&allowed));
    }
    return plane_.move_payload();
  }
  std::size_t movers() const {
    const MutexLock lock(mutex_);
    return movers_.size();
  }
  std::set<int> places() const {
    const MutexLock lock(mutex_);
    return places_;
  }

 private:
  BulkPlane& plane_;
  mutable Mutex mutex_;
  std::set<std::thread::id> movers_ TF_GUARDED_BY(mutex_);
  std::set<int> places_ TF_GUARDED_BY(mutex_);
};

class WatchedEndpoint final : public Endpoint {
 public:
  WatchedEndpoint(std::unique_ptr<Endpoint> end, bool steady)
      : end_(std::move(end)), capabilities_(end_->capabilities()), bulk_(end_->bulk()) {
    capabilities_.steady_mover = steady;
  }
  std::string_view transport() const override { return end_->transport(); }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Slot> reserve(std::size_t bytes) override { return end_->reserve(bytes); }
  void publish(Slot slot) override { end_->publish(slot); }
  void abandon(Slot slot) override { end_->abandon(slot); }
  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override { return end_->poll(sink, limit); }
  WatchedBulk& bulk() override { return bulk_; }
  Status wait(Interest interest, Deadline deadline) override { return end_->wait(interest, deadline); }
  void fail(Status reason) override { end_->fail(std::move(reason)); }
  Status status() const override { return end_->status(); }

 private:
  std::unique_ptr<Endpoint> end_;
  Capabilities capabilities_;
  WatchedBulk bulk_;
};

// A copy whose payload comes only after `patience`, or when a second thread has moved, so that the executor
// waits for it. `look` is called when nobody moves any more.
void copy_late(bool steady, std::chrono::milliseconds patience,
               const std::function<void(WatchedBulk&)>& look) {
  SessionRig::Ends ends = make_loopback_pair();
  auto watched = std::make_unique<WatchedEndpoint>(std::move(ends.second), steady);
  WatchedBulk& bulk = watched->bulk();
  SessionRig rig(kFakeRuntime, {std::move(ends.first), std::move(watched)});
  rig.start();
  const std::vector<std::byte> data(1 << 20, std::byte{7});
  protocol::CopyToDeviceRequest request{};
  request.target = rig.lease(data.size());
  request.bytes = data.size();
  request.tag = 1;
  rig.post(request);
  const Deadline deadline = Deadline::after(patience);
  while (bulk.movers() < 2 && !deadline.passed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  BulkCompletion sent;
  EXPECT_TRUE(rig.bulk().send(1, data, sent).is_ok());
  EXPECT_TRUE(rig.await(sent).is_ok());
  EXPECT_EQ(rig.synchronize(0), hipSuccess);
  static_cast<void>(rig.stop());
  look(bulk);
}

TEST(SteadyMoverTest, OneThreadStaysWhereItIs) {
  copy_late(true, std::chrono::milliseconds(100), [](WatchedBulk& bulk) {
    EXPECT_EQ(bulk.movers(), 1u);
    EXPECT_EQ(bulk.places(), std::set<int>{1});
  });
}

TEST(SteadyMoverTest, ElsewhereWhoWaitsMovesToo) {
  copy_late(false, std::chrono::seconds(20), [](WatchedBulk& bulk) { EXPECT_GT(bulk.movers(), 1u); });
}

}  // namespace
}  // namespace tf::worker
