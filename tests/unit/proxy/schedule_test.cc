// SPDX-License-Identifier: Apache-2.0
// How plans are cut: as few segments as possible, and waiting only where client memory is written and read.
#include "proxy/graphs/schedule.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace tf::proxy {
namespace {

// Which way a copy goes is told by its kind.
ItemPlace place_of(const graph::Work& work) {
  if (std::holds_alternative<graph::HostWork>(work)) return ItemPlace::kOnHost;
  if (std::holds_alternative<graph::EventWork>(work)) return ItemPlace::kEvent;
  if (std::holds_alternative<graph::BatchWork>(work)) return ItemPlace::kBatch;
  const auto* copy = std::get_if<graph::CopyWork>(&work);
  if (copy == nullptr || copy->kind == hipMemcpyDeviceToDevice) return ItemPlace::kDevice;
  return copy->kind == hipMemcpyHostToDevice ? ItemPlace::kToDevice : ItemPlace::kFromDevice;
}

class PlanBuilder {
 public:
  std::uint32_t add(graph::Work work, std::vector<std::uint32_t> before = {}) {
    plan.push_back({std::make_shared<const graph::Work>(std::move(work)), std::move(before)});
    return static_cast<std::uint32_t>(plan.size() - 1);
  }
  std::uint32_t device(std::vector<std::uint32_t> before = {}) {
    return add(graph::FillWork{}, std::move(before));
  }
  std::uint32_t copy(hipMemcpyKind kind, std::byte* memory, std::vector<std::uint32_t> before = {}) {
    graph::CopyWork work;
    work.kind = kind;
    (kind == hipMemcpyHostToDevice ? work.source : work.target) = {reinterpret_cast<std::uint64_t>(memory),
                                                                   16, 16};
    work.width = 16;
    return add(work, std::move(before));
  }
  std::vector<ItemPlace> places() const {
    std::vector<ItemPlace> all;
    for (const ScheduleStep& step : make_schedule(plan, place_of)) all.push_back(step.place);
    return all;
  }

  graph::Plan plan;
  std::byte host[64];
};

TEST(Schedule, DeviceWorkIsOneSegment) {
  PlanBuilder builder;
  const auto first = builder.device();
  const auto left = builder.device({first});
  const auto right = builder.device({first});
  builder.device({left, right});
  const Schedule schedule = make_schedule(builder.plan, place_of);
  ASSERT_EQ(schedule.size(), 1u);
  ASSERT_EQ(schedule[0].segment.size(), 4u);
  EXPECT_EQ(schedule[0].segment[3].dependencies, (std::vector<std::uint32_t>{1, 2}));
}

TEST(Schedule, CopiesComeBeforeAndAfter) {
  PlanBuilder builder;
  const auto start = builder.device();
  const auto in = builder.copy(hipMemcpyHostToDevice, builder.host);
  const auto more = builder.copy(hipMemcpyHostToDevice, builder.host);
  const auto out = builder.copy(hipMemcpyDeviceToHost, builder.host + 32, {start});
  builder.device({in, more, start});
  EXPECT_EQ(builder.places(), (std::vector{ItemPlace::kToDevice, ItemPlace::kToDevice, ItemPlace::kDevice,
                                           ItemPlace::kFromDevice}));
  builder.device({out});
  EXPECT_EQ(builder.places().size(), 5u);  // what follows a copy back is another segment
  const Schedule schedule = make_schedule(builder.plan, place_of);
  EXPECT_TRUE(schedule[4].segment[0].dependencies.empty());
}

TEST(Schedule, WaitsForWhatTheHostWrites) {
  PlanBuilder builder;
  const auto host = builder.add(graph::HostWork{});
  builder.copy(hipMemcpyHostToDevice, builder.host, {host});
  builder.copy(hipMemcpyHostToDevice, builder.host + 16, {host});
  const Schedule schedule = make_schedule(builder.plan, place_of);
  ASSERT_EQ(schedule.size(), 3u);
  EXPECT_TRUE(schedule[1].wait_first);
  EXPECT_FALSE(schedule[2].wait_first);  // all of it was waited for
  EXPECT_FALSE(schedule[1].wait_for_previous);
}

TEST(Schedule, WaitsForTheLaunchBefore) {
  PlanBuilder builder;
  const auto in = builder.copy(hipMemcpyHostToDevice, builder.host);
  const auto work = builder.device({in});
  builder.copy(hipMemcpyDeviceToHost, builder.host + 8, {work});  // overlaps with what is read
  Schedule schedule = make_schedule(builder.plan, place_of);
  EXPECT_FALSE(schedule[0].wait_first);
  EXPECT_TRUE(schedule[0].wait_for_previous);
  builder.plan.pop_back();
  builder.copy(hipMemcpyDeviceToHost, builder.host + 16, {work});
  schedule = make_schedule(builder.plan, place_of);
  EXPECT_FALSE(schedule[0].wait_for_previous);
}

TEST(Schedule, EventsAreSteps) {
  PlanBuilder builder;
  const auto first = builder.device();
  const auto record = builder.add(graph::EventWork{nullptr, true}, {first});
  builder.device({record});
  EXPECT_EQ(builder.places(), (std::vector{ItemPlace::kDevice, ItemPlace::kEvent, ItemPlace::kDevice}));
}

TEST(Schedule, BatchesComeLast) {
  PlanBuilder builder;
  builder.add(graph::BatchWork());
  builder.device();
  builder.add(graph::EventWork());
  EXPECT_EQ(builder.places(), (std::vector{ItemPlace::kDevice, ItemPlace::kEvent, ItemPlace::kBatch}));
}

TEST(Schedule, ACopyWaitsForAValueThatABatchWritesThereOnly) {
  for (const auto type : {hipStreamMemOpWriteValue32, hipStreamMemOpWaitValue32}) {
    for (const std::size_t offset : {12, 16}) {
      PlanBuilder builder;
      graph::BatchWork batch;
      batch.operations.emplace_back().operation = type;
      batch.operations[0].writeValue.address = builder.host + offset;
      const auto first = builder.add(batch);
      builder.copy(hipMemcpyHostToDevice, builder.host, {first});
      const Schedule schedule = make_schedule(builder.plan, place_of);
      ASSERT_EQ(schedule.size(), 2u);
      EXPECT_EQ(schedule[1].wait_first, type == hipStreamMemOpWriteValue32 && offset == 12);
    }
  }
}

}  // namespace
}  // namespace tf::proxy
