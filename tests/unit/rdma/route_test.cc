// SPDX-License-Identifier: Apache-2.0
// What an end makes of the other's Hello: the way to it, or the reason why there is none.
#include <cstring>
#include <functional>
#include <string>

#include "rdma/handshake.h"
#include "tests/unit/rdma/plane_pair.h"

namespace tf::rdma {
namespace {

using test::FakeDevice;

Hello usual_hello() {
  Hello hello;
  hello.gid[15] = 9;
  hello.lid = 300;
  hello.mtu = IBV_MTU_2048;
  hello.global = 1;
  hello.reads_asked = 6;
  hello.reads_answered = 7;
  return hello;
}

struct Way {
  const char* what;
  std::function<void(FakeDevice&, DeviceOptions&, Hello&)> spoil;
  std::function<void(Route&)> expect;  // changes to the usual; none: there is no way
  const char* words = "";
};

FakeDevice& to_infiniband(FakeDevice& device) {
  device.ports[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
  device.ports[0].lid = 17;
  return device;
}
ibv_device_attr& limits(FakeDevice& device) { return device.attributes.orig_attr; }

const Way kWays[] = {
    {"usual", [](auto&, auto&, Hello&) {}, [](Route&) {}},
    {"a smaller MTU here", [](FakeDevice& own, auto&, Hello&) { own.ports[0].active_mtu = IBV_MTU_512; },
     [](Route& route) { route.mtu = IBV_MTU_512; }},
    {"a smaller MTU there", [](auto&, auto&, Hello& peer) { peer.mtu = IBV_MTU_256; },
     [](Route& route) { route.mtu = IBV_MTU_256; }},
    {"fewer READs asked here", [](FakeDevice& own, auto&, Hello&) { limits(own).max_qp_init_rd_atom = 2; },
     [](Route& route) { route.reads_out = 2; }},
    {"fewer READs answered here", [](FakeDevice& own, auto&, Hello&) { limits(own).max_qp_rd_atom = 3; },
     [](Route& route) { route.reads_in = 3; }},
    {"one READ asked there", [](auto&, auto&, Hello& peer) { peer.reads_asked = 1; },
     [](Route& route) { route.reads_in = 1; }},
    {"any number there", [](auto&, auto&, Hello& peer) { peer.reads_asked = peer.reads_answered = 255; },
     [](Route& route) { route.reads_in = route.reads_out = 16; }},
    {"another port and GID",
     [](FakeDevice& own, DeviceOptions& options, Hello&) {
       own.ports.push_back(FakeDevice::make(5).ports[0]);
       options = {.name = own.name, .port = 2, .gid_index = 1};
     },
     [](Route& route) {
       route.port = 2;
       route.gid_index = 1;
     }},
    {"InfiniBand",
     [](FakeDevice& own, auto&, Hello& peer) {
       to_infiniband(own);
       peer.global = 0;
     },
     [](Route& route) {
       route.global = false;
       route.gid_index = 0;
     }},
    {"InfiniBand over a router",
     [](FakeDevice& own, DeviceOptions& options, Hello&) {
       to_infiniband(own);
       options.gid_index = 1;
     },
     [](Route& route) { route.gid_index = 1; }},
    {"found by LID only there", [](auto&, auto&, Hello& peer) { peer.global = 0; }, nullptr,
     "the other by LID"},
    {"found by LID only here", [](FakeDevice& own, auto&, Hello&) { to_infiniband(own); }, nullptr,
     "the other by LID"},
    {"no READs asked here", [](FakeDevice& own, auto&, Hello&) { limits(own).max_qp_init_rd_atom = 0; },
     nullptr, "(RoCE v2) starts no READs"},
    {"no READs answered here", [](FakeDevice& own, auto&, Hello&) { limits(own).max_qp_rd_atom = 0; },
     nullptr, "(RoCE v2) answers no READs"},
    {"no READs asked there", [](auto&, auto&, Hello& peer) { peer.reads_asked = 0; }, nullptr,
     "the peer's device starts no READs"},
};

TEST(Route, IsWhatFitsBothEnds) {
  for (const Way& way : kWays) {
    FakeDevice own = FakeDevice::make(0);
    DeviceOptions options;
    Hello peer = usual_hello();
    way.spoil(own, options, peer);
    test::FakeFabric fabric({own});
    Result<std::unique_ptr<Device>> device = Device::open(*fabric.verbs(), options);
    ASSERT_TRUE(device.is_ok()) << way.what << device.status().to_string();
    Result<Route> route = route_between(**device, peer, {.ack_timeout = 17, .count = 5});
    if (!way.expect) {
      EXPECT_EQ(route.code(), Code::kUnavailable) << way.what;
      EXPECT_NE(route.status().message().find(way.words), std::string::npos) << route.status().to_string();
      continue;
    }
    ASSERT_TRUE(route.is_ok()) << way.what << route.status().to_string();
    Route wanted{.gid_index = 2,
                 .peer_lid = 300,
                 .mtu = IBV_MTU_2048,
                 .reads_out = 7,
                 .reads_in = 6,
                 .retries = {.ack_timeout = 17, .count = 5}};
    wanted.peer_gid.raw[15] = 9;
    way.expect(wanted);
    EXPECT_EQ(route->port, wanted.port) << way.what;
    EXPECT_EQ(route->gid_index, wanted.gid_index) << way.what;
    EXPECT_EQ(route->global, wanted.global) << way.what;
    EXPECT_EQ(std::memcmp(route->peer_gid.raw, wanted.peer_gid.raw, 16), 0) << way.what;
    EXPECT_EQ(route->peer_lid, wanted.peer_lid) << way.what;
    EXPECT_EQ(route->mtu, wanted.mtu) << way.what;
    EXPECT_EQ(route->reads_out, wanted.reads_out) << way.what;
    EXPECT_EQ(route->reads_in, wanted.reads_in) << way.what;
    EXPECT_EQ(route->retries.ack_timeout, wanted.retries.ack_timeout) << way.what;
    EXPECT_EQ(route->retries.count, wanted.retries.count) << way.what;
  }
}

// --- Planes -----------------------------------------------------------------------------------------------

TEST(PlaneFacts, ThatCannotBeAreRefused) {
  constexpr std::size_t kRing = 1 << 14;
  constexpr std::uint64_t kPart = kRing + 4096;  // a ring, or a mirror, and what is behind it
  constexpr std::uint64_t kTop = UINT64_MAX - kPart;
  struct Case {
    const char* words;  // none: it is possible
    std::function<void(PlaneFacts&)> spoil;
  };
  const Case cases[] = {
      {nullptr, [](PlaneFacts&) {}},
      {nullptr, [](PlaneFacts& facts) { facts.out_number = facts.in_packet = 0xffffff; }},
      {nullptr, [](PlaneFacts& facts) { facts.readable_address = facts.writable_address = 0; }},
      {nullptr, [](PlaneFacts& facts) { facts.readable_address = kTop / kLineBytes * kLineBytes; }},
      {nullptr, [](PlaneFacts& facts) { facts.readable_key = facts.writable_key = UINT32_MAX; }},
      {"ring has 8192 bytes", [](PlaneFacts& facts) { facts.ring_bytes = kRing / 2; }},
      {"ring has 32768 bytes", [](PlaneFacts& facts) { facts.ring_bytes = kRing * 2; }},
      {"ring has 0 bytes", [](PlaneFacts& facts) { facts.ring_bytes = 0; }},
      {"24 bits", [](PlaneFacts& facts) { facts.out_number = 1u << 24; }},
      {"24 bits", [](PlaneFacts& facts) { facts.out_packet = 1u << 24; }},
      {"24 bits", [](PlaneFacts& facts) { facts.in_number = 1u << 31; }},
      {"24 bits", [](PlaneFacts& facts) { facts.in_packet = UINT32_MAX; }},
      {"impossible addresses", [](PlaneFacts& facts) { facts.readable_address += 8; }},
      {"impossible addresses", [](PlaneFacts& facts) { facts.writable_address += kLineBytes / 2; }},
      {"impossible addresses",
       [](PlaneFacts& facts) { facts.readable_address = (kTop / kLineBytes + 1) * kLineBytes; }},
      {"impossible addresses", [](PlaneFacts& facts) { facts.writable_address = UINT64_MAX - kLineBytes + 1; }},
  };
  test::FakeFabric fabric;
  const Opened device(*fabric.verbs(), 0);
  const std::unique_ptr<Plane> plane = PlanePair::open(*fabric.verbs(), device, kRing);
  for (const Case& each : cases) {
    PlaneFacts facts = plane->facts();
    each.spoil(facts);
    const Status status = plane->check_facts(facts);
    if (each.words == nullptr) {
      EXPECT_TRUE(status.is_ok()) << status.to_string();
      continue;
    }
    EXPECT_EQ(status.code(), Code::kProtocol) << each.words;
    EXPECT_NE(status.message().find(each.words), std::string::npos) << status.to_string();
  }
}

}  // namespace
}  // namespace tf::rdma
