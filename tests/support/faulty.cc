// SPDX-License-Identifier: Apache-2.0
#include "tests/support/faulty.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace tf::test {
namespace {

constexpr std::chrono::milliseconds kLook{1};
constexpr std::size_t kLanesOfRoles = 2;  // messages and bulk, which the endpoint's users move

class Faulty final : public Endpoint, private BulkPlane {
 public:
  Faulty(std::unique_ptr<Endpoint> inner, Faults faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}

  std::string_view transport() const override { return inner_->transport(); }
  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  Result<Slot> reserve(std::size_t bytes) override { return inner_->reserve(bytes); }

  void publish(Slot slot) override {
    delay();
    const std::size_t bytes = slot.bytes.size();
    if (message_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes >
        faults_.cut_after_message_bytes) {
      inner_->abandon(slot);
      cut();
      return;
    }
    inner_->publish(slot);
  }
  void abandon(Slot slot) override { inner_->abandon(slot); }

  Result<std::size_t> poll(MessageSink& sink, std::size_t limit) override {
    Result<std::size_t> delivered = inner_->poll(sink, limit);
    if (delivered && *delivered > 0) delay();
    return delivered;
  }
  BulkPlane& bulk() override { return *this; }
  // Where the transport's own threads move payload, only a look from time to time finds how much it was.
  Status wait(Interest interest, Deadline deadline) override {
    if (faults_.cut_after_bulk_bytes == Faults{}.cut_after_bulk_bytes)
      return inner_->wait(interest, deadline);
    return inner_->wait(interest, deadline.sooner(Deadline::after(kLook)));
  }
  LaneTraffics lane_traffic() const override { return inner_->lane_traffic(); }
  void fail(Status reason) override { inner_->fail(std::move(reason)); }
  Status status() const override { return inner_->status(); }

 private:
  bool fills_in_order() const override { return inner_->bulk().fills_in_order(); }
  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) override {
    return inner_->bulk().send(tag, source, completion);
  }
  Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) override {
    return inner_->bulk().receive(tag, target, completion);
  }
  Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) override {
    return inner_->bulk().discard(tag, bytes, completion);
  }
  Status abort(std::uint64_t tag, std::uint32_t reason) override { return inner_->bulk().abort(tag, reason); }
  Result<std::size_t> move_payload() override {
    Result<std::size_t> moved = inner_->bulk().move_payload();
    if (!moved) return moved;
    const std::uint64_t total = bulk_bytes_.fetch_add(*moved, std::memory_order_relaxed) + *moved;
    if ((*moved > 0 && total > faults_.cut_after_bulk_bytes) ||
        moved_by_threads() > faults_.cut_after_bulk_bytes) {
      cut();
      return inner_->status();
    }
    return moved;
  }

  // Bytes of the lanes that have threads of their own.
  std::uint64_t moved_by_threads() const {
    const LaneTraffics traffics = inner_->lane_traffic();
    std::uint64_t bytes = 0;
    for (std::size_t lane = kLanesOfRoles; lane < traffics.count; ++lane)
      bytes += traffics.lanes[lane].sent + traffics.lanes[lane].received;
    return bytes;
  }

  void cut() {
    std::call_once(cut_once_, [this] {
      if (faults_.at_cut) faults_.at_cut();
      inner_->fail({Code::kPeerLost, "cut by the test"});
    });
  }

  void delay() {
    if (faults_.delay_max.count() == 0) return;
    // A step of a linear congruential generator; its quality does not matter.
    const std::uint32_t next = random_.load(std::memory_order_relaxed) * 1664525u + 1013904223u;
    random_.store(next, std::memory_order_relaxed);
    std::this_thread::sleep_for(faults_.delay_max * (next >> 24) / 256);
  }

  const std::unique_ptr<Endpoint> inner_;
  const Faults faults_;
  std::once_flag cut_once_;
  // Counters of one role each, atomic only because roles are different threads.
  std::atomic<std::uint64_t> message_bytes_{0};
  std::atomic<std::uint64_t> bulk_bytes_{0};
  std::atomic<std::uint32_t> random_{1};
};

}  // namespace

std::unique_ptr<Endpoint> make_faulty(std::unique_ptr<Endpoint> inner, Faults faults) {
  return std::make_unique<Faulty>(std::move(inner), std::move(faults));
}

}  // namespace tf::test
