// SPDX-License-Identifier: Apache-2.0
// TF_TRANSPORT=auto with transports that fail: which one is taken, what is said, who gets how much of the
// time.
#include "proxy/session/best_transport.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "proxy/base/log.h"
#include "tests/support/fake_transport.h"

namespace tf::proxy {
namespace {

using namespace std::chrono_literals;
using test::FakeTransport;

// Far longer than the test may take, so that shares of it tell each other.
constexpr auto kAll = 8'000'000s;

class BestTransport : public ::testing::Test {
 protected:
  void SetUp() override { set_debug(true); }
  void TearDown() override { set_debug(false); }

  // Attempts over transports of `refused` fail; parts of another one have its place as only_device.
  Result<Connected> connect(std::vector<std::string> refused, Deadline deadline = Deadline::after(kAll)) {
    const ConnectOver attempt = [&](const net::Transport& transport, Deadline own) {
      tried.emplace_back(transport.name());
      seconds.push_back(std::chrono::duration_cast<std::chrono::seconds>(own.remaining()));
      for (const std::string& name : refused)
        if (name == transport.name())
          return Result<Connected>(Status(Code::kUnavailable, "no way for " + name));
      Connected parts;
      parts.only_device = static_cast<int>(tried.size());
      return Result<Connected>(std::move(parts));
    };
    testing::internal::CaptureStderr();
    Result<Connected> parts = connect_over_best(list, net::Address::tcp("192.0.2.1", 1), attempt, deadline);
    said = testing::internal::GetCapturedStderr();
    return parts;
  }
  bool told(const std::string& text) const { return said.find(text) != std::string::npos; }

  const FakeTransport absent{"absent", Status(Code::kUnavailable, "no such device")};
  const FakeTransport first{"first"};
  const FakeTransport second{"second"};
  const FakeTransport unreachable{"unreachable", Status::ok(), Status(Code::kUnavailable, "not that way")};
  const FakeTransport third{"third"};
  const std::array<const net::Transport*, 5> all{&absent, &first, &second, &unreachable, &third};
  TransportList list = all;
  std::vector<std::string> tried;
  std::vector<std::chrono::seconds> seconds;  // that each attempt had
  std::string said;
};

TEST_F(BestTransport, TheFirstThatIsPossible) {
  const Result<Connected> parts = connect({});
  ASSERT_TRUE(parts.is_ok()) << parts.status().to_string();
  EXPECT_EQ(parts.value().only_device, 1);
  EXPECT_EQ(tried, std::vector<std::string>{"first"});
  EXPECT_TRUE(told("transport first; towards 192.0.2.1:1")) << said;
  EXPECT_TRUE(told("absent not possible: no such device")) << said;
  EXPECT_TRUE(told("unreachable not possible: not that way")) << said;
  EXPECT_FALSE(told("cannot be used")) << said;
}

TEST_F(BestTransport, TheNextWhenTheFirstCannotConnect) {
  const Result<Connected> parts = connect({"first"});
  ASSERT_TRUE(parts.is_ok()) << parts.status().to_string();
  EXPECT_EQ(parts.value().only_device, 2);
  EXPECT_EQ(tried, (std::vector<std::string>{"first", "second"}));
  EXPECT_TRUE(told("first cannot be used: no way for first")) << said;
  EXPECT_TRUE(told("transport second; towards")) << said;
}

TEST_F(BestTransport, EachHasHalfOfWhatIsLeftAndTheLastAllOfIt) {
  const Result<Connected> parts = connect({"first", "second"});
  ASSERT_TRUE(parts.is_ok()) << parts.status().to_string();
  EXPECT_EQ(tried, (std::vector<std::string>{"first", "second", "third"}));
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_LE(seconds[0], kAll / 2);
  EXPECT_GT(seconds[0], kAll / 4);
  EXPECT_LE(seconds[1], kAll / 2);
  EXPECT_GT(seconds[1], kAll / 4);
  EXPECT_LE(seconds[2], kAll);
  EXPECT_GT(seconds[2], kAll / 2);
}

TEST_F(BestTransport, WhenNoneConnectsTheLastSaysWhy) {
  const Result<Connected> parts = connect({"first", "second", "third"});
  ASSERT_EQ(parts.code(), Code::kUnavailable);
  EXPECT_EQ(parts.status().message(), "no way for third");
  EXPECT_EQ(tried, (std::vector<std::string>{"first", "second", "third"}));
  EXPECT_TRUE(told("first cannot be used: no way for first")) << said;
  EXPECT_TRUE(told("second cannot be used: no way for second")) << said;
}

TEST_F(BestTransport, NoneIsTriedWhenTheTimeIsOver) {
  const Result<Connected> parts = connect({"first", "second"}, Deadline::now());
  ASSERT_EQ(parts.code(), Code::kUnavailable);
  EXPECT_EQ(parts.status().message(), "no way for first");
  EXPECT_EQ(tried, std::vector<std::string>{"first"});
}

TEST_F(BestTransport, NoneIsPossible) {
  list = list.first(1);
  const Result<Connected> parts = connect({});
  ASSERT_EQ(parts.code(), Code::kUnavailable);
  EXPECT_NE(parts.status().message().find("no such device"), std::string::npos) << parts.status().message();
  EXPECT_TRUE(tried.empty());
}

}  // namespace
}  // namespace tf::proxy
