// SPDX-License-Identifier: Apache-2.0
// Payload from and to memory that no processor here may touch: registered by dma-buf, or not at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "rdma/regions.h"
#include "rdma/transport.h"
#include "tests/support/endpoint_pair.h"
#include "tests/support/far_memory.h"
#include "tests/support/peer.h"
#include "tests/support/verbs/fake_fabric.h"

namespace tf::rdma {
namespace {

using test::FarMemory;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMiB = std::size_t{1} << 20;

struct NoMessages final : MessageSink {
  Status on_message(const FrameHeader&, std::span<const std::byte>) override { return Status::ok(); }
};

class DeviceMemoryTest : public testing::Test {
 protected:
  void SetUp() override { open(true); }
  void TearDown() override {
    pair_ = {};
    if (fabric_ == nullptr) return;
    EXPECT_EQ(fabric_->violations(), std::vector<std::string>{});
    EXPECT_EQ(fabric_->live_objects(), 0u);
  }
  void open(bool dmabuf) {
    TearDown();
    std::vector<test::FakeDevice> devices{test::FakeDevice::make(0), test::FakeDevice::make(1)};
    for (test::FakeDevice& device : devices) device.dmabuf = dmabuf;
    fabric_ = std::make_unique<test::FakeFabric>(std::move(devices));
    transport_ = make_transport(*fabric_->verbs(), {});
    Result<net::Listener> listener = test::listen_tcp();
    ASSERT_TRUE(listener.is_ok());
    Result<test::EndpointPair> pair = test::connect_pair(*transport_, *listener);
    ASSERT_TRUE(pair.is_ok()) << pair.status().to_string();
    pair_ = std::move(pair.value());
  }

  BulkPlane& worker() { return pair_.server->bulk(); }
  BulkPlane& client() { return pair_.client->bulk(); }
  Status remember(BulkPlane& bulk, const FarMemory& memory) {
    return bulk.remember_device(memory.place(), memory.file(), 0);
  }

  // Drives both ends, or the worker's alone, whose consumer then meets the end, until `completion` is done.
  void drive(const BulkCompletion& completion) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(60));
    while (!completion.done() && !deadline.passed()) {
      NoMessages sink;
      if (pair_.client)
        (void)client().move_payload();
      else
        (void)pair_.server->poll(sink, 1);
      (void)worker().move_payload();
    }
    ASSERT_TRUE(completion.done());
  }
  void move(BulkPlane& from, std::span<const std::byte> source, BulkPlane& to, std::span<std::byte> target) {
    BulkCompletion sent, received;
    ++tag_;
    ASSERT_TRUE(to.receive(tag_, target, received).is_ok());
    ASSERT_TRUE(from.send(tag_, source, sent).is_ok());
    drive(sent);
    drive(received);
    ASSERT_TRUE(sent.status().is_ok()) << sent.status().to_string();
    ASSERT_TRUE(received.status().is_ok()) << received.status().to_string();
  }
  // Into the part of the worker's memory and back; `views` show what is at `place`.
  void there_and_back(std::span<std::byte> place, std::span<std::byte> view) {
    const std::vector<std::byte> source = test::pattern(place.size(), ++seed_);
    ASSERT_TRUE(worker().reaches(place));
    move(client(), source, worker(), place);
    ASSERT_EQ(test::find_mismatch(view, seed_), test::kNoMismatch);
    std::vector<std::byte> back(place.size());
    test::fill_pattern(view, ++seed_);
    move(worker(), place, client(), back);
    ASSERT_EQ(test::find_mismatch(back, seed_), test::kNoMismatch);
  }

  std::unique_ptr<test::FakeFabric> fabric_;
  std::unique_ptr<net::Transport> transport_;
  test::EndpointPair pair_;
  std::uint64_t tag_ = 0;
  std::uint64_t seed_ = 0;
};

TEST_F(DeviceMemoryTest, AnyPartOfItBothWays) {
  FarMemory memory(20 * kMiB);
  ASSERT_TRUE(remember(worker(), memory).is_ok());
  memory.close_file();  // the registration keeps what it needs
  const std::uint64_t registrations = fabric_->counters().registrations;
  std::size_t parts = 0;
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, kPage - 1, 3 * kMiB + 77})
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, kSlotBytes, kSlotBytes + 1}) {
      ASSERT_NO_FATAL_FAILURE(
          there_and_back(memory.place().subspan(offset, bytes), memory.view().subspan(offset, bytes)))
          << offset << ", " << bytes;
      ++parts;
    }
  // All of it, in several requests, to the last byte.
  ASSERT_NO_FATAL_FAILURE(there_and_back(memory.place(), memory.view()));
  ASSERT_NO_FATAL_FAILURE(there_and_back(memory.place().last(3), memory.view().last(3)));
  EXPECT_EQ(parts, 16u);
  // Of the client's own memory alone.
  EXPECT_LE(fabric_->counters().registrations - registrations, 2 * 2 * 20u + 16u);
  worker().forget(memory.place());
}

TEST_F(DeviceMemoryTest, OfTheClientsToo) {
  FarMemory here(kMiB), there(kMiB);
  ASSERT_TRUE(remember(client(), here).is_ok());
  ASSERT_TRUE(remember(worker(), there).is_ok());
  test::fill_pattern(here.view(), 5);
  move(client(), here.place(), worker(), there.place());
  EXPECT_EQ(test::find_mismatch(there.view(), 5), test::kNoMismatch);
  test::fill_pattern(there.view(), 6);
  move(worker(), there.place(), client(), here.place());
  EXPECT_EQ(test::find_mismatch(here.view(), 6), test::kNoMismatch);
}

TEST_F(DeviceMemoryTest, AcrossTwoThatStandSideBySide) {
  constexpr std::size_t kEach = kMiB;
  std::byte* const base = FarMemory::reserve(2 * kEach);
  {
    FarMemory low(kEach, base), high(kEach, base + kEach);
    ASSERT_TRUE(remember(worker(), high).is_ok());
    const std::span<std::byte> across(base + kEach - 700, 1400);
    EXPECT_FALSE(worker().reaches(across)) << "the first half is nobody's";
    ASSERT_TRUE(remember(worker(), low).is_ok());
    EXPECT_TRUE(worker().reaches({base, 2 * kEach}));
    EXPECT_FALSE(worker().reaches({base, 2 * kEach + 1}));
    const std::vector<std::byte> source = test::pattern(across.size(), 9);
    move(client(), source, worker(), across);
    EXPECT_TRUE(std::equal(source.begin(), source.begin() + 700, low.view().end() - 700));
    EXPECT_TRUE(std::equal(source.begin() + 700, source.end(), high.view().begin()));
    std::vector<std::byte> back(across.size());
    move(worker(), across, client(), back);
    EXPECT_EQ(back, source);
    // One goes, the other stays.
    worker().forget(low.place());
    EXPECT_FALSE(worker().reaches(across));
    ASSERT_NO_FATAL_FAILURE(there_and_back(high.place(), high.view()));
  }
  ::munmap(base, 2 * kEach);
}

// Memory of the host that runs into the device's: whatever way the first part takes, it ends there.
TEST_F(DeviceMemoryTest, BehindMemoryOfTheHosts) {
  for (const std::size_t host : {2 * kPage, 2 * kMiB}) {
    std::byte* const base = FarMemory::reserve(host + kMiB);
    ASSERT_EQ(::mprotect(base, host, PROT_READ | PROT_WRITE), 0);
    {
      FarMemory memory(kMiB, base + host);
      ASSERT_TRUE(remember(worker(), memory).is_ok());
      const std::span<std::byte> across(base + 5, host + 10'000);
      EXPECT_FALSE(worker().reaches(across));
      const std::vector<std::byte> source = test::pattern(across.size(), 3);
      move(client(), source, worker(), across);
      EXPECT_TRUE(
          std::equal(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(host) - 5, base + 5));
      EXPECT_TRUE(std::equal(source.begin() + static_cast<std::ptrdiff_t>(host) - 5, source.end(),
                             memory.view().begin()));
      std::vector<std::byte> back(across.size());
      move(worker(), across, client(), back);
      EXPECT_EQ(back, source);
      worker().forget(memory.place());
    }
    ::munmap(base, host + kMiB);
  }
}

TEST_F(DeviceMemoryTest, ForgettingEndsTheRegistration) {
  const std::size_t before = fabric_->registered_bytes();
  const std::size_t objects = fabric_->live_objects();
  FarMemory memory(kMiB);
  ASSERT_TRUE(remember(worker(), memory).is_ok());
  EXPECT_EQ(fabric_->registered_bytes(), before + kMiB);
  EXPECT_TRUE(worker().reaches(memory.place().subspan(1, 5)));
  EXPECT_FALSE(client().reaches(memory.place()));
  worker().forget(memory.place());
  EXPECT_EQ(fabric_->registered_bytes(), before);
  EXPECT_EQ(fabric_->live_objects(), objects);
  EXPECT_FALSE(worker().reaches(memory.place().subspan(1, 5)));
  // And again, at the same place.
  ASSERT_TRUE(remember(worker(), memory).is_ok());
  ASSERT_NO_FATAL_FAILURE(there_and_back(memory.place(), memory.view()));
}

TEST_F(DeviceMemoryTest, WhereTheDeviceCannot) {
  open(false);
  FarMemory memory(kMiB);
  const Status refused = remember(worker(), memory);
  EXPECT_EQ(refused.code(), Code::kUnsupported) << refused.to_string();
  EXPECT_FALSE(worker().reaches(memory.place()));
  // What is the host's goes on.
  const std::vector<std::byte> source = test::pattern(kMiB, 1);
  std::vector<std::byte> target(kMiB);
  move(client(), source, worker(), target);
  EXPECT_EQ(target, source);
}

TEST_F(DeviceMemoryTest, WhatMayNotBeRegistered) {
  FarMemory memory(4 * kPage);
  fabric_->refuse_reg_mr(ENOMEM);
  const Status refused = remember(worker(), memory);
  EXPECT_FALSE(refused.is_ok());
  EXPECT_NE(refused.message().find("16384 bytes"), std::string::npos) << refused.message();
  const auto code = [&](std::span<std::byte> span, int file, std::uint64_t offset) {
    return worker().remember_device(span, file, offset).code();
  };
  const std::span<std::byte> place = memory.place();
  EXPECT_EQ(code(place.subspan(1, kPage), memory.file(), 0), Code::kInvalidArgument);
  EXPECT_EQ(code(place.first(100), memory.file(), 0), Code::kInvalidArgument);
  EXPECT_EQ(code(place.first(kPage), memory.file(), 7), Code::kInvalidArgument);
  EXPECT_EQ(code(place.first(0), memory.file(), 0), Code::kInvalidArgument);
  EXPECT_NE(code(place, -1, 0), Code::kOk) << "no file";
  EXPECT_FALSE(worker().reaches(place));
  // Part of it, at its place in the file; nothing else is to lie over that.
  ASSERT_EQ(code(place.subspan(kPage, 2 * kPage), memory.file(), kPage), Code::kOk);
  EXPECT_EQ(code(place, memory.file(), 0), Code::kInvalidArgument);
  EXPECT_EQ(code(place.subspan(2 * kPage, kPage), memory.file(), 2 * kPage), Code::kInvalidArgument);
  worker().remember(place);  // not as the host's either
  ASSERT_NO_FATAL_FAILURE(there_and_back(place.subspan(kPage + 1, 2 * kPage - 1),
                                         memory.view().subspan(kPage + 1, 2 * kPage - 1)));
}

TEST_F(DeviceMemoryTest, NoMoreThanCanBeKept) {
  std::byte* const base = FarMemory::reserve((kRememberedMax + 1) * kPage);
  FarMemory memory(kPage);
  for (std::size_t index = 0; index < kRememberedMax; ++index)
    ASSERT_TRUE(worker().remember_device({base + index * kPage, kPage}, memory.file(), 0).is_ok()) << index;
  EXPECT_EQ(worker().remember_device({base + kRememberedMax * kPage, kPage}, memory.file(), 0).code(),
            Code::kResourceExhausted);
  EXPECT_TRUE(worker().reaches({base, kRememberedMax * kPage}));
  for (std::size_t index = 0; index < kRememberedMax; ++index) worker().forget({base + index * kPage, kPage});
  EXPECT_FALSE(worker().reaches({base, kPage}));
  ::munmap(base, (kRememberedMax + 1) * kPage);
}

// --- The end ----------------------------------------------------------------------------------------------

// However the peer goes while the device reads or writes: a completion tells when the memory may go.
class DeviceMemoryLoss : public DeviceMemoryTest, public testing::WithParamInterface<bool> {
 protected:
  // A transfer of `memory` that the device has begun.
  void begin(FarMemory& memory, std::span<std::byte> peers) {
    ASSERT_TRUE(remember(worker(), memory).is_ok());
    fabric_->set_execution_delay(std::chrono::milliseconds(2));
    ASSERT_TRUE(
        (GetParam() ? client().send(1, peers, theirs_) : client().receive(1, peers, theirs_)).is_ok());
    ASSERT_TRUE(
        (GetParam() ? worker().receive(1, memory.place(), ours_) : worker().send(1, memory.place(), ours_))
            .is_ok());
    const std::uint64_t before = moved();
    const Deadline deadline = Deadline::after(std::chrono::seconds(20));
    while (moved() == before && !ours_.done() && !deadline.passed()) {
      (void)client().move_payload();
      (void)worker().move_payload();
    }
    ASSERT_FALSE(ours_.done());
  }
  std::uint64_t moved() const {
    const test::FakeCounters counters = fabric_->counters();
    return GetParam() ? counters.bytes_read : counters.bytes_written;
  }
  void end(FarMemory& memory) {
    drive(ours_);
    EXPECT_EQ(ours_.status().code(), Code::kPeerLost) << ours_.status().to_string();
    worker().forget(memory.place());  // a violation while the device has it
    const std::vector<std::byte> then(memory.view().begin(), memory.view().end());
    (void)fabric_->wait_idle(std::chrono::milliseconds(100));
    EXPECT_TRUE(std::equal(then.begin(), then.end(), memory.view().begin())) << "written behind our back";
  }

  BulkCompletion ours_, theirs_;
};

TEST_P(DeviceMemoryLoss, ThePeerCloses) {
  FarMemory memory(32 * kMiB);
  std::vector<std::byte> peers = test::pattern(32 * kMiB, 2);
  begin(memory, peers);
  // Closing waits for what the peer still takes.
  std::thread closing([client = std::move(pair_.client)]() mutable { client.reset(); });
  end(memory);
  closing.join();
}

TEST_P(DeviceMemoryLoss, TheLinkIsCut) {
  FarMemory memory(32 * kMiB);
  std::vector<std::byte> peers = test::pattern(32 * kMiB, 2);
  begin(memory, peers);
  // Both ends of the loopback are on the first device.
  fabric_->cut_link("fake0", "fake0");
  end(memory);
  pair_.client->fail({Code::kClosed, "over"});
}

// The endpoint ends first, the memory after it.
TEST_P(DeviceMemoryLoss, TheEndpointGoesWithATransferUnderWay) {
  FarMemory memory(32 * kMiB);
  std::vector<std::byte> peers = test::pattern(32 * kMiB, 2);
  begin(memory, peers);
  pair_.server.reset();
  ASSERT_TRUE(ours_.done());
  EXPECT_FALSE(ours_.status().is_ok());
}

INSTANTIATE_TEST_SUITE_P(Ways, DeviceMemoryLoss, testing::Bool(),
                         [](const auto& way) { return way.param ? "Written" : "Read"; });

}  // namespace
}  // namespace tf::rdma
