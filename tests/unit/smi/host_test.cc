// SPDX-License-Identifier: Apache-2.0
// The host as a device, on trees of files that look like /proc and /sys.
#include "smi/runtime/host.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "smi/runtime/files.h"

namespace tf::smi {
namespace {

namespace fs = std::filesystem;
using tf::smi::kUnknown;

class Host : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / "smi-host";
    fs::remove_all(root_);
    write("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1 1 1\n");
    write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    400 kB\n");
    write("proc/cpuinfo",
          "processor : 0\nvendor_id\t: GenuineIntel\nmicrocode\t: 0x2b\ncpu MHz\t\t: 2100.500\n");
    write("proc/sys/kernel/osrelease", "6.1.0-test\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  tf::smi::Sample sample(HostRuntime& host) {
    tf::smi::Sample sample = tf::smi::unknown_sample();
    EXPECT_TRUE(host.sample({}, sample).is_ok());
    return sample;
  }

  fs::path root_;
};

TEST_F(Host, LoadIsWhatWasBusySinceTheLastLook) {
  HostRuntime host(root_);
  write("proc/stat", "cpu  130 0 120 850 0 0 0 0 0 0\n");  // 50 busy of 100
  EXPECT_EQ(sample(host).core_busy_percent, 50u);
}

// A sample is answered again for 50 ms. Where the machine holds the test up for longer, the load is measured
// anew, as it should be, and the test tries once more.
TEST_F(Host, LoadThatWasJustMeasuredIsAnsweredAgain) {
  HostRuntime host(root_);
  bool again = false;
  for (int attempt = 1; attempt <= 20 && !again; ++attempt) {
    const auto write_ticks = [&](int busy, int idle) {
      write("proc/stat",
            "cpu  " + std::to_string(busy) + " 0 100 " + std::to_string(idle) + " 0 0 0 0 0 0\n");
    };
    write_ticks(100 + 100 * attempt, 800 + 8000 * (attempt - 1));
    const std::uint64_t first = sample(host).core_busy_percent;
    EXPECT_GT(first, 0u);
    write_ticks(100 + 100 * attempt, 800 + 8000 * attempt);
    again = sample(host).core_busy_percent == first;
  }
  EXPECT_TRUE(again);
}

TEST_F(Host, TicksThatGoBackwardsAreNoLoad) {
  HostRuntime host(root_);
  write("proc/stat", "cpu  1 0 1 8 0 0 0 0 0 0\n");
  EXPECT_EQ(sample(host).core_busy_percent, kUnknown);
}

TEST_F(Host, WhatIsNotThereIsUnknown) {
  fs::remove_all(root_ / "proc");
  HostRuntime host(root_);
  const tf::smi::Sample found = sample(host);
  EXPECT_EQ(found.core_busy_percent, kUnknown);
  EXPECT_EQ(found.edge_temperature_mc, kUnknown);
  EXPECT_EQ(found.power_uw, kUnknown);
  EXPECT_EQ(found.host_memory_total_bytes, kUnknown);
  EXPECT_EQ(found.core_clock_hz, kUnknown);
  EXPECT_EQ(found.fan_rpm, kUnknown);
}

std::uint64_t weight_of(HostRuntime& host) {
  Link link;
  link.weight = kUnknown;
  EXPECT_TRUE(host.find_link({}, {}, link).is_ok());
  return link.weight;
}

TEST_F(Host, DevicesAreAsFarApartAsTheFarthestMemory) {
  HostRuntime host(root_);
  EXPECT_EQ(weight_of(host), 10u) << "a kernel without NUMA";
  write("sys/devices/system/node/node0/distance", "nonsense\n");
  EXPECT_EQ(weight_of(host), kUnknown);
  write("sys/devices/system/node/node0/distance", "10\n");
  EXPECT_EQ(weight_of(host), 10u);
  write("sys/devices/system/node/node0/distance", "10 21\n");
  write("sys/devices/system/node/node1/distance", "32 10\n");
  EXPECT_EQ(weight_of(host), 32u);
  write("sys/devices/system/node/node1/distance", "nonsense\n");
  EXPECT_EQ(weight_of(host), 21u);
}

TEST_F(Host, MemoryAndClockOfTheHost) {
  HostRuntime host(root_);
  const tf::smi::Sample found = sample(host);
  EXPECT_EQ(found.host_memory_total_bytes, 1000u * 1024);
  EXPECT_EQ(found.host_memory_used_bytes, 600u * 1024);
  EXPECT_EQ(found.core_clock_hz, 2'100'500'000u);
  write("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1000000\n");
  write("sys/devices/system/cpu/cpufreq/policy1/scaling_cur_freq", "3000000\n");
  EXPECT_EQ(sample(host).core_clock_hz, 2'000'000'000u);
}

TEST_F(Host, TheProcessorsSensorIsPreferred) {
  write("sys/class/hwmon/hwmon0/name", "acpitz\n");
  write("sys/class/hwmon/hwmon0/temp1_input", "20000\n");
  write("sys/class/hwmon/hwmon0/fan1_input", "1200\n");
  write("sys/class/hwmon/hwmon1/name", "k10temp\n");
  write("sys/class/hwmon/hwmon1/temp1_input", "-1500\n");
  write("sys/class/hwmon/hwmon1/temp1_crit", "95000\n");
  HostRuntime host(root_);
  const tf::smi::Sample found = sample(host);
  EXPECT_EQ(tf::smi::as_signed(found.edge_temperature_mc), -1500);
  EXPECT_EQ(found.critical_temperature_mc, 95000u);
  EXPECT_EQ(found.fan_rpm, 1200u);
}

TEST_F(Host, PowerIsTheEnergyOfAllPackagesOverTime) {
  write("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
  write("sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "100000000\n");
  write("sys/class/powercap/intel-rapl:0:0/energy_uj", "77\n");
  write("sys/class/powercap/intel-rapl:1/energy_uj", "1000000\n");
  HostRuntime host(root_);
  write("sys/class/powercap/intel-rapl:0/energy_uj", "2000000\n");
  const tf::smi::Sample found = sample(host);
  EXPECT_EQ(found.energy_uj, 3'000'000u);
  EXPECT_EQ(found.power_cap_uw, 100'000'000u);
  ASSERT_NE(found.power_uw, kUnknown);
  EXPECT_GT(found.power_uw, 0u);
  EXPECT_LE(found.power_uw, 20'000'000u);  // one joule in at least 50 ms
}

TEST_F(Host, SaysWhatItIs) {
  HostRuntime host(root_);
  tf::smi::Facts facts = tf::smi::unknown_facts();
  ASSERT_TRUE(host.describe({}, facts).is_ok());
  EXPECT_EQ(tf::smi::text_of(facts.vendor), "GenuineIntel");
  EXPECT_EQ(tf::smi::text_of(facts.firmware), "0x2b");
  EXPECT_EQ(tf::smi::text_of(facts.driver), "6.1.0-test");
  EXPECT_EQ(facts.vendor_id, kUnknown);
  EXPECT_EQ(facts.core_clock_most_hz, kUnknown);
}

TEST_F(Host, PciFactsOfADevice) {
  write("sys/bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
  write("sys/bus/pci/devices/0000:03:00.0/numa_node", "-1\n");
  write("sys/bus/pci/devices/0000:03:00.0/max_link_speed", "16.0 GT/s PCIe\n");
  write("sys/bus/pci/devices/0000:03:00.0/max_link_width", "255\n");
  tf::smi::Facts facts = tf::smi::unknown_facts();
  describe_pci(root_, "0000:03:00.0", facts);
  EXPECT_EQ(facts.vendor_id, 0x1002u);
  EXPECT_EQ(facts.numa_node, kUnknown);
  EXPECT_EQ(facts.pcie_speed_max_mtps, 16000u);
  EXPECT_EQ(facts.pcie_width_max, kUnknown);
  describe_pci(root_, "../../../../etc", facts);  // no address: nothing is read
  EXPECT_EQ(facts.vendor_id, 0x1002u);
}

TEST(Values, TextsAreCutAndTerminated) {
  std::uint64_t words[2];
  tf::smi::set_text(words, "0123456789abcdefXYZ");
  EXPECT_EQ(tf::smi::text_of(words), "0123456789abcde");
  words[0] = words[1] = ~0ull;  // of a peer that terminates nothing
  EXPECT_EQ(tf::smi::text_of(words).size(), 16u);
}

}  // namespace
}  // namespace tf::smi
