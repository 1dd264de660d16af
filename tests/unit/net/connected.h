// SPDX-License-Identifier: Apache-2.0
// Two ends of a TCP connection over loopback.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "transport/net/socket.h"

namespace tf::net {

class Connected : public testing::Test {
 protected:
  void SetUp() override {
    const std::chrono::seconds limit(5);
    Result<Listener> listener = Listener::open(Address::tcp("127.0.0.1", 0));
    ASSERT_TRUE(listener.is_ok());
    Result<OwnedFd> ours = dial(listener->address(), Deadline::after(limit));
    ASSERT_TRUE(ours.is_ok());
    ASSERT_TRUE(wait_readable(listener->fd(), Deadline::after(limit)).is_ok());
    Result<OwnedFd> theirs = listener->accept();
    ASSERT_TRUE(theirs.is_ok());
    ours_ = std::move(*ours);
    theirs_ = std::move(*theirs);
  }

  OwnedFd ours_;
  OwnedFd theirs_;
};

}  // namespace tf::net
