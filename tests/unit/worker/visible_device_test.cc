// SPDX-License-Identifier: Apache-2.0
// --device: which device the variables of the runtimes name then, and what is said of a runtime without it.
#include "worker/session/visible_device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace tf::worker {
namespace {

// Sets a variable while it lives; nullptr: unsets it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const was = std::getenv(name)) before_ = was;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) { value != nullptr ? ::setenv(name_, value, 1) : ::unsetenv(name_); }

  const char* name_;
  std::optional<std::string> before_;
};

// What the two variables are after show_only(), as "HIP CUDA".
std::string shown(int device, const char* hip, const char* cuda) {
  const Variable first("HIP_VISIBLE_DEVICES", hip);
  const Variable second("CUDA_VISIBLE_DEVICES", cuda);
  const int devices[] = {device};
  show_only(devices);
  return std::string(std::getenv("HIP_VISIBLE_DEVICES")) + " " + std::getenv("CUDA_VISIBLE_DEVICES");
}

TEST(ShowOnly, WithoutListsItIsTheNumber) {
  EXPECT_EQ(shown(0, nullptr, nullptr), "0 0");
  EXPECT_EQ(shown(3, nullptr, nullptr), "3 3");
  EXPECT_EQ(shown(3, "", nullptr), "3 3") << "an empty list of HIP is all devices";
  EXPECT_EQ(shown(0, nullptr, ""), "0 -1") << "an empty list of CUDA is none";
}

TEST(ShowOnly, EachListHasItsOwnOrder) {
  EXPECT_EQ(shown(1, "4,5", nullptr), "5 1");
  EXPECT_EQ(shown(1, "4,5", "6,7"), "5 7");
  EXPECT_EQ(shown(2, "4,5", "6,7"), "-1 -1") << "beyond both";
}

// AMD's runtime reads CUDA's list then.
TEST(ShowOnly, WhatCudasListAloneHidesStaysHidden) {
  EXPECT_EQ(shown(0, nullptr, "2,3"), "2 2");
  EXPECT_EQ(shown(1, "", "2,3"), "3 3");
  EXPECT_EQ(shown(2, nullptr, "2,3"), "-1 -1");
}

TEST(ShowOnly, AListEndsWhereItNamesNoDevice) {
  for (const char* const list :
       {"0,-1,1", "0,,1", "0,x,1", "0, 1,1", "0,1x,1", "0,+1,1", "0,99999999999,1"}) {
    EXPECT_EQ(shown(2, list, nullptr), "-1 2") << list;
    EXPECT_EQ(shown(1, list, nullptr), "-1 1") << list;
    EXPECT_EQ(shown(0, list, nullptr), "0 0") << list;
  }
  EXPECT_EQ(shown(2, nullptr, "0,-1,1"), "-1 -1");
}

TEST(ShowOnly, ARepeatedDeviceCountsOnce) {
  EXPECT_EQ(shown(1, "2,2,0", nullptr), "0 1");
  EXPECT_EQ(shown(1, "2,02,0", nullptr), "0 1");
  EXPECT_EQ(shown(2, "2,2,0", nullptr), "-1 2");
}

TEST(ShowOnly, SeveralInTheirOwnOrder) {
  const Variable first("HIP_VISIBLE_DEVICES", "4,5,6");
  const Variable second("CUDA_VISIBLE_DEVICES", nullptr);
  const int devices[] = {2, 0};
  show_only(devices);
  EXPECT_STREQ(std::getenv("HIP_VISIBLE_DEVICES"), "6,4");
  EXPECT_STREQ(std::getenv("CUDA_VISIBLE_DEVICES"), "2,0");
}

TEST(ShowOnly, CudaHasNamesToo) {
  EXPECT_EQ(shown(1, "0,1", "GPU-8932f937,MIG-1/2/0"), "1 MIG-1/2/0");
  EXPECT_EQ(shown(1, "GPU-8932f937,1", nullptr), "-1 1");
}

TEST(CheckOnly, SaysWhyThereIsNotTheOneDevice) {
  Result<RuntimeLibrary> runtime = RuntimeLibrary::load(TF_FAKE_RUNTIME);
  ASSERT_TRUE(runtime.is_ok()) << runtime.status().to_string();
  protocol::WorkerSnapshot snapshot;
  snapshot.init_error = hipErrorNoDevice;
  EXPECT_NE(check_only(std::vector<int>{3}, *runtime, snapshot).message().find("has no such device"),
            std::string::npos);
  snapshot.init_error = hipErrorInsufficientDriver;
  const Status broken = check_only(std::vector<int>{3}, *runtime, snapshot);
  EXPECT_EQ(broken.code(), Code::kUnavailable);
  EXPECT_NE(broken.message().find("does not start: error 35"), std::string::npos) << broken.message();
  snapshot.init_error = 0;
  snapshot.devices.resize(1);
  EXPECT_TRUE(check_only(std::vector<int>{3}, *runtime, snapshot).is_ok());
  snapshot.devices.resize(2);
  EXPECT_NE(check_only(std::vector<int>{3}, *runtime, snapshot).message().find("still shows 2 devices"),
            std::string::npos);
}

}  // namespace
}  // namespace tf::worker
