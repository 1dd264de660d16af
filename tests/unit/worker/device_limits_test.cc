// SPDX-License-Identifier: Apache-2.0
// The file by which a manager of the host limits devices.
#include "hipcore/limits/device_limits.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tf::hipcore {
namespace {

namespace fs = std::filesystem;

class DeviceLimitsTest : public testing::Test {
 protected:
  DeviceLimitsTest() { fs::create_directory(folder_); }
  ~DeviceLimitsTest() override { fs::remove_all(folder_); }
  std::string path() const { return folder_ / "limits"; }

  const fs::path folder_ = fs::temp_directory_path() / ("device_limits_test." + std::to_string(::getpid()));
};

TEST(DeviceLimits, LinesAreUuidAndBytes) {
  const Result<std::vector<DeviceLimit>> parsed =
      parse_device_limits("# a comment\n\nGPU-00ab memory=1024\r\n  GPU-00cd\t memory=5 \nGPU-00AB memory=7");
  ASSERT_TRUE(parsed) << parsed.status().message();
  ASSERT_EQ(parsed.value().size(), 2u) << "the last line of a device holds, whatever the size of its letters";
  EXPECT_EQ(parsed.value()[0].device, device_number("gpu-00ab"));
  EXPECT_EQ(parsed.value()[0].memory_bytes, 7u);
}

TEST(DeviceLimits, WhatIsNotUnderstoodIsNamed) {
  for (const char* const line :
       {"GPU-1", "GPU-1 memory", "GPU-1 memory=", "GPU-1 memory=0", "GPU-1 memory=-1", "GPU-1 memory=8G",
        "GPU-1 memory=1 streams=2", "GPU-1 memory=18446744073709551616"}) {
    const Status failed = parse_device_limits("# one\n" + std::string(line)).status();
    EXPECT_EQ(failed.code(), Code::kInvalidArgument) << line;
    EXPECT_TRUE(failed.message().starts_with("line 2")) << failed.message();
  }
  std::string many;
  for (int device = 0; device <= 64; ++device) many += "GPU-" + std::to_string(device) + " memory=1\n";
  EXPECT_EQ(parse_device_limits(many).code(), Code::kResourceExhausted);
}

TEST_F(DeviceLimitsTest, AWriterKeepsTheOtherLines) {
  EXPECT_TRUE(read_device_limits(path()).value().empty()) << "not there yet";
  ASSERT_TRUE(write_device_limit(path(), "GPU-1", 10).is_ok());
  ASSERT_TRUE(write_device_limit(path(), "GPU-2", 20).is_ok());
  ASSERT_TRUE(write_device_limit(path(), "gpu-1", 30).is_ok());
  const Result<std::vector<DeviceLimit>> read = read_device_limits(path());
  ASSERT_TRUE(read);
  ASSERT_EQ(read.value().size(), 2u);
  EXPECT_EQ(read.value()[0].memory_bytes, 20u);
  EXPECT_EQ(read.value()[1].memory_bytes, 30u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "nothing is left beside it";
}

TEST_F(DeviceLimitsTest, OthersMayNotWriteIt) {
  ASSERT_TRUE(write_device_limit(path(), "GPU-1", 10).is_ok());
  ASSERT_EQ(::chmod(path().c_str(), 0666), 0);
  EXPECT_EQ(read_device_limits(path()).code(), Code::kPermission);
  EXPECT_EQ(write_device_limit(path(), "GPU-1", 10).code(), Code::kPermission);
  fs::remove(path());
  fs::create_symlink("/etc/passwd", path());
  EXPECT_FALSE(read_device_limits(path())) << "a link";
  fs::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(read_device_limits(path()).code(), Code::kPermission) << "a pipe does not hang";
}

TEST_F(DeviceLimitsTest, ALongFileIsRefused) {
  std::ofstream(path()) << std::string(kDeviceLimitsBytesMax + 1, '#');
  ASSERT_EQ(::chmod(path().c_str(), 0600), 0);
  EXPECT_EQ(read_device_limits(path()).code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace tf::hipcore
