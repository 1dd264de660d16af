// SPDX-License-Identifier: Apache-2.0
#include "rdma/device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/verbs/fake_fabric.h"

namespace tf::rdma {
namespace {

using test::fake_gid;
using test::FakeDevice;
using test::FakeFabric;

class DeviceTest : public ::testing::Test {
 protected:
  // Opens what `devices` have with these values of the environment's variables.
  Result<std::unique_ptr<Device>> open(std::vector<FakeDevice> devices, const std::string& name = "",
                                       const std::string& gid = "") {
    device.reset();
    fabric = std::make_unique<FakeFabric>(std::move(devices));
    const Result<DeviceOptions> options = parse_device_options(name, gid);
    if (!options) return options.status();
    return Device::open(*fabric->verbs(), options.value());
  }
  void expect_open(std::vector<FakeDevice> devices, const std::string& what, const std::string& name = "",
                   const std::string& gid = "") {
    Result<std::unique_ptr<Device>> opened = open(std::move(devices), name, gid);
    ASSERT_TRUE(opened.is_ok()) << opened.status().to_string();
    device = std::move(opened.value());
    EXPECT_EQ(device->describe(), what);
  }
  void expect_failure(std::vector<FakeDevice> devices, Code code, const std::vector<std::string>& parts,
                      const std::string& name = "", const std::string& gid = "") {
    const Status status = open(std::move(devices), name, gid).status();
    EXPECT_EQ(status.code(), code) << status.to_string();
    for (const std::string& part : parts)
      EXPECT_NE(status.message().find(part), std::string::npos) << part << "\nin: " << status.message();
    EXPECT_EQ(fabric->live_objects(), 0u) << "what was looked at is closed";
  }
  void TearDown() override {
    device.reset();
    if (fabric == nullptr) return;
    EXPECT_EQ(fabric->live_objects(), 0u);
    EXPECT_TRUE(fabric->violations().empty());
  }

  static std::vector<FakeDevice> two() { return {FakeDevice::make(0), FakeDevice::make(1)}; }
  static FakeDevice infiniband() {
    FakeDevice device = FakeDevice::make(0);
    device.ports[0].link_layer = IBV_LINK_LAYER_INFINIBAND;
    device.ports[0].lid = 17;
    device.ports[0].gids = {{0, fake_gid("fe80::1"), IBV_GID_TYPE_IB},
                            {1, fake_gid("fd00::1"), IBV_GID_TYPE_IB}};
    return device;
  }

  std::unique_ptr<FakeFabric> fabric;
  std::unique_ptr<Device> device;
};

TEST_F(DeviceTest, TakesTheFirstThatCanBeUsed) {
  expect_open(two(), "fake0, port 1, GID 2 ::ffff:10.9.0.1 (RoCE v2)");
  EXPECT_NE(device->pd(), nullptr);
  EXPECT_EQ(device->pd()->context, device->context());
  EXPECT_EQ(fabric->live_objects(), 2u) << "context and domain; the others are closed";

  auto devices = two();
  devices[0].ports[0].state = IBV_PORT_DOWN;
  expect_open(devices, "fake1, port 1, GID 2 ::ffff:10.9.0.2 (RoCE v2)");
  devices[0].ports.push_back(devices[1].ports[0]);
  expect_open(devices, "fake0, port 2, GID 2 ::ffff:10.9.0.2 (RoCE v2)");
  devices[0].transport_type = IBV_TRANSPORT_IWARP;
  expect_open(devices, "fake1, port 1, GID 2 ::ffff:10.9.0.2 (RoCE v2)");
}

TEST_F(DeviceTest, PrefersGidsThatGoFar) {
  auto devices = two();
  auto& gids = devices[0].ports[0].gids;
  gids = {{0, fake_gid("fe80::1"), IBV_GID_TYPE_ROCE_V1},  {1, fake_gid("fe80::1"), IBV_GID_TYPE_ROCE_V2},
          {4, fake_gid("10.9.0.1"), IBV_GID_TYPE_ROCE_V1}, {5, fake_gid("fd00::1"), IBV_GID_TYPE_ROCE_V2},
          {6, fake_gid("10.9.0.1"), IBV_GID_TYPE_ROCE_V2}, {7, fake_gid("10.8.0.1"), IBV_GID_TYPE_ROCE_V2}};
  const auto expect_chosen = [&](std::uint32_t index) {
    const Result<std::unique_ptr<Device>> opened = open(devices);
    ASSERT_TRUE(opened.is_ok());
    EXPECT_EQ(opened.value()->path().gid.index, index);
    EXPECT_TRUE(opened.value()->path().is_global);
    EXPECT_EQ(opened.value()->path().lid, 0);
  };
  expect_chosen(6);
  gids.resize(4);
  expect_chosen(5);
  gids.resize(3);
  expect_chosen(1);
  gids.resize(1);
  expect_chosen(0);
}

TEST_F(DeviceTest, InfiniBandIsFoundByItsLid) {
  expect_open({infiniband()}, "fake0, port 1, GID 0 fe80::1 (InfiniBand)");
  EXPECT_EQ(device->path().lid, 17);
  EXPECT_FALSE(device->path().is_global);
  expect_open({infiniband()}, "fake0, port 1, GID 1 fd00::1 (InfiniBand)", "", "1");
  EXPECT_TRUE(device->path().is_global) << "asked for, as for another subnet";
}

TEST_F(DeviceTest, TheEnvironmentChooses) {
  expect_open(two(), "fake1, port 1, GID 2 ::ffff:10.9.0.2 (RoCE v2)", "fake1");
  expect_open(two(), "fake1, port 1, GID 0 fe80::2 (RoCE v1)", "fake1:1", "0");
  auto devices = two();
  devices[0].ports.push_back(FakeDevice::make(7).ports[0]);
  expect_open(devices, "fake0, port 2, GID 2 ::ffff:10.9.0.8 (RoCE v2)", "fake0:2");
}

TEST_F(DeviceTest, SaysWhatIsWrongAndWhatThereIs) {
  const std::string second = "fake1: port 1 active, Ethernet, MTU 4096; GID 0 fe80::2 (RoCE v1), GID 1 ";
  expect_failure({}, Code::kUnavailable, {"no RDMA device can be used; there are no RDMA devices"});
  expect_failure(two(), Code::kInvalidArgument, {"TF_RDMA_DEVICE: there is no device \"mlx5_0\"", second},
                 "mlx5_0");
  expect_failure(two(), Code::kInvalidArgument, {"fake1 cannot be used: TF_RDMA_DEVICE: there is no port 2"},
                 "fake1:2");
  expect_failure(two(), Code::kInvalidArgument, {"TF_RDMA_GID_INDEX: there is no GID 9", second}, "", "9");
  auto devices = two();
  devices[0].ports[0].state = IBV_PORT_DOWN;
  devices[1].ports[0].gids.clear();
  expect_failure(devices, Code::kUnavailable,
                 {"no RDMA device can be used", "fake0: port 1 down", "fake1: port 1 active", "no GIDs"});
  expect_failure(devices, Code::kUnavailable, {"fake0 cannot be used: port 1 is not active"}, "fake0");
  expect_failure(devices, Code::kUnavailable, {"fake1 cannot be used: the port has no GID"}, "fake1");
  devices[0].transport_type = IBV_TRANSPORT_IWARP;
  expect_failure(devices, Code::kUnavailable,
                 {"fake0 cannot be used: it is neither", "fake0: neither InfiniBand nor RoCE"}, "fake0");
}

TEST_F(DeviceTest, TextThatMeansNothingIsRefused) {
  for (const char* const name : {":1", "mlx5_0:", "mlx5_0:0", "mlx5_0:x", "mlx5_0:256", "mlx5_0:1:2"})
    EXPECT_EQ(parse_device_options(name, "").code(), Code::kInvalidArgument) << name;
  for (const char* const gid : {"x", "-1", "256", "1 ", "0x1"})
    EXPECT_EQ(parse_device_options("", gid).code(), Code::kInvalidArgument) << gid;
  const DeviceOptions options = parse_device_options("mlx5_0:2", "3").value();
  EXPECT_EQ(options.name, "mlx5_0");
  EXPECT_EQ(options.port, 2);
  EXPECT_EQ(options.gid_index, 3u);
}

TEST_F(DeviceTest, ReadsLimits) {
  FakeDevice fake = FakeDevice::make(0);
  ibv_device_attr_ex& attributes = fake.attributes;
  attributes.orig_attr.max_qp_rd_atom = 300;
  attributes.orig_attr.max_qp_init_rd_atom = 2;
  attributes.odp_caps.general_caps = IBV_ODP_SUPPORT;
  fake.ports[0].max_message = 1u << 16;
  fake.ports[0].active_mtu = IBV_MTU_2048;
  fake.max_inline = 100;
  expect_open({fake}, "fake0, port 1, GID 2 ::ffff:10.9.0.1 (RoCE v2)");
  EXPECT_EQ(device->limits().reads_answered, 255);
  EXPECT_EQ(device->limits().reads_asked, 2);
  EXPECT_EQ(device->limits().message_bytes, 1u << 16);
  EXPECT_EQ(device->limits().inline_bytes, 64u) << "the largest half of a half that is granted";
  EXPECT_EQ(mtu_bytes(device->path().mtu), 2048u);
  EXPECT_FALSE(device->limits().on_demand) << "not over RC";

  attributes.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
  fake.max_inline = 0;
  expect_open({fake}, "fake0, port 1, GID 2 ::ffff:10.9.0.1 (RoCE v2)");
  EXPECT_TRUE(device->limits().on_demand);
  EXPECT_EQ(device->limits().inline_bytes, 0u);
}

TEST_F(DeviceTest, ADeviceThatGivesNothingIsAFailure) {
  fabric = std::make_unique<FakeFabric>();
  fabric->refuse_create_cq(ENOMEM);
  EXPECT_EQ(Device::open(*fabric->verbs(), {}).code(), Code::kResourceExhausted);
  fabric->refuse_create_qp(EPERM, 100);
  EXPECT_EQ(Device::open(*fabric->verbs(), {}).code(), Code::kPermission);
  EXPECT_EQ(fabric->live_objects(), 0u);
}

// The table with a port that tells nothing, and with a device that has no protection domain left.
TEST_F(DeviceTest, WhatADeviceDoesNotTellOrGiveIsNamed) {
  fabric = std::make_unique<FakeFabric>();
  Verbs verbs = *fabric->verbs();
  verbs.query_port = [](ibv_context*, std::uint8_t, ibv_port_attr*) { return EIO; };
  for (const char* const name : {"", "fake1"}) {
    const Status mute = Device::open(verbs, {.name = name}).status();
    EXPECT_FALSE(mute.is_ok());
    EXPECT_NE(mute.message().find("fake1 does not report the state of port 1"), std::string::npos)
        << mute.message();
    EXPECT_EQ(fabric->live_objects(), 0u);
  }
  EXPECT_EQ(describe_devices(verbs).size(), 2u);

  verbs = *fabric->verbs();
  verbs.alloc_pd = [](ibv_context*) -> ibv_pd* {
    errno = ENOMEM;
    return nullptr;
  };
  Status poor = Device::open(verbs, {}).status();
  EXPECT_EQ(poor.code(), Code::kResourceExhausted);
  EXPECT_NE(poor.message().find("fake0 gives no protection domain"), std::string::npos) << poor.message();
  verbs.alloc_pd = [](ibv_context*) -> ibv_pd* { return nullptr; };  // and does not say why
  poor = Device::open(verbs, {}).status();
  EXPECT_FALSE(poor.is_ok());
  EXPECT_EQ(fabric->live_objects(), 0u);
}

// The table without a device list, and with a device that cannot be opened.
TEST_F(DeviceTest, WithoutVerbsInTheKernelOrAccess) {
  fabric = std::make_unique<FakeFabric>();
  Verbs verbs = *fabric->verbs();
  verbs.open_device = [](ibv_device*) -> ibv_context* {
    errno = EACCES;
    return nullptr;
  };
  const Status denied = Device::open(verbs, {.name = "fake1"}).status();
  EXPECT_EQ(denied.code(), Code::kPermission);
  EXPECT_NE(denied.message().find("fake1 cannot be opened (/dev/infiniband/"), std::string::npos)
      << denied.message();
  EXPECT_EQ(describe_devices(verbs).size(), 2u);
  verbs.get_device_list = [](int*) -> ibv_device** {
    errno = ENOSYS;
    return nullptr;
  };
  EXPECT_EQ(Device::open(verbs, {}).code(), Code::kUnavailable);
  EXPECT_EQ(describe_devices(verbs),
            std::vector<std::string>{"the kernel offers no RDMA (is ib_uverbs loaded?)"});
}

// The kernel keeps devices without hardware in a folder of their own, to which what it lists are links.
TEST_F(DeviceTest, KnowsSoftwareFromHardware) {
  const std::filesystem::path top =
      std::filesystem::path(testing::TempDir()) / ("devices_" + std::to_string(::getpid()));
  for (const char* const place : {"devices/virtual/infiniband/soft", "devices/pci0000:00/infiniband/hard"}) {
    std::filesystem::create_directories(top / place);
    const auto link = top / std::filesystem::path(place).filename();
    std::filesystem::create_directory_symlink(top / place, link);
  }
  EXPECT_TRUE(is_software_device((top / "soft").c_str()));
  EXPECT_FALSE(is_software_device((top / "hard").c_str()));
  EXPECT_FALSE(is_software_device((top / "none").c_str()));
  EXPECT_FALSE(is_software_device(""));
  std::filesystem::remove_all(top);
}

TEST_F(DeviceTest, Describes) {
  auto devices = two();
  devices[0] = infiniband();
  devices[0].ports[0].active_mtu = IBV_MTU_256;
  devices[1].ports[0].gids.resize(1);
  devices[1].ports.push_back({});
  fabric = std::make_unique<FakeFabric>(std::move(devices));
  const std::vector<std::string> lines = describe_devices(*fabric->verbs());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0],
            "fake0: port 1 active, InfiniBand, MTU 256, LID 17; GID 0 fe80::1 (InfiniBand), GID 1 fd00::1 "
            "(InfiniBand)");
  EXPECT_EQ(
      lines[1],
      "fake1: port 1 active, Ethernet, MTU 4096; GID 0 fe80::2 (RoCE v1) | port 2 active, Ethernet, MTU "
      "4096; no GIDs");
  fabric = std::make_unique<FakeFabric>(std::vector<FakeDevice>());
  EXPECT_EQ(describe_devices(*fabric->verbs()), std::vector<std::string>{"no RDMA devices"});
}

}  // namespace
}  // namespace tf::rdma
