// SPDX-License-Identifier: Apache-2.0
// Two connected planes over FakeFabric, and what tests of streams do with their ends.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rdma/plane.h"
#include "tests/support/peer.h"
#include "tests/support/verbs/fake_fabric.h"

namespace tf::rdma {

// A device that is open.
class Opened {
 public:
  Opened(const Verbs& verbs, int device) : verbs_(verbs) {
    ibv_device** const list = verbs.get_device_list(nullptr);
    context = verbs.open_device(list[device]);
    verbs.free_device_list(list);
    pd = verbs.alloc_pd(context);
    ibv_gid_entry entry{};
    EXPECT_EQ(verbs.query_gid_ex(context, 1, 2, &entry), 0);
    gid = entry.gid;
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    EXPECT_EQ(verbs_.dealloc_pd(pd), 0);
    EXPECT_EQ(verbs_.close_device(context), 0);
  }

  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_gid gid{};

 private:
  const Verbs& verbs_;
};

inline Route route_to(const Opened& peer) {
  Route route;
  route.gid_index = 2;
  route.peer_gid = peer.gid;
  route.reads_in = route.reads_out = 4;
  return route;
}

struct PlanePair {
  static constexpr unsigned kInline = 224;  // bytes, where a test does not say otherwise

  PlanePair(test::FakeFabric& fabric, std::size_t ring_bytes, unsigned inline_bytes = kInline)
      : left_device(*fabric.verbs(), 0), right_device(*fabric.verbs(), 1) {
    left = open(*fabric.verbs(), left_device, ring_bytes, inline_bytes);
    right = open(*fabric.verbs(), right_device, ring_bytes, inline_bytes);
    EXPECT_TRUE(left->connect(route_to(right_device), right->facts()).is_ok());
    EXPECT_TRUE(right->connect(route_to(left_device), left->facts()).is_ok());
  }

  static std::unique_ptr<Plane> open(const Verbs& verbs, const Opened& device, std::size_t ring_bytes,
                                     unsigned inline_bytes = kInline) {
    Result<std::unique_ptr<Plane>> made = Plane::create(
        verbs,
        {.context = device.context, .pd = device.pd, .inline_bytes = inline_bytes, .ring_bytes = ring_bytes});
    EXPECT_TRUE(made.is_ok()) << made.status().to_string();
    return std::move(made.value());
  }

  Opened left_device, right_device;
  std::unique_ptr<Plane> left, right;
};

// One attempt to publish; kWouldBlock: no room.
inline Status try_send(Producer& producer, std::uint32_t id, std::size_t payload) {
  std::span<std::byte> slot = producer.reserve(kFrameHeaderBytes + payload);
  if (slot.empty()) {
    Result<std::span<std::byte>> slow = producer.reserve_slowly(kFrameHeaderBytes + payload);
    if (!slow) return slow.status();
    if (slow->empty()) return would_block();
    slot = *slow;
  }
  write_header({.opcode = 1, .request_id = id, .payload_length = payload}, slot.data());
  test::fill_pattern(slot.subspan(kFrameHeaderBytes), id);
  return producer.publish();
}

// What an endpoint does with a plane's consumer: takes completions, hands over, tells. The ids of what came.
inline Status receive(Plane& plane, std::vector<std::uint32_t>& ids, std::size_t limit = SIZE_MAX) {
  TF_RETURN_IF_ERROR(plane.consumer().poll());
  if (const auto told = plane.consumer().take_told()) TF_RETURN_IF_ERROR(plane.producer().note_told(*told));
  for (std::size_t count = 0; count < limit; ++count) {
    Status failure;
    const Record* const record = plane.consumer().peek(65536 - kFrameHeaderBytes, failure);
    TF_RETURN_IF_ERROR(failure);
    if (record == nullptr) break;
    const std::uint32_t id = record->header.request_id;
    EXPECT_EQ(test::find_mismatch(record->payload, id), test::kNoMismatch) << "record " << id;
    ids.push_back(id);
    plane.consumer().consume();
  }
  if (const auto told = plane.consumer().take_told()) TF_RETURN_IF_ERROR(plane.producer().note_told(*told));
  return plane.consumer().advance();
}

class StreamTest : public testing::Test {
 protected:
  void TearDown() override {
    pair.reset();
    EXPECT_EQ(fabric.violations(), std::vector<std::string>{});
    EXPECT_EQ(fabric.counters().rnr, 0u);
    EXPECT_EQ(fabric.live_objects(), 0u);
  }
  void open(std::size_t ring_bytes = kMessageRingBytes, unsigned inline_bytes = PlanePair::kInline) {
    pair = std::make_unique<PlanePair>(fabric, ring_bytes, inline_bytes);
  }
  // Until `count` records are in `ids`.
  void receive_all(Plane& plane, std::vector<std::uint32_t>& ids, std::size_t count) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (ids.size() < count && !deadline.passed()) {
      const Status status = receive(plane, ids);
      ASSERT_TRUE(status.is_ok()) << status.to_string();
    }
    ASSERT_EQ(ids.size(), count);
    for (std::size_t index = 0; index < count; ++index) ASSERT_EQ(ids[index], index + 1);
  }

  test::FakeFabric fabric;
  std::unique_ptr<PlanePair> pair;
};

inline std::uint64_t executed(const test::FakeCounters& counters, ibv_wr_opcode opcode) {
  return counters.executed[opcode];
}

}  // namespace tf::rdma
