// SPDX-License-Identifier: Apache-2.0
// Memory shared between sessions: the supervisor's table, and clients who want what they were not given.
#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>
#include <sys/mman.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hipcore/wire/fill.h"
#include "hipcore/wire/handle.h"
#include "raw_client.h"
#include "transport/factory/factory.h"
#include "worker/supervisor/offers.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kUnit = 2 << 20;

net::Token name_of(std::uint8_t number) {
  net::Token name;
  name.bytes = {number, 1};
  return name;
}

ChannelMessage message(Envelope kind, const net::Token& name) {
  ChannelMessage made;
  made.kind = kind;
  made.attach.token = name;
  made.number = 7;
  return made;
}

ChannelMessage offer(const net::Token& name, std::uint64_t bytes) {
  ChannelMessage made = message(Envelope::kOffer, name);
  made.piece = {SharedPiece::Kind::kPhysical, 0, bytes, 0, bytes};
  made.connection = net::OwnedFd(::memfd_create("offer", MFD_CLOEXEC));
  return made;
}

ChannelMessage handle(Offers& offers, pid_t pid, ChannelMessage asked) {
  ChannelMessage answer;
  offers.handle(pid, asked, answer);
  EXPECT_EQ(answer.kind, Envelope::kAnswer);
  EXPECT_EQ(answer.number, 7u);
  return answer;
}

// The bytes of what `pid` gets under a name; 0: nothing.
std::uint64_t wanted(Offers& offers, pid_t pid, const net::Token& name) {
  ChannelMessage answer = handle(offers, pid, message(Envelope::kWant, name));
  const bool given = answer.piece.kind != SharedPiece::Kind::kNone;
  EXPECT_EQ(static_cast<bool>(answer.connection), given);
  offers.sent(name, answer);
  return given ? answer.piece.whole_bytes : 0;
}

bool taken(const ChannelMessage& answer) { return answer.piece.kind != SharedPiece::Kind::kNone; }

TEST(Offers, AreKeptUntilTheirOwnerEnds) {
  Offers offers;
  EXPECT_TRUE(taken(handle(offers, 1, offer(name_of(1), kUnit))));
  EXPECT_EQ(wanted(offers, 2, name_of(1)), kUnit);
  EXPECT_EQ(wanted(offers, 3, name_of(1)), kUnit) << "lent only";
  EXPECT_EQ(wanted(offers, 2, name_of(2)), 0u);
  offers.forget(2);
  EXPECT_EQ(wanted(offers, 2, name_of(1)), kUnit);
  offers.forget(1);
  EXPECT_EQ(wanted(offers, 2, name_of(1)), 0u);
}

TEST(Offers, BelongToWhoMadeThem) {
  Offers offers;
  EXPECT_TRUE(taken(handle(offers, 1, offer(name_of(1), kUnit))));
  EXPECT_FALSE(taken(handle(offers, 2, offer(name_of(1), 9 * kUnit)))) << "the name is taken";
  handle(offers, 2, message(Envelope::kWithdraw, name_of(1)));
  EXPECT_EQ(wanted(offers, 3, name_of(1)), kUnit);
  handle(offers, 1, message(Envelope::kWithdraw, name_of(1)));
  EXPECT_EQ(wanted(offers, 3, name_of(1)), 0u);
}

// Of a runtime without virtual memory: its own ticket names the memory.
TEST(Offers, OfAllocationsAreAllInTheirTicket) {
  Offers offers;
  ChannelMessage made = message(Envelope::kOffer, name_of(1));
  made.piece = {SharedPiece::Kind::kAllocation, 0, 4 * kUnit, kUnit, kUnit, {1, 2, 3}};
  EXPECT_TRUE(taken(handle(offers, 1, std::move(made))));
  const ChannelMessage answer = handle(offers, 2, message(Envelope::kWant, name_of(1)));
  EXPECT_EQ(answer.piece.kind, SharedPiece::Kind::kAllocation);
  EXPECT_EQ(answer.piece.ticket[2], 3);
  EXPECT_FALSE(answer.connection);
  ChannelMessage bare = message(Envelope::kOffer, name_of(2));
  bare.piece = {SharedPiece::Kind::kLease, 0, 4 * kUnit, kUnit, kUnit};
  EXPECT_FALSE(taken(handle(offers, 1, std::move(bare)))) << "other memory is a descriptor";
}

TEST(Offers, AreBounded) {
  Offers offers;
  std::size_t kept = 0;
  for (int number = 0; number < 200; ++number)
    kept += taken(handle(offers, 1, offer(name_of(static_cast<std::uint8_t>(number)), kUnit))) ? 1 : 0;
  EXPECT_EQ(kept, kOffersPerSessionMax);
  for (int pid = 2; pid < 8; ++pid) {
    for (std::size_t number = 0; number < kOffersPerSessionMax; ++number) {
      net::Token name = name_of(static_cast<std::uint8_t>(number));
      name.bytes[5] = static_cast<std::uint8_t>(pid);
      handle(offers, pid, offer(name, kUnit));
    }
  }
  EXPECT_EQ(offers.size(), kOffersMax);
}

// Two clients of one worker on the CPU runtime.
class Sharing : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(worker_.ready());
    owner_.emplace(worker_, transport());
    other_.emplace(worker_, transport());
    ASSERT_TRUE(owner_->status.is_ok()) << owner_->status.to_string();
    ASSERT_TRUE(other_->status.is_ok()) << other_->status.to_string();
    if (owner_->snapshot.memory_shared == 0) GTEST_SKIP() << "no room for address windows here";
    lease_ = owner_->lease(4 * kUnit);
  }
  static const net::Transport& transport() {
    for (const net::Transport* candidate : transports())
      if (candidate->name() == "tcp") return *candidate;
    return *transports().front();
  }
  int share(RawClient& client, std::uint64_t address, std::uint64_t bytes, protocol::ShareLeaseReply& key) {
    return client.ask(protocol::ShareLeaseRequest{address, bytes}, key);
  }
  template <typename Key>
  int open(RawClient& client, const Key& key, protocol::OpenSharedReply& opened) {
    return client.ask(protocol::OpenSharedRequest{key.key_low, key.key_high}, opened);
  }
  template <typename Key>
  int import(RawClient& client, std::uint64_t memory, const Key& key) {
    protocol::ImportPhysicalReply reply{};
    return client.ask(protocol::ImportPhysicalRequest{memory, key.key_low, key.key_high}, reply);
  }
  static int fill(RawClient& client, std::uint64_t address, std::uint64_t bytes) {
    protocol::FillRequest request{};
    request.target = address;
    request.width = bytes;
    request.form |= protocol::kFillSynchronous;
    return client.ask(request);
  }

  explicit Sharing(std::vector<std::string> options = {}) : worker_(std::move(options), TF_CPU_RUNTIME) {}

  WorkerProcess worker_;
  std::optional<RawClient> owner_;
  std::optional<RawClient> other_;
  std::uint64_t lease_ = 0;
};

// The CPU runtime opens what another process has by the files of that process, which walls hide.
class SharingWithoutWalls : public Sharing {
 protected:
  SharingWithoutWalls() : Sharing({"--no-sandbox"}) {}
};

// Memory of hipExtMallocWithFlags is an allocation of the runtime's, and goes through its IPC.
TEST_F(SharingWithoutWalls, FineGrainedMemoryOutsideOfTheWindows) {
  protocol::LeaseMemoryRequest request{};
  request.bytes = kUnit;
  request.flags = hipDeviceMallocFinegrained;
  protocol::LeaseMemoryReply lease{};
  ASSERT_EQ(owner_->ask(request, lease), hipSuccess);
  EXPECT_FALSE(owner_->snapshot.devices[0].window.contains(lease.address, lease.bytes));
  EXPECT_EQ(lease.mapped, 0u);
  EXPECT_EQ(fill(*owner_, lease.address, kUnit), hipSuccess);
  protocol::ShareLeaseReply key{};
  ASSERT_EQ(share(*owner_, lease.address, kUnit, key), hipSuccess);
  protocol::OpenSharedReply opened{};
  ASSERT_EQ(open(*other_, key, opened), hipSuccess);
  EXPECT_EQ(opened.bytes, kUnit);
  EXPECT_FALSE(other_->snapshot.devices[0].window.contains(opened.address, opened.bytes));
  EXPECT_EQ(fill(*other_, opened.address, kUnit), hipSuccess);
  EXPECT_EQ(fill(*other_, opened.address, kUnit + 1), hipErrorInvalidValue);
  EXPECT_EQ(other_->ask(protocol::CloseSharedRequest{opened.address}), hipSuccess);
  EXPECT_EQ(fill(*other_, opened.address, 1), hipErrorInvalidValue);
  EXPECT_EQ(owner_->ask(protocol::ReturnLeaseRequest{lease.address}), hipSuccess);
  EXPECT_NE(open(*other_, key, opened), hipSuccess) << "it is gone";
  request.flags = hipMallocSignalMemory;
  EXPECT_EQ(owner_->ask(request, lease), hipErrorInvalidValue) << "it is the client's";
  request.flags = 77;
  EXPECT_EQ(owner_->ask(request, lease), hipErrorInvalidValue);
}

TEST_F(Sharing, OnlyThePieceIsTheOthers) {
  protocol::ShareLeaseReply key{};
  ASSERT_EQ(share(*owner_, lease_ + 4096, 8192, key), hipSuccess);
  protocol::OpenSharedReply opened{};
  ASSERT_EQ(open(*other_, key, opened), hipSuccess);
  EXPECT_EQ(opened.bytes, 8192u);
  EXPECT_EQ(fill(*other_, opened.address, 8192), hipSuccess);
  EXPECT_EQ(fill(*other_, opened.address, 8193), hipErrorInvalidValue);
  EXPECT_EQ(fill(*other_, opened.address - 1, 1), hipErrorInvalidValue);
  EXPECT_EQ(other_->ask(protocol::ReturnLeaseRequest{opened.address - 4096}), hipErrorInvalidValue);
  protocol::ShareLeaseReply again{};
  EXPECT_EQ(share(*other_, opened.address, 4096, again), hipErrorInvalidDevicePointer) << "not his to share";
  EXPECT_EQ(other_->ask(protocol::CloseSharedRequest{opened.address + 1}), hipErrorInvalidValue);
  EXPECT_EQ(other_->ask(protocol::CloseSharedRequest{opened.address}), hipSuccess);
  EXPECT_EQ(other_->ask(protocol::CloseSharedRequest{opened.address}), hipErrorInvalidValue);
  EXPECT_EQ(fill(*other_, opened.address, 1), hipErrorInvalidValue);
  EXPECT_EQ(owner_->ask(protocol::CloseSharedRequest{lease_}), hipErrorInvalidValue) << "a lease is no loan";
  EXPECT_EQ(fill(*owner_, lease_, 4 * kUnit), hipSuccess);
}

TEST_F(Sharing, OnlyOwnLeasesCanBeShared) {
  protocol::ShareLeaseReply key{};
  for (const auto& [address, bytes] : {std::pair{lease_, 4 * kUnit + 1},
                                       {lease_ - 1, kUnit},
                                       {lease_ + 4 * kUnit, kUnit},
                                       {lease_, 0ul},
                                       {lease_ + kUnit, ~std::uint64_t{0}},
                                       {0ul, kUnit}})
    EXPECT_EQ(share(*owner_, address, bytes, key), hipErrorInvalidDevicePointer) << address << ' ' << bytes;
  protocol::SharePhysicalReply physical{};
  EXPECT_EQ(owner_->ask(protocol::SharePhysicalRequest{lease_}, physical), hipErrorInvalidValue);
}

TEST_F(Sharing, WithoutTheKeyThereIsNothing) {
  protocol::ShareLeaseReply key{};
  ASSERT_EQ(share(*owner_, lease_, kUnit, key), hipSuccess);
  protocol::OpenSharedReply opened{};
  protocol::ShareLeaseReply guess = key;
  guess.key_high ^= 1;
  EXPECT_EQ(open(*other_, guess, opened), hipErrorInvalidDevicePointer);
  EXPECT_EQ(open(*other_, protocol::ShareLeaseReply{}, opened), hipErrorInvalidDevicePointer);
  const std::uint64_t handle = protocol::Handle(protocol::HandleKind::kMemAllocation, 1, 0).raw();
  EXPECT_EQ(import(*other_, handle, key), hipErrorInvalidDevicePointer) << "a whole lease is not given away";
  EXPECT_EQ(other_->ask(protocol::WithdrawSharedRequest{key.key_low, key.key_high}), hipErrorInvalidValue);
  EXPECT_EQ(open(*other_, key, opened), hipSuccess);
  ASSERT_EQ(owner_->ask(protocol::WithdrawSharedRequest{key.key_low, key.key_high}), hipSuccess);
  EXPECT_EQ(open(*other_, key, opened), hipErrorInvalidDevicePointer);
}

TEST_F(Sharing, PhysicalMemoryGoesWithItsLastOwner) {
  const std::uint64_t handle = protocol::Handle(protocol::HandleKind::kMemAllocation, 1, 0).raw();
  protocol::CreatePhysicalRequest create{};
  create.memory = handle;
  create.bytes = kUnit;
  create.shared_as = hipMemHandleTypePosixFileDescriptor;
  ASSERT_EQ(owner_->ask(create), hipSuccess);
  protocol::SharePhysicalReply key{};
  ASSERT_EQ(owner_->ask(protocol::SharePhysicalRequest{handle}, key), hipSuccess);
  protocol::SharePhysicalReply same{};
  ASSERT_EQ(owner_->ask(protocol::SharePhysicalRequest{handle}, same), hipSuccess);
  EXPECT_EQ(same.key_low, key.key_low);
  protocol::OpenSharedReply opened{};
  EXPECT_EQ(open(*other_, key, opened), hipErrorInvalidDevicePointer) << "not a lease";
  EXPECT_EQ(import(*other_, 5, key), hipErrorInvalidHandle);
  ASSERT_EQ(import(*other_, handle, key), hipSuccess);
  EXPECT_EQ(import(*other_, handle, key), hipErrorInvalidHandle) << "in use";
  EXPECT_EQ(other_->ask(protocol::SharePhysicalRequest{handle}, same), hipErrorInvalidValue) << "not his";
  ASSERT_EQ(owner_->ask(protocol::ReleasePhysicalRequest{handle}), hipSuccess);
  EXPECT_EQ(import(*other_, handle + 1, key), hipErrorInvalidDevicePointer);
  const std::uint64_t base = other_->snapshot.reservations.base;
  EXPECT_EQ(other_->ask(protocol::MapPhysicalRequest{base, kUnit, 0, handle}), hipSuccess) << "still there";
}

TEST_F(Sharing, EventsAndMemoryAreNotMistakenForEachOther) {
  const std::uint64_t event = protocol::Handle(protocol::HandleKind::kEvent, 1, 0).raw();
  protocol::EventCreateWithFlagsRequest create{};
  create.event = event;
  create.flags = hipEventInterprocess | hipEventDisableTiming;
  ASSERT_EQ(owner_->ask(create), hipSuccess);
  protocol::ShareEventReply event_key{};
  EXPECT_EQ(owner_->ask(protocol::ShareEventRequest{event + 1}, event_key), hipErrorInvalidHandle);
  ASSERT_EQ(owner_->ask(protocol::ShareEventRequest{event}, event_key), hipSuccess);
  protocol::ShareLeaseReply memory_key{};
  ASSERT_EQ(share(*owner_, lease_, kUnit, memory_key), hipSuccess);
  protocol::OpenSharedReply opened{};
  EXPECT_EQ(open(*other_, event_key, opened), hipErrorInvalidDevicePointer);
  protocol::OpenEventReply reply{};
  const auto open_event = [&](RawClient& client, std::uint64_t handle, std::uint64_t low,
                              std::uint64_t high) {
    return client.ask(protocol::OpenEventRequest{handle, low, high}, reply);
  };
  EXPECT_EQ(open_event(*other_, event, memory_key.key_low, memory_key.key_high), hipErrorInvalidValue);
  EXPECT_EQ(open_event(*other_, event, event_key.key_low, ~event_key.key_high), hipErrorInvalidValue);
  EXPECT_EQ(open_event(*owner_, event + 1, event_key.key_low, event_key.key_high), hipErrorInvalidContext);
  EXPECT_EQ(open_event(*other_, 3, event_key.key_low, event_key.key_high), hipErrorInvalidHandle);
  EXPECT_EQ(open_event(*other_, event, event_key.key_low, event_key.key_high), hipSuccess);
  ASSERT_EQ(owner_->ask(protocol::EventDestroyRequest{event}), hipSuccess);
  EXPECT_EQ(open_event(*other_, event + 1, event_key.key_low, event_key.key_high), hipErrorInvalidValue);
}

TEST_F(Sharing, OffersEndWithTheSession) {
  protocol::ShareLeaseReply key{};
  ASSERT_EQ(share(*owner_, lease_, kUnit, key), hipSuccess);
  protocol::OpenSharedReply opened{};
  ASSERT_EQ(open(*other_, key, opened), hipSuccess);
  owner_.reset();
  protocol::OpenSharedReply late{};
  int error = hipSuccess;
  for (int round = 0; round < 500 && error == hipSuccess; ++round) {
    error = open(*other_, key, late);
    if (error == hipSuccess) error = other_->ask(protocol::CloseSharedRequest{late.address});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(error, hipErrorInvalidDevicePointer);
  EXPECT_EQ(fill(*other_, opened.address, kUnit), hipSuccess) << "what was opened stays";
}

TEST_F(Sharing, ASessionSharesOnlySoMuch) {
  protocol::ShareLeaseReply key{};
  std::size_t shared = 0;
  while (shared <= kOffersPerSessionMax && share(*owner_, lease_, 4096, key) == hipSuccess) ++shared;
  EXPECT_EQ(shared, kOffersPerSessionMax);
  EXPECT_EQ(share(*owner_, lease_, 4096, key), hipErrorOutOfMemory);
  ASSERT_EQ(owner_->ask(protocol::ReturnLeaseRequest{lease_}), hipSuccess);
  const std::uint64_t fresh = owner_->lease(kUnit);
  EXPECT_EQ(share(*owner_, fresh, 4096, key), hipSuccess) << "what is returned is shared no longer";
}

}  // namespace
}  // namespace tf::worker
