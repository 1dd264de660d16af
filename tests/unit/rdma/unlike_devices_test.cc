// SPDX-License-Identifier: Apache-2.0
// Endpoints whose devices are not alike: what the queue pairs are told, and that everything goes both ways.
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/peer.h"
#include "tests/unit/rdma/endpoints_fixture.h"

namespace tf::rdma {
namespace {

using test::FakeDevice;
using test::Peer;

using Spoil = void (*)(FakeDevice& client, FakeDevice& worker);

std::vector<FakeDevice> two(Spoil spoil) {
  std::vector<FakeDevice> devices{FakeDevice::make(0), FakeDevice::make(1)};
  spoil(devices[0], devices[1]);
  return devices;
}

struct Unlike {
  const char* name;
  Spoil spoil;
  // What is to come of it.
  ibv_mtu mtu = IBV_MTU_4096;
  std::uint8_t client_reads = 16;  // under way at a time, started by the client's device
  std::uint8_t worker_reads = 16;
  std::uint32_t client_gid = 2;  // its index
  std::uint32_t worker_gid = 2;
  bool global = true;
};

test::FakePort& port(FakeDevice& device) { return device.ports[0]; }
ibv_device_attr& limits(FakeDevice& device) { return device.attributes.orig_attr; }

void to_infiniband(FakeDevice& device, std::uint16_t lid) {
  port(device).link_layer = IBV_LINK_LAYER_INFINIBAND;
  port(device).lid = lid;
  for (test::FakeGid& gid : port(device).gids) gid.type = IBV_GID_TYPE_IB;
}

const Unlike kUnlike[] = {
    {.name = "Alike", .spoil = [](FakeDevice&, FakeDevice&) {}},
    {.name = "MtuOfTheClient",
     .spoil = [](FakeDevice& client, FakeDevice&) { port(client).active_mtu = IBV_MTU_1024; },
     .mtu = IBV_MTU_1024},
    {.name = "MtuOfTheWorker",
     .spoil = [](FakeDevice&, FakeDevice& worker) { port(worker).active_mtu = IBV_MTU_256; },
     .mtu = IBV_MTU_256},
    {.name = "ReadsThatTheClientStarts",
     .spoil = [](FakeDevice& client, FakeDevice&) { limits(client).max_qp_init_rd_atom = 3; },
     .client_reads = 3},
    {.name = "ReadsThatTheWorkerStarts",
     .spoil = [](FakeDevice&, FakeDevice& worker) { limits(worker).max_qp_init_rd_atom = 1; },
     .worker_reads = 1},
    {.name = "ReadsThatTheClientAnswers",
     .spoil = [](FakeDevice& client, FakeDevice&) { limits(client).max_qp_rd_atom = 1; },
     .worker_reads = 1},
    {.name = "ReadsThatTheWorkerAnswers",
     .spoil = [](FakeDevice&, FakeDevice& worker) { limits(worker).max_qp_rd_atom = 5; },
     .client_reads = 5},
    {.name = "ReadsWithoutNumber",  // as much as a byte says, and more
     .spoil =
         [](FakeDevice& client, FakeDevice& worker) {
           limits(client).max_qp_rd_atom = limits(client).max_qp_init_rd_atom = 1000;
           limits(worker).max_qp_rd_atom = limits(worker).max_qp_init_rd_atom = 255;
         }},
    {.name = "NothingInlineAtTheClient",
     .spoil = [](FakeDevice& client, FakeDevice&) { client.max_inline = 0; }},
    {.name = "NothingInlineAtTheWorker",
     .spoil = [](FakeDevice&, FakeDevice& worker) { worker.max_inline = 0; }},
    {.name = "NothingInline",
     .spoil = [](FakeDevice& client, FakeDevice& worker) { client.max_inline = worker.max_inline = 0; }},
    {.name = "GidsAtOtherPlaces",
     .spoil =
         [](FakeDevice& client, FakeDevice& worker) {
           port(client).gids[2].index = 7;
           port(worker).gids[2].index = 4;
         },
     .client_gid = 7,
     .worker_gid = 4},
    {.name = "InfiniBand",
     .spoil =
         [](FakeDevice& client, FakeDevice& worker) {
           to_infiniband(client, 17);
           to_infiniband(worker, 300);
         },
     .client_gid = 0,
     .worker_gid = 0,
     .global = false},
};

class UnlikeDevices : public EndpointsTest, public testing::WithParamInterface<Unlike> {
 protected:
  UnlikeDevices() : EndpointsTest(two(GetParam().spoil)) {}

  static const test::FakeGid& gid(const FakeDevice& device, std::uint32_t index) {
    for (const test::FakeGid& each : device.ports[0].gids)
      if (each.index == index) return each;
    throw std::out_of_range("the table names a GID that there is not");
  }

  // Of the ends on `name`, whose queue pairs start `reads_out` READs, and whose peer has `peer`.
  void expect_route(const std::string& name, std::uint8_t reads_out, std::uint8_t reads_in,
                    std::uint32_t own_gid, const FakeDevice& peer, std::uint32_t peer_gid) {
    const std::vector<std::uint32_t> numbers = fabric_.queue_pairs(name);
    EXPECT_EQ(numbers.size(), 4u) << "two for each plane";
    for (const std::uint32_t number : numbers) {
      const ibv_qp_attr set = fabric_.attributes(number);
      EXPECT_EQ(set.path_mtu, GetParam().mtu);
      EXPECT_EQ(set.max_rd_atomic, reads_out);
      EXPECT_EQ(set.max_dest_rd_atomic, reads_in);
      EXPECT_EQ(set.ah_attr.is_global, GetParam().global ? 1 : 0);
      if (GetParam().global) {
        EXPECT_EQ(set.ah_attr.grh.sgid_index, own_gid);
        EXPECT_EQ(std::memcmp(set.ah_attr.grh.dgid.raw, gid(peer, peer_gid).gid.raw, 16), 0) << name;
      } else {
        EXPECT_EQ(set.ah_attr.dlid, peer.ports[0].lid);
      }
    }
  }
};

TEST_P(UnlikeDevices, QueuePairsAreToldWhatFitsBoth) {
  const std::vector<FakeDevice> devices = two(GetParam().spoil);
  const Unlike& wanted = GetParam();
  expect_route("fake0", wanted.client_reads, wanted.worker_reads, wanted.client_gid, devices[1],
               wanted.worker_gid);
  expect_route("fake1", wanted.worker_reads, wanted.client_reads, wanted.worker_gid, devices[0],
               wanted.client_gid);
}

// So much that both producers hold, and payload of all sizes, while nothing looks at time.
TEST_P(UnlikeDevices, EverythingGoesBothWays) {
  fabric_.set_jitter(std::chrono::microseconds(20));
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{4096}, std::size_t{3} << 20}) {
    const std::vector<std::byte> out = test::pattern(bytes, 1), back = test::pattern(bytes, 2);
    std::vector<std::byte> at_worker(bytes), at_client(bytes);
    std::vector<BulkCompletion> ends(4);
    ASSERT_TRUE(pair_.client->bulk().send(1, out, ends[0]).is_ok());
    ASSERT_TRUE(pair_.client->bulk().receive(2, at_client, ends[1]).is_ok());
    ASSERT_TRUE(pair_.server->bulk().send(2, back, ends[2]).is_ok());
    ASSERT_TRUE(pair_.server->bulk().receive(1, at_worker, ends[3]).is_ok());
    ASSERT_TRUE(move_until_done(ends));
    EXPECT_EQ(test::find_mismatch(at_worker, 1), test::kNoMismatch) << bytes;
    EXPECT_EQ(test::find_mismatch(at_client, 2), test::kNoMismatch) << bytes;
  }
  Peer client(std::move(pair_.client)), worker(std::move(pair_.server));
  constexpr std::uint32_t kMessages = 1000;
  for (std::uint32_t id = 1; id <= kMessages; ++id) {
    ASSERT_TRUE(client.send(1, id, test::pattern(id % 700, id)).is_ok());
    ASSERT_TRUE(worker.send(1, id, test::pattern(id % 700, id)).is_ok());
  }
  for (std::uint32_t id = 1; id <= kMessages; ++id) {
    for (Peer* const peer : {&client, &worker}) {
      Result<test::Message> message = peer->receive();
      ASSERT_TRUE(message.is_ok()) << message.status().to_string();
      ASSERT_EQ(message->header.request_id, id);
      ASSERT_EQ(test::find_mismatch(message->payload, id), test::kNoMismatch);
    }
  }
  EXPECT_GT(fabric_.counters().executed[IBV_WR_RDMA_READ], 0u);
}

INSTANTIATE_TEST_SUITE_P(All, UnlikeDevices, testing::ValuesIn(kUnlike),
                         [](const testing::TestParamInfo<Unlike>& each) {
                           return std::string(each.param.name);
                         });

// --- That do not meet -------------------------------------------------------------------------------------

struct Strange {
  const char* name;
  Spoil spoil;
  Code code;  // at the client
  const char* words;
};

const Strange kStrangers[] = {
    {"OneByGidOneByLid", [](FakeDevice& client, FakeDevice&) { to_infiniband(client, 17); },
     Code::kUnavailable, "one end is found by GID, the other by LID"},
    {"TheClientStartsNoReads",
     [](FakeDevice& client, FakeDevice&) { limits(client).max_qp_init_rd_atom = 0; }, Code::kUnavailable,
     "the peer's device starts no READs"},
    {"TheWorkerStartsNoReads",
     [](FakeDevice&, FakeDevice& worker) { limits(worker).max_qp_init_rd_atom = 0; }, Code::kUnavailable,
     "fake1, port 1, GID 2 ::ffff:10.9.0.2 (RoCE v2) starts no READs"},
    {"TheClientAnswersNoReads", [](FakeDevice& client, FakeDevice&) { limits(client).max_qp_rd_atom = 0; },
     Code::kProtocol, "answers no READs"},
    {"TheWorkerAnswersNoReads", [](FakeDevice&, FakeDevice& worker) { limits(worker).max_qp_rd_atom = 0; },
     Code::kUnavailable, "fake1, port 1, GID 2 ::ffff:10.9.0.2 (RoCE v2) answers no READs"},
    {"GidsOfTypesThatDoNotMeet", [](FakeDevice& client, FakeDevice&) { port(client).gids.resize(1); },
     Code::kPeerLost, "the peer does not answer); from fake0, port 1, GID 0 fe80::1 (RoCE v1)"},
};

class Strangers : public EndpointsTest, public testing::WithParamInterface<Strange> {
 protected:
  Strangers() : EndpointsTest(two(GetParam().spoil)) {}
  void SetUp() override {}
};

TEST_P(Strangers, SayWhatIsMissing) {
  const Status status = connect({}, {});
  EXPECT_EQ(status.code(), GetParam().code) << status.to_string();
  EXPECT_NE(status.message().find(GetParam().words), std::string::npos) << status.to_string();
}

INSTANTIATE_TEST_SUITE_P(All, Strangers, testing::ValuesIn(kStrangers),
                         [](const testing::TestParamInfo<Strange>& each) {
                           return std::string(each.param.name);
                         });

}  // namespace
}  // namespace tf::rdma
