// SPDX-License-Identifier: Apache-2.0
// A peer that says what cannot be: in its immediates, its line, its credits, its records. Each is kProtocol,
// and nothing is read or written where it must not be.
#include <arpa/inet.h>

#include <functional>
#include <thread>

#include "rdma/stamp.h"
#include "tests/unit/rdma/plane_pair.h"

namespace tf::rdma {
namespace {

constexpr std::size_t kRing = 1 << 14;
constexpr std::size_t kPart = kRing + 4096;

// Two queue pairs and memory laid out like a plane's; everything else is the test's.
class Hostile {
 public:
  explicit Hostile(test::FakeFabric& fabric) : device(*fabric.verbs(), 0), verbs_(*fabric.verbs()) {
    memory.resize(2 * kPart + kLineBytes);
    base = memory.data() + (kLineBytes - reinterpret_cast<std::uintptr_t>(memory.data()) % kLineBytes);
    region_ = verbs_.reg_mr(device.pd, memory.data(), memory.size(),
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
    queue_ = verbs_.create_cq(device.context, 256, nullptr, nullptr, 0);
    const QueuePair::Plan plan{.pd = device.pd, .sends = queue_, .receives = queue_, .receive_depth = 32};
    out = std::move(QueuePair::create(verbs_, plan).value());
    in = std::move(QueuePair::create(verbs_, plan).value());
  }
  ~Hostile() {
    out.reset();
    in.reset();
    EXPECT_EQ(verbs_.destroy_cq(queue_), 0);
    EXPECT_EQ(verbs_.dereg_mr(region_), 0);
  }

  PlaneFacts facts() const {
    PlaneFacts facts;
    facts.out_number = out->address().number;
    facts.out_packet = out->address().first_packet;
    facts.in_number = in->address().number;
    facts.in_packet = in->address().first_packet;
    facts.readable_address = reinterpret_cast<std::uintptr_t>(base);
    facts.writable_address = facts.readable_address + kPart;
    facts.readable_key = facts.writable_key = region_->rkey;
    facts.ring_bytes = kRing;
    return facts;
  }

  void write(QueuePair& pair, const RemoteMemory& to, std::size_t bytes,
             std::optional<std::uint32_t> immediate) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(base), static_cast<std::uint32_t>(bytes), region_->lkey};
    ibv_send_wr request{};
    request.opcode = immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    request.imm_data = htonl(immediate.value_or(0));
    request.sg_list = &piece;
    request.num_sge = bytes == 0 ? 0 : 1;
    request.wr.rdma.remote_addr = to.address;
    request.wr.rdma.rkey = to.key;
    ASSERT_TRUE(pair.post(std::span(&request, 1), true).is_ok());
    ibv_wc completion{};
    while (verbs_.poll_cq(queue_, 1, &completion) == 1) {
      if ((completion.wr_id & kReceiveMark) == 0) pair.note_done(completion.wr_id);
    }
  }
  void push(const PlaneFacts& victim, std::uint32_t immediate, std::size_t bytes = 0,
            std::size_t offset = 0) {
    write(*out, {victim.writable_address + offset, victim.writable_key}, bytes, immediate);
  }
  void set_line(std::uint64_t published, std::uint64_t waiting) {
    word_at(base + kRing).store(published);
    word_at(base + kRing + 8).store(waiting);
  }

  Opened device;
  std::vector<std::byte> memory;
  std::byte* base = nullptr;
  std::unique_ptr<QueuePair> out, in;

 private:
  const Verbs& verbs_;
  ibv_mr* region_ = nullptr;
  ibv_cq* queue_ = nullptr;
};

// A victim and its peer.
struct Attack {
  Attack() : device_(*fabric.verbs(), 1), peer(fabric) {
    plane = PlanePair::open(*fabric.verbs(), device_, kRing);
    EXPECT_TRUE(plane->connect(route_to(peer.device), peer.facts()).is_ok());
    const PlaneFacts facts = plane->facts();
    EXPECT_TRUE(peer.out->connect(route_to(device_), {facts.in_number, facts.in_packet}).is_ok());
    EXPECT_TRUE(peer.in->connect(route_to(device_), {facts.out_number, facts.out_packet}).is_ok());
  }
  ~Attack() { EXPECT_EQ(fabric.violations(), std::vector<std::string>{}); }

  // Until the victim fails; kTimeout: it did not, and has nothing to do any more.
  Status outcome() {
    constexpr int kRoundsMax = 10'000;
    for (int round = 0; round < kRoundsMax; ++round) {
      EXPECT_TRUE(fabric.wait_idle());
      const test::FakeCounters before = fabric.counters();
      std::vector<std::uint32_t> ids;
      TF_RETURN_IF_ERROR(receive(*plane, ids, 100));
      TF_RETURN_IF_ERROR(plane->producer().take_kicks());
      const test::FakeCounters after = fabric.counters();
      if (ids.empty() && after.work_requests == before.work_requests && after.receives == before.receives)
        return Status(Code::kTimeout);
    }
    ADD_FAILURE() << "the victim never comes to rest";
    return Status(Code::kOk);
  }
  void expect_protocol() {
    const Status status = outcome();
    EXPECT_EQ(status.code(), Code::kProtocol) << status.to_string();
  }
  void put_record(const FrameHeader& header) { write_header(header, peer.base); }

  test::FakeFabric fabric;
  Opened device_;
  Hostile peer;
  std::unique_ptr<Plane> plane;
};

class HostileTest : public testing::Test, protected Attack {};

constexpr std::uint32_t kLines = kRing / kLineBytes;

TEST_F(HostileTest, AnImmediateBeyondTheRing) {
  put_record({.opcode = 1});
  peer.push(plane->facts(), make_immediate(false, kLineBytes, 0), kLineBytes);
  std::vector<std::uint32_t> ids;
  ASSERT_TRUE(fabric.wait_idle());
  Status status = plane->consumer().poll();  // one record, not consumed
  ASSERT_TRUE(status.is_ok());
  peer.push(plane->facts(), make_immediate(false, std::uint64_t{kLines + 1} * kLineBytes, 0));
  ASSERT_TRUE(fabric.wait_idle());
  status = plane->consumer().poll();
  EXPECT_EQ(status.code(), Code::kProtocol) << status.to_string();
}

TEST_F(HostileTest, AnImmediateFarAwayIsNothingNew) {
  for (std::uint32_t end = kLines + 1; end <= kEndMask; end += 97) {
    peer.push(plane->facts(), end << 16);
    ASSERT_TRUE(fabric.wait_idle());
    ASSERT_TRUE(plane->consumer().poll().is_ok());
  }
  EXPECT_FALSE(plane->consumer().has_record());
}

TEST_F(HostileTest, ConsumedBeyondWhatWasPublished) {
  peer.push(plane->facts(), make_immediate(false, 0, 5 * kLineBytes));
  expect_protocol();
}

TEST_F(HostileTest, HoldTwice) {
  peer.push(plane->facts(), make_immediate(true, 0, 0));
  peer.push(plane->facts(), make_immediate(true, 0, 0));
  expect_protocol();
}

TEST_F(HostileTest, MorePushesThanTheProtocolHas) {
  // Never more than can lie in the receive queue at a time, and none of them consumed.
  put_record({.opcode = 1});
  for (unsigned push = 0; push < 60; ++push) {
    peer.push(plane->facts(), make_immediate(false, kLineBytes, 0), kLineBytes);
    ASSERT_TRUE(fabric.wait_idle());
    const Status status = plane->consumer().poll();
    if (status.is_ok()) continue;
    EXPECT_EQ(status.code(), Code::kProtocol);
    return;
  }
  FAIL() << "60 pushes of the same record were taken";
}

TEST_F(HostileTest, LinesThatCannotBe) {
  for (const std::uint64_t published :
       {std::uint64_t{1}, std::uint64_t{kRing + kLineBytes}, UINT64_MAX, UINT64_MAX - kLineBytes + 1}) {
    Attack other;
    other.peer.set_line(published, 0);
    other.peer.push(other.plane->facts(), make_immediate(true, 0, 0));
    other.expect_protocol();
  }
}

TEST_F(HostileTest, QuestionsWithoutEndAreAnsweredOnceEach) {
  peer.set_line(0, 77);
  peer.push(plane->facts(), make_immediate(true, 0, 0));
  EXPECT_EQ(outcome().code(), Code::kTimeout);
  EXPECT_LE(fabric.counters(plane->facts().in_number).work_requests, 8u);
}

TEST_F(HostileTest, RecordsThatCannotBe) {
  const std::vector<FrameHeader> headers = {
      {.opcode = 1, .payload_length = UINT64_MAX},
      {.opcode = 1, .payload_length = UINT64_MAX - kFrameHeaderBytes},
      {.opcode = 1, .payload_length = kLineBytes},  // more than was pushed
      {.opcode = 1, .payload_length = 65536 - kFrameHeaderBytes},
      {.magic = kPadMagic},  // at the ring's begin
      {.magic = 0},
      {.version = 9, .opcode = 1},
      {.opcode = 1, .flags = 0xfff0}};
  for (const FrameHeader& header : headers) {
    Attack other;
    other.put_record(header);
    other.peer.push(other.plane->facts(), make_immediate(false, kLineBytes, 0), kLineBytes);
    other.expect_protocol();
  }
}

TEST_F(HostileTest, APadThatGoesBeyondWhatWasPushed) {
  put_record({.opcode = 1});
  peer.push(plane->facts(), make_immediate(false, kLineBytes, 0), kLineBytes);
  ASSERT_TRUE(fabric.wait_idle());
  put_record({.magic = kPadMagic});
  peer.push(plane->facts(), make_immediate(false, 2 * kLineBytes, 0), kLineBytes, kLineBytes);
  expect_protocol();
}

TEST_F(HostileTest, CreditsForMoreThanWasPublished) {
  ASSERT_TRUE(try_send(plane->producer(), 1, 10).is_ok());
  for (const std::uint64_t credit : {std::uint64_t{100}, kCreditMask, UINT64_MAX}) {
    word_at(peer.base).store(credit);
    peer.write(*peer.in, {plane->facts().writable_address + kRing, plane->facts().writable_key}, 8,
               std::nullopt);
    ASSERT_TRUE(fabric.wait_idle());
    Status status;  // a push looks at what is consumed when some before it may be
    for (unsigned push = 0; push < kPushedMax && status.is_ok(); ++push)
      status = try_send(plane->producer(), 2, 10);
    EXPECT_EQ(status.code(), Code::kProtocol) << status.to_string();
  }
}

TEST_F(HostileTest, KicksThatNobodyAskedFor) {
  peer.write(*peer.in, {plane->facts().writable_address, plane->facts().writable_key}, 0, 0);
  expect_protocol();
}

// What is stamped as it should be is a record like any other: looked at before it is believed.
TEST_F(HostileTest, StampedRecordsThatCannotBe) {
  struct Case {
    FrameHeader header;
    std::uint32_t told;
  };
  const std::vector<Case> cases = {{{.magic = 0}, 0},
                                   {{.magic = kPadMagic}, 0},
                                   {{.version = 9, .opcode = 1}, 0},
                                   {{.opcode = 1, .flags = 0xfff0}, 0},
                                   {{.opcode = 1}, 5},  // of what was never published
                                   {{.opcode = 1}, 0x7fffffff}};
  for (const Case& each : cases) {
    Attack other;
    other.plane->consumer().watch(true);
    EXPECT_EQ(other.outcome().code(), Code::kTimeout);
    other.put_record(each.header);
    const std::span<const std::byte> record(other.peer.base, kFrameHeaderBytes);
    const Stamp stamp = make_stamp(other.plane->facts().ring_secret, 0, each.told, record);
    std::memcpy(other.peer.base + kLineBytes - sizeof stamp, &stamp, sizeof stamp);
    other.peer.write(*other.peer.out,
                     {other.plane->facts().writable_address, other.plane->facts().writable_key}, kLineBytes,
                     std::nullopt);
    other.expect_protocol();
  }
}

// Nor by chance: what is marked and not sealed keeps nobody from what is announced.
TEST_F(HostileTest, AMarkAloneHidesNothing) {
  plane->consumer().watch(true);
  EXPECT_EQ(outcome().code(), Code::kTimeout);
  put_record({.opcode = 1, .request_id = 7});
  Stamp stamp = make_stamp(plane->facts().ring_secret, 0, 0, {peer.base, kFrameHeaderBytes});
  ++stamp.seal;
  std::memcpy(peer.base + kLineBytes - sizeof stamp, &stamp, sizeof stamp);
  peer.write(*peer.out, {plane->facts().writable_address, plane->facts().writable_key}, kLineBytes,
             std::nullopt);
  std::vector<std::uint32_t> ids;
  ASSERT_TRUE(fabric.wait_idle());
  ASSERT_TRUE(receive(*plane, ids).is_ok());
  EXPECT_TRUE(ids.empty());
  peer.push(plane->facts(), make_immediate(false, kLineBytes, 0), kLineBytes);
  ASSERT_TRUE(fabric.wait_idle());
  ASSERT_TRUE(receive(*plane, ids).is_ok());
  EXPECT_EQ(ids, std::vector<std::uint32_t>{7});
}

// Anything at all, in ring, credit and immediates: an error or not, and no harm.
TEST_F(HostileTest, RandomBytesDoNoHarm) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Attack other;
    other.plane->consumer().watch(seed % 2 == 0);
    test::fill_pattern(std::span(other.peer.base, 2 * kPart), seed);
    other.peer.set_line(seed % 4 * kLineBytes, seed);
    Status status;
    for (std::uint32_t round = 0; round < 20 && status.is_ok(); ++round) {
      const std::uint32_t immediate = (round * 2654435761u * seed) & 0x801fffff;
      other.peer.push(other.plane->facts(), immediate, seed * 100);
      ASSERT_TRUE(other.fabric.wait_idle());
      std::vector<std::uint32_t> ids;
      status = other.plane->consumer().poll();
      if (status.is_ok()) static_cast<void>(other.plane->consumer().peek(1000, status));
      if (status.is_ok()) status = try_send(other.plane->producer(), 1, 100);
    }
  }
}

}  // namespace
}  // namespace tf::rdma
