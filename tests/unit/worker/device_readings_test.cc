// SPDX-License-Identifier: Apache-2.0
// What the SMI process tells the supervisor: the page between them, who writes it, and the metrics made of
// it.
#include "worker/base/device_readings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "worker/smi/readings.h"
#include "worker/supervisor/smi_families.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;
using tf::smi::kUnknown;
using Clock = DeviceReadings::Clock;

const std::vector<WatchedDevice> kTwo = {{"0000:03:00.0", "gfx942:sramecc+"}, {"", "x86_64-cpu"}};

DeviceReading reading_of(std::uint64_t number, Clock::time_point when) {
  DeviceReading reading;
  reading.sample.core_busy_percent = reading.sample.fan_level = reading.fan_most = number;
  reading.sample.time_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(when.time_since_epoch()).count());
  return reading;
}

class Readings : public ::testing::Test {
 protected:
  void SetUp() override {
    net::OwnedFd file;
    Result<DeviceReadings> made = DeviceReadings::make(kTwo, file);
    ASSERT_TRUE(made) << made.status().to_string();
    reader_ = std::move(*made);
    Result<DeviceReadings> opened = DeviceReadings::open(std::move(file));
    ASSERT_TRUE(opened) << opened.status().to_string();
    writer_ = std::move(*opened);
  }

  DeviceReadings reader_;
  DeviceReadings writer_;
  const Clock::time_point now_ = Clock::now();
};

TEST_F(Readings, BothEndsSeeTheDevices) {
  EXPECT_EQ(reader_.devices(), kTwo);
  EXPECT_EQ(writer_.devices(), kTwo);
  EXPECT_TRUE(DeviceReadings().devices().empty());
}

TEST_F(Readings, ThereIsNoneBeforeTheFirst) {
  EXPECT_FALSE(reader_.read(0, now_));
  writer_.write(1, reading_of(7, now_));
  EXPECT_FALSE(reader_.read(0, now_));
  ASSERT_TRUE(reader_.read(1, now_));
  EXPECT_EQ(reader_.read(1, now_)->sample.core_busy_percent, 7U);
  EXPECT_EQ(reader_.read(1, now_)->fan_most, 7U);
  EXPECT_FALSE(reader_.read(2, now_)) << "no such device";
  EXPECT_FALSE(DeviceReadings().read(0, now_));
}

TEST_F(Readings, AnOldOneVanishes) {
  writer_.write(0, reading_of(7, now_));
  EXPECT_TRUE(reader_.read(0, now_ + kReadingAgeMax));
  EXPECT_FALSE(reader_.read(0, now_ + kReadingAgeMax + 1ns));
  writer_.write(0, reading_of(8, now_ + 5s));
  EXPECT_TRUE(reader_.read(0, now_ + kReadingAgeMax + 1ns));
}

TEST_F(Readings, ARoundIsHeardOf) {
  EXPECT_FALSE(reader_.had_round(now_, 60s));
  writer_.note_round(now_);
  EXPECT_TRUE(reader_.had_round(now_ + 59s, 60s));
  EXPECT_FALSE(reader_.had_round(now_ + 61s, 60s));
  EXPECT_FALSE(DeviceReadings().had_round(now_, 60s));
}

TEST_F(Readings, EachIsWhole) {
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t number = 0; !stop.load(); ++number) writer_.write(0, reading_of(number, now_));
  });
  std::size_t seen = 0;
  std::uint64_t last = 0;
  for (int look = 0; look < 200'000 || seen == 0; ++look) {
    const std::optional<DeviceReading> reading = reader_.read(0, now_);
    if (!reading) continue;
    ++seen;
    ASSERT_EQ(reading->sample.core_busy_percent, reading->fan_most);
    ASSERT_EQ(reading->sample.core_busy_percent, reading->sample.fan_level);
    ASSERT_GE(reading->fan_most, last);
    last = reading->fan_most;
  }
  stop.store(true);
  writer.join();
}

TEST(ReadingsPage, OfAnotherSizeIsRefused) {
  net::OwnedFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 64), 0);
  EXPECT_EQ(DeviceReadings::open(std::move(file)).code(), Code::kProtocol);
}

TEST(ReadingsPage, LongTextsAndManyDevicesAreCut) {
  net::OwnedFd file;
  const std::vector<WatchedDevice> many(protocol::kDevicesMax + 3,
                                        {std::string(100, 'p'), std::string(1000, 'a')});
  Result<DeviceReadings> made = DeviceReadings::make(many, file);
  ASSERT_TRUE(made);
  const std::vector<WatchedDevice> kept = made->devices();
  ASSERT_EQ(kept.size(), protocol::kDevicesMax);
  EXPECT_EQ(kept.front().pci, std::string(kAddressBytesMax - 1, 'p'));
  EXPECT_EQ(kept.back().architecture, std::string(kArchitectureBytesMax - 1, 'a'));
}

// Knows the devices whose address it has.
class FakeLibrary final : public tf::smi::Runtime {
 public:
  explicit FakeLibrary(std::set<std::string> known) : known_(std::move(known)) {}
  std::string_view name() const override { return "fake"; }
  Status describe(const tf::smi::Target& target, tf::smi::Facts& facts) override {
    facts.fan_most = 255;
    return known(target);
  }
  Status sample(const tf::smi::Target& target, tf::smi::Sample& sample) override {
    sample.power_uw = ++asked_;
    return known(target);
  }
  Status find_link(const tf::smi::Target&, const tf::smi::Target&, tf::smi::Link&) override {
    return Status::ok();
  }

 private:
  Status known(const tf::smi::Target& target) const {
    if (known_.contains(target.pci)) return Status::ok();
    return {Code::kUnavailable, "no device \"" + target.pci + "\""};
  }
  const std::set<std::string> known_;
  std::uint64_t asked_ = 0;
};

TEST_F(Readings, ADeviceThatTheLibraryLacksLeavesTheOthers) {
  FakeLibrary library({"0000:03:00.0"});
  smi::ReadingsWriter writer(library, writer_);
  const Status written = writer.write();
  EXPECT_EQ(written.message(), "no device \"\"");
  ASSERT_TRUE(reader_.read(0, Clock::now()));
  EXPECT_EQ(reader_.read(0, Clock::now())->sample.power_uw, 1U);
  EXPECT_EQ(reader_.read(0, Clock::now())->fan_most, 255U);
  EXPECT_FALSE(reader_.read(1, Clock::now()));
  EXPECT_TRUE(reader_.had_round(Clock::now(), 60s)) << "it has answered";
  FakeLibrary all({"0000:03:00.0", ""});
  EXPECT_TRUE(smi::ReadingsWriter(all, writer_).write());
  EXPECT_TRUE(reader_.read(1, Clock::now()));
}

double value_of(const MetricFamilies& families, const std::string& name, const std::string& device,
                const std::string& word = "") {
  const auto family = std::ranges::find(families, "hip_remote_smi_" + name, &MetricFamily::name);
  if (family == families.end()) return -1000;
  for (const MetricFamily::Sample& sample : family->samples)
    if (sample.labels.front().second == device && (word.empty() || sample.labels.back().second == word))
      return sample.value;
  return -1000;
}

TEST(SmiFamilies, AreInBaseUnits) {
  DeviceReading reading;
  reading.sample.core_busy_percent = 37;
  reading.sample.power_uw = 250'500'000;
  reading.sample.energy_uj = 9'000'000;
  reading.sample.edge_temperature_mc = static_cast<std::uint64_t>(-5'500);
  reading.sample.hotspot_temperature_mc = 61'000;
  reading.sample.core_clock_hz = 1'980'000'000;
  reading.sample.memory_used_bytes = 400;
  reading.sample.errors_uncorrected = 3;
  reading.sample.fan_level = 51;
  reading.fan_most = 255;
  const MetricFamilies families = smi_families({{4, "0000:03:00.0", 1000, reading}, {5, "", 0, {}}});
  EXPECT_EQ(value_of(families, "up", "4"), 1);
  EXPECT_EQ(value_of(families, "up", "5"), 0);
  EXPECT_DOUBLE_EQ(value_of(families, "busy_ratio", "4", "compute"), 0.37);
  EXPECT_DOUBLE_EQ(value_of(families, "power_watts", "4"), 250.5);
  EXPECT_DOUBLE_EQ(value_of(families, "energy_joules_total", "4"), 9);
  EXPECT_DOUBLE_EQ(value_of(families, "temperature_celsius", "4", "edge"), -5.5);
  EXPECT_DOUBLE_EQ(value_of(families, "temperature_celsius", "4", "hotspot"), 61);
  EXPECT_EQ(value_of(families, "clock_hertz", "4", "core"), 1.98e9);
  EXPECT_EQ(value_of(families, "memory_bytes", "4", "device"), 1000);
  EXPECT_EQ(value_of(families, "memory_used_bytes", "4", "device"), 400);
  EXPECT_EQ(value_of(families, "memory_errors_total", "4", "uncorrected"), 3);
  EXPECT_DOUBLE_EQ(value_of(families, "fan_ratio", "4"), 0.2);
}

TEST(SmiFamilies, WhatIsNotKnownIsAbsent) {
  const MetricFamilies nothing = smi_families({{0, "", 1000, DeviceReading()}});
  ASSERT_EQ(nothing.size(), 2U) << "whether it is up, and how much memory it has";
  EXPECT_EQ(nothing[0].name, "hip_remote_smi_up");
  EXPECT_EQ(nothing[1].name, "hip_remote_smi_memory_bytes");
  const MetricFamilies stale = smi_families({{0, "", 1000, std::nullopt}});
  ASSERT_EQ(stale.size(), 1U);
  EXPECT_EQ(stale[0].samples.at(0).value, 0);
  EXPECT_TRUE(smi_families({}).empty());
}

// All numbers known, of as many devices as there may be.
TEST(SmiFamilies, NamesAreThoseOfPrometheusAndSeriesAreBounded) {
  DeviceReading reading;
  std::array<std::uint64_t, sizeof reading / sizeof(std::uint64_t)> ones;
  ones.fill(1);
  std::memcpy(static_cast<void*>(&reading), ones.data(), sizeof reading);
  std::vector<ShownReading> devices;
  for (int device = 0; device < static_cast<int>(protocol::kDevicesMax); ++device)
    devices.push_back({device, "0000:03:00.0", 1, reading});
  std::size_t series = 0;
  for (const MetricFamily& family : smi_families(devices)) {
    EXPECT_TRUE(family.name.starts_with("hip_remote_smi_")) << family.name;
    EXPECT_EQ(family.name.ends_with("_total"), family.type == MetricFamily::Type::kCounter) << family.name;
    EXPECT_FALSE(family.help.empty()) << family.name;
    series += family.samples.size();
  }
  EXPECT_EQ(series, 22 * protocol::kDevicesMax);
}

}  // namespace
}  // namespace tf::worker
