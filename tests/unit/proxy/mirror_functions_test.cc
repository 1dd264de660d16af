// SPDX-License-Identifier: Apache-2.0
// Mirrored memory and host functions: what travels before and behind a function, and that none of it is a
// request, behind which the function could wait for itself.
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "proxy/copy/mirror.h"
#include "tests/unit/proxy/mirror_fixture.h"

namespace tf::proxy {
namespace {

using namespace std::chrono_literals;
using What = mirror::Order::What;

class MirrorFunctions : public MirrorOf {
 protected:
  void on_host(std::function<void()> call) {
    EXPECT_EQ(client_->callbacks().add(0, 0, [call](hipError_t) { call(); }), hipSuccess);
  }
  void await_functions() {
    for (int i = 0; i < 5000 && client_->callbacks().any(); ++i) std::this_thread::sleep_for(1ms);
    EXPECT_FALSE(client_->callbacks().any());
    EXPECT_EQ(wait(), hipSuccess);
  }
};

TEST_P(MirrorFunctions, AFunctionSeesAndIsSeen) {
  const Piece memory = allocate(HostRange::Kind::kManaged, 100 * kPageBytes);
  launch();
  static_cast<void>(written());
  char seen = 0;
  worker_->change_host({memory.address + kPageBytes, 16}, std::byte{9});
  on_host([&] {
    seen = bytes(memory)[kPageBytes];
    bytes(memory)[7 * kPageBytes] = 1;
  });
  await_functions();
  EXPECT_EQ(seen, 9);
  const auto all = worker_->ordered();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].order.what, What::kFind);
  EXPECT_EQ(all[1].order.what, What::kWrite);
  EXPECT_EQ(all[1].pieces, (std::vector{Piece{memory.address + 7 * kPageBytes, kPageBytes}}));
  EXPECT_TRUE(all[2].callback_done) << "the stream goes on when the worker has the pages";
  EXPECT_EQ(written(), none());
}

TEST_P(MirrorFunctions, NothingTravelsForAFunctionThatTouchesNothing) {
  static_cast<void>(allocate(HostRange::Kind::kManaged, 100 * kPageBytes));
  launch();
  EXPECT_EQ(wait(), hipSuccess);
  on_host([] {});
  await_functions();
  const auto all = worker_->ordered();
  ASSERT_EQ(all.size(), 1u) << "no work since the last wait, so nothing to look for";
  EXPECT_TRUE(all[0].callback_done);
}

// The worker may not come to a request before the function has run.
TEST_P(MirrorFunctions, MeanwhileThreadsOfTheProgramSendOrders) {
  const Piece pinned = allocate(HostRange::Kind::kPinned, 100 * kPageBytes, hipHostMallocMapped);
  bytes(pinned)[0] = 1;
  launch();
  bytes(pinned)[0] = 2;
  launch();
  static_cast<void>(written());
  std::atomic<bool> go{false};
  on_host([&] {
    while (!go) std::this_thread::sleep_for(1ms);
  });
  bytes(pinned)[3 * kPageBytes] = 1;
  launch();
  client_->about_to_wait();
  go = true;
  await_functions();
  const auto all = worker_->ordered();
  std::uint64_t orders = 0;
  for (const FakeWorker::Ordered& each : all) {
    if (each.callback_done) continue;
    EXPECT_EQ(each.order.after, 2u) << "behind what was posted before";
    orders += each.order.what == What::kWrite ? 1 : 0;
  }
  EXPECT_EQ(orders, 1u);
  EXPECT_EQ(written(), none()) << "not as a request";
  bytes(pinned)[4 * kPageBytes] = 1;
  launch();
  EXPECT_EQ(written(), (std::vector{Piece{pinned.address + 4 * kPageBytes, kPageBytes}}))
      << "a request again";
}

// More than an order takes: it is cut.
TEST_P(MirrorFunctions, MuchTravelsInManyOrders) {
  constexpr std::uint64_t kBytes = 3 * mirror::kOrderBytesMax / 2;
  const Piece memory = allocate(HostRange::Kind::kManaged, 4 * mirror::kOrderBytesMax);
  launch();
  EXPECT_EQ(wait(), hipSuccess);
  on_host([&] {
    std::memset(bytes(memory), 1, kBytes);
    bytes(memory)[2 * mirror::kOrderBytesMax] = 1;
  });
  await_functions();
  std::vector<Piece> joined;
  std::size_t orders = 0;
  for (const FakeWorker::Ordered& each : worker_->ordered()) {
    if (each.callback_done) continue;
    ++orders;
    EXPECT_LE(each.order.bytes, mirror::kOrderBytesMax);
    for (const Piece& piece : each.pieces) mirror::append(joined, piece);
  }
  EXPECT_EQ(orders, 2u);
  EXPECT_EQ(joined, (std::vector{Piece{memory.address, kBytes},
                                 Piece{memory.address + 2 * mirror::kOrderBytesMax, kPageBytes}}));
}

TEST_P(MirrorFunctions, ChangesOfOtherMemoryEndTheSession) {
  const Piece memory = allocate(HostRange::Kind::kManaged, kPageBytes);
  launch();
  static_cast<void>(written());
  worker_->change_host({memory.address + memory.bytes, kPageBytes}, std::byte{1});
  hipError_t status = hipSuccess;
  EXPECT_EQ(client_->callbacks().add(0, 0, [&](hipError_t error) { status = error; }), hipSuccess);
  for (int i = 0; i < 5000 && client_->callbacks().any(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(status, kLostError);
  EXPECT_TRUE(client_->connection().lost());
}

INSTANTIATE_TEST_SUITE_P(Pages, MirrorFunctions, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Watched" : "Compared"; });

}  // namespace
}  // namespace tf::proxy
