// SPDX-License-Identifier: Apache-2.0
#include "proxy/session/faults.h"

#include <gtest/gtest.h>

namespace tf::proxy {
namespace {

TEST(Faults, FirstOneStaysUntilTaken) {
  Faults faults;
  faults.note(0, 77, hipErrorInvalidValue);
  faults.note(0, 77, hipErrorIllegalAddress);
  EXPECT_EQ(faults.take_stream(0, 78), hipSuccess);
  EXPECT_EQ(faults.take_stream(0, 77), hipErrorInvalidValue);
  EXPECT_EQ(faults.take_stream(0, 77), hipSuccess);
}

TEST(Faults, DeviceTakesAllOfItsStreams) {
  Faults faults;
  faults.note(0, 77, hipErrorInvalidValue);
  faults.note(0, 0, hipErrorIllegalAddress);
  faults.note(1, 0, hipErrorOutOfMemory);
  EXPECT_EQ(faults.take_device(0), hipErrorInvalidValue);
  EXPECT_EQ(faults.take_stream(0, 0), hipSuccess);
  EXPECT_EQ(faults.take_stream(1, 0), hipErrorOutOfMemory) << "null streams belong to their device";
}

TEST(Faults, BoundedButNotLost) {
  Faults faults;
  for (std::uint64_t stream = 100; stream < 100 + 2 * kFaultsMax; ++stream)
    faults.note(0, stream, hipErrorUnknown);
  faults.note(1, 99, hipErrorInvalidValue);
  faults.note(1, 98, hipErrorLaunchFailure);
  EXPECT_EQ(faults.take_stream(1, 99), hipSuccess);
  EXPECT_EQ(faults.take_stream(1, 0), hipErrorInvalidValue);
  EXPECT_EQ(faults.take_stream(0, 0), hipErrorUnknown);
  EXPECT_EQ(faults.take_stream(0, 100), hipErrorUnknown);
  faults.note(1, 99, hipErrorInvalidValue);  // there is room again
  EXPECT_EQ(faults.take_stream(1, 99), hipErrorInvalidValue);
  EXPECT_EQ(faults.take_device(0), hipErrorUnknown);
  EXPECT_EQ(faults.take_device(1), hipSuccess);
}

}  // namespace
}  // namespace tf::proxy
