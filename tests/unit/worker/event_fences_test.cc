// SPDX-License-Identifier: Apache-2.0
// Events of a runtime that knows no hipEventDisableSystemFence.
#include "worker/base/event_fences.h"

#include <gtest/gtest.h>

#include <vector>

#include "hipcore/newer/launch.h"

namespace tf::worker {
namespace {

std::vector<unsigned> asked;  // flags of all calls

const protocol::HipTable& mended() {
  static const protocol::HipTable table = [] {
    protocol::HipTable hip;
    hip.hipEventCreateWithFlags = [](hipEvent_t*, unsigned flags) {
      asked.push_back(flags);
      const unsigned known = hipEventBlockingSync | hipEventDisableTiming;
      return (flags & ~known) == 0 ? hipSuccess : hipErrorInvalidValue;
    };
    mend_event_fences(hip);
    return hip;
  }();
  return table;
}

TEST(EventFences, TheHintIsLeftOutWhereItIsRefused) {
  hipEvent_t event = nullptr;
  asked.clear();
  EXPECT_EQ(mended().hipEventCreateWithFlags(&event, hipEventDisableSystemFence | hipEventDisableTiming),
            hipSuccess);
  EXPECT_EQ(asked, (std::vector<unsigned>{hipEventDisableSystemFence | hipEventDisableTiming,
                                          hipEventDisableTiming}));
}

TEST(EventFences, WhatElseIsRefusedStaysSo) {
  hipEvent_t event = nullptr;
  asked.clear();
  EXPECT_EQ(mended().hipEventCreateWithFlags(&event, hipEventInterprocess), hipErrorInvalidValue);
  EXPECT_EQ(mended().hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableSystemFence),
            hipErrorInvalidValue);
  EXPECT_EQ(mended().hipEventCreateWithFlags(&event, hipEventBlockingSync), hipSuccess);
  EXPECT_EQ(asked.size(), 4U) << "once, twice, once";
}

}  // namespace
}  // namespace tf::worker
