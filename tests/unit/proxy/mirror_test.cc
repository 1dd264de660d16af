// SPDX-License-Identifier: Apache-2.0
// What of mirrored memory travels, in which direction, and when: with the kernel's account of written pages,
// and as on a system without it.
#include "proxy/copy/mirror.h"

#include <cstring>
#include <thread>

#include "tests/unit/proxy/mirror_fixture.h"

namespace tf::proxy {
namespace {

constexpr std::uint64_t kTouched = 1ull << 20;

// The floor: as many bytes travel as were touched, in both directions, however large the allocation is.
TEST_P(MirrorOf, AsMuchTravelsAsWasTouched) {
  const bool watched = GetParam() && mirror::WrittenPages().can_watch();
  const Piece memory = allocate(HostRange::Kind::kManaged, watched ? 1ull << 30 : 32ull << 20);
  const std::uint64_t quarter = memory.bytes / 4;
  bytes(memory)[0] = 1;
  launch();
  EXPECT_EQ(wait(), hipSuccess);
  Mirror& mirror = client_->mirror();
  // The first touch of a unit of huge pages makes all of it content.
  EXPECT_LE(mirror.bytes_sent(), watched ? protocol::kHostPartBytes : memory.bytes);
  for (std::uint64_t round = 1; round < 4; ++round) {
    const std::uint64_t sent = mirror.bytes_sent();
    const std::uint64_t fetched = mirror.bytes_fetched();
    const Piece touched{memory.address + round * quarter - 100, kTouched};
    std::memset(bytes(touched), 7, touched.bytes);
    launch();
    EXPECT_EQ(mirror.bytes_sent() - sent, kTouched + kPageBytes);
    worker_->change_host({memory.address + round * quarter / 16, kTouched}, std::byte{9});
    EXPECT_EQ(wait(), hipSuccess);
    EXPECT_EQ(mirror.bytes_fetched() - fetched, kTouched);
    EXPECT_EQ(bytes(memory)[round * quarter / 16 + kTouched - 1], 9);
  }
}

TEST_P(MirrorOf, ManagedMemoryIsLookedAtAfterAWaitOnly) {
  const Piece memory = allocate(HostRange::Kind::kManaged, 100 * kPageBytes);
  bytes(memory)[0] = 1;
  launch();
  EXPECT_FALSE(written().empty());
  bytes(memory)[0] = 2;  // against the rule
  launch();
  EXPECT_EQ(written(), none());
  EXPECT_EQ(wait(), hipSuccess);
  launch();
  EXPECT_EQ(written(), (std::vector{Piece{memory.address, kPageBytes}}));
}

TEST_P(MirrorOf, PinnedMemoryIsLookedAtBeforeEveryWork) {
  const Piece memory = allocate(HostRange::Kind::kPinned, 100 * kPageBytes, hipHostMallocMapped);
  launch();
  static_cast<void>(written());
  for (int round = 0; round < 3; ++round) {
    bytes(memory)[round * 2 * 4096] = 1;
    launch();
    EXPECT_EQ(written(), (std::vector{Piece{memory.address + round * 2 * kPageBytes, kPageBytes}}));
  }
  launch();
  EXPECT_EQ(written(), none());
}

// Buffers of copies stay here.
TEST_P(MirrorOf, PinnedMemorySleepsUntilAKernelGetsIt) {
  const Piece memory = allocate(HostRange::Kind::kPinned, 100 * kPageBytes);
  const Piece other = allocate(HostRange::Kind::kPinned, 100 * kPageBytes);
  std::memset(bytes(memory), 1, memory.bytes);
  std::memset(bytes(other), 1, other.bytes);
  launch({1, 2, 3});
  EXPECT_EQ(worker_->parts_opened, 0);
  EXPECT_FALSE(client_->mirror().any());
  launch({1, memory.address + 5000, 3});
  EXPECT_EQ(worker_->parts_opened, 1);
  EXPECT_EQ(written(), std::vector{memory});
  EXPECT_TRUE(client_->host_memory().reaches(memory.address, memory.bytes));
  EXPECT_FALSE(client_->host_memory().reaches(other.address, 1));
}

TEST_P(MirrorOf, NodesOfGraphsWakeItToo) {
  const Piece memory = allocate(HostRange::Kind::kPinned, 100 * kPageBytes);
  protocol::BuildFillNodeRequest request{};
  request.target = memory.address;
  EXPECT_EQ(client_->connection().post(0, request), hipSuccess);
  EXPECT_EQ(worker_->parts_opened, 1);
  EXPECT_EQ(written(), none()) << "only work has use for the bytes";
}

TEST_P(MirrorOf, RegisteredMemoryTravelsToItsOtherAddress) {
  std::vector<char> memory(300'000, 5);
  char* const data = memory.data() + 100;
  constexpr std::uint64_t kBytes = 250'000;
  ASSERT_EQ(client_->host_allocations().add(0, data, kBytes, 0), hipSuccess);
  const auto range = client_->host_memory().find(data);
  ASSERT_TRUE(range && range->other != 0);
  EXPECT_EQ(range->other % kPageBytes, to_raw(data) % kPageBytes);
  ASSERT_EQ(client_->host_allocations().wake(range->other), hipSuccess);
  launch();
  EXPECT_EQ(written(), (std::vector{Piece{range->other, kBytes}}));
  worker_->change_host({range->other + 70'000, 10}, std::byte{8});
  EXPECT_EQ(wait(), hipSuccess);
  EXPECT_EQ(data[69'999], 5);
  EXPECT_EQ(data[70'000], 8);
  EXPECT_EQ(data[70'009], 8);
  EXPECT_EQ(data[70'010], 5);
  launch();
  EXPECT_EQ(written(), none()) << "what came from there does not go back";
  EXPECT_EQ(client_->host_allocations().remove(data), hipSuccess);
  EXPECT_FALSE(client_->mirror().any());
}

TEST_P(MirrorOf, NothingSleepsIfItShallNot) {
  start(false);
  const Piece memory = allocate(HostRange::Kind::kPinned, kPageBytes, hipHostMallocMapped);
  launch({memory.address});
  EXPECT_EQ(worker_->parts_opened, 0);
  void* pointer = nullptr;
  EXPECT_EQ(client_->host_allocations().allocate(HostRange::Kind::kFineGrained, 0, 8, 1, pointer),
            hipErrorNotSupported);
}

// A wait asks again as long as a device was at work, and then no more.
TEST_P(MirrorOf, AsksUntilNothingIsAtWork) {
  static_cast<void>(allocate(HostRange::Kind::kManaged, kPageBytes));
  launch();
  worker_->idle = false;
  EXPECT_EQ(client_->waited(), hipSuccess);
  worker_->idle = true;
  int calls = worker_->calls;
  EXPECT_EQ(client_->waited(), hipSuccess);
  EXPECT_EQ(worker_->calls, calls + 1);
  calls = worker_->calls;
  EXPECT_EQ(client_->waited(), hipSuccess);
  EXPECT_EQ(worker_->calls, calls);
}

TEST_P(MirrorOf, APrefetchSendsItsPartAhead) {
  const Piece memory = allocate(HostRange::Kind::kManaged, 100 * kPageBytes);
  launch();
  static_cast<void>(written());
  ASSERT_EQ(wait(), hipSuccess);
  bytes(memory)[10 * 4096] = 1;
  bytes(memory)[50 * 4096] = 1;
  EXPECT_EQ(client_->mirror().prefetch(memory.address + 50 * kPageBytes, 1), hipSuccess);
  EXPECT_EQ(written(), (std::vector{Piece{memory.address + 50 * kPageBytes, kPageBytes}}));
  launch();
  EXPECT_EQ(written(), (std::vector{Piece{memory.address + 10 * kPageBytes, kPageBytes}}));
}

// Many pages that do not touch, and long runs, in both directions.
TEST_P(MirrorOf, ScatteredPagesAndLongRuns) {
  constexpr std::uint64_t kPages = 10'000;
  const Piece memory = allocate(HostRange::Kind::kManaged, kPages * kPageBytes);
  launch();
  static_cast<void>(written());
  ASSERT_EQ(wait(), hipSuccess);
  std::uint64_t touched = 0;
  for (std::uint64_t page = 0; page < kPages; page += page % 1000 == 0 ? 102 : 2, ++touched)
    std::memset(bytes(memory) + page * kPageBytes, 3, page % 1000 == 0 ? 100 * kPageBytes : 1);
  launch();
  const auto pieces = written();
  EXPECT_EQ(pieces.size(), touched);
  EXPECT_EQ(mirror::total(pieces) / kPageBytes, touched + kPages / 1000 * 99);
  for (std::uint64_t page = 0; page < kPages; page += 2)
    worker_->change_host({memory.address + page * kPageBytes, 1 + page % kPageBytes},
                         static_cast<std::byte>(page % 100 + 1));
  EXPECT_EQ(wait(), hipSuccess);
  EXPECT_EQ(bytes(memory)[4000 * 4096 + 4000], 1);
  EXPECT_EQ(bytes(memory)[4052 * 4096], 53);
}

TEST_P(MirrorOf, ChangesOfOtherMemoryEndTheSession) {
  const Piece memory = allocate(HostRange::Kind::kManaged, kPageBytes);
  launch();
  worker_->skew = 8;
  worker_->change_host(memory, std::byte{1});
  EXPECT_EQ(wait(), kLostError);
  EXPECT_EQ(bytes(memory)[0], 0);
}

TEST_P(MirrorOf, MoreChangesThanMemoryEndTheSession) {
  const Piece memory = allocate(HostRange::Kind::kManaged, kPageBytes);
  launch();
  worker_->change_host(memory, std::byte{1});
  worker_->change_host(memory, std::byte{1});
  EXPECT_EQ(wait(), kLostError);
}

TEST_P(MirrorOf, TwoThreadsLaunchAndWait) {
  const Piece memory = allocate(HostRange::Kind::kManaged, 64 * kPageBytes);
  const Piece pinned = allocate(HostRange::Kind::kPinned, 64 * kPageBytes);
  std::vector<std::thread> threads;
  for (int id = 0; id < 2; ++id) {
    threads.emplace_back([&, id] {
      for (int round = 0; round < 50; ++round) {
        bytes(pinned)[id * 32 * 4096] = static_cast<char>(round);
        launch({pinned.address});
        EXPECT_EQ(wait(), hipSuccess);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(worker_->parts_opened, 2);
  EXPECT_EQ(client_->waited(), hipSuccess);
  const int calls = worker_->calls;
  EXPECT_EQ(client_->waited(), hipSuccess);
  EXPECT_EQ(worker_->calls, calls) << "nothing is left to ask for";
  EXPECT_EQ(memory.bytes, 64 * kPageBytes);
}

INSTANTIATE_TEST_SUITE_P(Pages, MirrorOf, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Watched" : "Compared"; });

}  // namespace
}  // namespace tf::proxy
