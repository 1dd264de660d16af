// SPDX-License-Identifier: Apache-2.0
// Metrics: what is believed of sessions, how many series there are at most, and HTTP with strangers.
#include "worker/supervisor/metrics.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "worker/supervisor/scrapes.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

TEST(WaitTimes, EachWaitIsInTheLeastBucketThatHoldsIt) {
  for (std::uint64_t waited = 0; waited < 300'000; waited += 7) {
    const std::size_t bucket = WaitTimes::bucket_of(waited);
    const double seconds = static_cast<double>(waited) / 1e9;
    EXPECT_LE(seconds, WaitTimes::bound_seconds(bucket) * (1 + 1e-12));
    const double below = bucket == 0 ? -1 : WaitTimes::bound_seconds(bucket - 1);
    EXPECT_GT(seconds, below * (1 - 1e-12)) << waited;
  }
  EXPECT_EQ(WaitTimes::bucket_of(1000), 0U);
  EXPECT_EQ(WaitTimes::bucket_of(1001), 1U);
  EXPECT_EQ(WaitTimes::bucket_of(std::numeric_limits<std::uint64_t>::max()), WaitTimes::kBuckets - 1);
}

TEST(SessionCounts, AreWhatTheTallyHas) {
  auto tally = std::make_unique<SessionTally>();
  tally->calls_of(0x0310, false).store(3);
  tally->calls_of(0x0510, true).store(5);
  tally->calls_of(0xff10, true).store(7);
  tally->message_bytes_to_worker.store(10);
  tally->payload_bytes_to_client.store(20);
  tally->fault(SessionFault::kDevice);
  tally->device_waits.note(3us);
  const SessionCounts counts = read_counts(*tally);
  EXPECT_EQ(counts.calls(3, false), 3U);
  EXPECT_EQ(counts.calls(5, true), 5U);
  EXPECT_EQ(counts.calls(kCallDomains - 1, true), 7U);
  EXPECT_EQ(counts.all_calls(), 15U);
  EXPECT_EQ(counts.all_calls(), tally->requests());
  EXPECT_EQ(counts.round_trips(), 3U);
  EXPECT_EQ(counts.bytes_to_worker(), 10U);
  EXPECT_EQ(counts.bytes_to_client(), 20U);
  EXPECT_EQ(counts.values[SessionCounts::kFaults + 2], 1U);
  EXPECT_EQ(counts.values[SessionCounts::kWaits + 1], 1U);
  EXPECT_EQ(counts.values[SessionCounts::kWaitTotal], 3000U);
}

TEST(BelievedCounts, AnHonestSessionIsBelieved) {
  const auto start = BelievedCounts::Clock::now();
  BelievedCounts believed(start);
  SessionCounts said;
  said.values[0] = 1000;
  said.values[SessionCounts::kBytes] = 1 << 20;
  EXPECT_EQ(believed.take(said, start + 1s).values, said.values);
  EXPECT_EQ(believed.take(said, start + 2s).values, SessionCounts().values);
  said.values[0] += 5;
  EXPECT_EQ(believed.take(said, start + 3s).values[0], 5U);
}

TEST(BelievedCounts, ALiarCannotMakeACounterFallOrRunAway) {
  const auto start = BelievedCounts::Clock::now();
  BelievedCounts believed(start);
  SessionCounts total;
  SessionCounts said;
  said.values.fill(std::numeric_limits<std::uint64_t>::max());
  total += believed.take(said, start + 1s);
  EXPECT_LE(total.values[0], 1'000'000'000U) << "a call takes a nanosecond at least";
  EXPECT_LE(total.values[SessionCounts::kBytes], 1'000'000'000'000U);
  const SessionCounts before = total;
  said.values.fill(0);
  total += believed.take(said, start + 2s);
  EXPECT_EQ(total.values, before.values);
  // Thousands of liars for a long time: it stays at the largest number.
  SessionCounts huge;
  huge.values.fill(std::numeric_limits<std::uint64_t>::max() - 1);
  total += huge;
  total += huge;
  EXPECT_EQ(total.values[0], std::numeric_limits<std::uint64_t>::max());
}

std::size_t series(const MetricFamilies& families) {
  std::size_t count = 0;
  for (const MetricFamily& family : families)
    for (const MetricFamily::Sample& sample : family.samples)
      count += sample.buckets.empty() ? 1 : sample.buckets.size() + 2;
  return count;
}

const MetricFamily& find(const MetricFamilies& families, std::string_view name) {
  return *std::ranges::find(families, name, &MetricFamily::name);
}

TEST(Metrics, ManyTenantsHaveABoundedNumberOfSeries) {
  Metrics metrics;
  WorkerState state;
  SessionCounts one;
  one.values[0] = 1;
  const auto serve = [&](int tenant) {
    const std::string name = "tenant " + std::to_string(tenant);
    metrics.started(name, 1ms);
    metrics.add(name, "tcp", one);
    state.sessions.push_back({name, "tcp", 0, {}});
  };
  for (int tenant = 0; tenant < 200; ++tenant) serve(tenant);
  const std::size_t at_200 = series(metrics.families(state));
  for (int tenant = 200; tenant < 1000; ++tenant) serve(tenant);
  const MetricFamilies families = metrics.families(state);
  EXPECT_EQ(series(families), at_200);
  EXPECT_LT(series(families), 1000U);
  const MetricFamily& calls = find(families, "hip_remote_tenant_calls_total");
  ASSERT_EQ(calls.samples.size(), kTenantsNamedMax + 1);
  EXPECT_EQ(calls.samples.front().labels.front().second, kOtherTenants);
  EXPECT_EQ(calls.samples.front().value, 1000 - kTenantsNamedMax);
  EXPECT_EQ(find(families, "hip_remote_tenant_sessions").samples.front().value, 1000 - kTenantsNamedMax);
}

TEST(Metrics, NamesAreThoseOfPrometheus) {
  for (const MetricFamily& family : Metrics().families({})) {
    EXPECT_TRUE(family.name.starts_with("hip_remote_")) << family.name;
    EXPECT_EQ(family.name.ends_with("_total"), family.type == MetricFamily::Type::kCounter) << family.name;
    EXPECT_FALSE(family.help.empty()) << family.name;
  }
}

TEST(Metrics, OddTransportsAndMemoryThatIsNotThereAreLimited) {
  Metrics metrics;
  WorkerState state;
  state.device_memory = {{0, 100}};
  state.sessions.push_back({"a", "\"}\n evil", 0, {{0, std::numeric_limits<std::uint64_t>::max()}, {7, 5}}});
  const MetricFamilies families = metrics.families(state);
  EXPECT_EQ(find(families, "hip_remote_sessions").samples.back().labels.front().second, "other");
  EXPECT_EQ(find(families, "hip_remote_sessions").samples.back().value, 1);
  const MetricFamily& leased = find(families, "hip_remote_device_memory_leased_bytes");
  ASSERT_EQ(leased.samples.size(), 1U);
  EXPECT_EQ(leased.samples.front().value, 100);
  EXPECT_EQ(find(families, "hip_remote_device_memory_free_bytes").samples.front().value, 0);
}

class ScrapesTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(scrapes_.open(net::Address::tcp("127.0.0.1", 0)).is_ok()); }

  net::OwnedFd connect() {
    Result<net::OwnedFd> socket = net::dial(scrapes_.address(), Deadline::after(5s));
    EXPECT_TRUE(socket.is_ok());
    turn();
    return std::move(*socket);
  }
  void turn() {
    std::vector<pollfd> polled = {{-1, 0, 0}};
    scrapes_.watch(polled);
    ::poll(polled.data(), polled.size(), 2);
    scrapes_.progress(polled, [this](std::string_view path) {
      paths_.emplace_back(path);
      return path == "/big" ? ScrapeAnswer{.body = std::string(8 << 20, 'x')}
                            : ScrapeAnswer{.status = path == "/ok" ? 200 : 404, .body = "said"};
    });
  }
  // All that comes until the other end closes.
  std::string read_all(int socket) {
    std::string got;
    char bytes[65536];
    for (int idle = 0; idle < 2000; turn()) {
      const ssize_t read = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
      if (read == 0) return got;
      if (read > 0) got.append(bytes, static_cast<std::size_t>(read));
      idle = read > 0 ? 0 : idle + 1;
    }
    return got + "(not closed)";
  }
  std::string ask(std::string_view request) {
    const net::OwnedFd socket = connect();
    EXPECT_EQ(::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    return read_all(socket.get());
  }

  Scrapes scrapes_;
  std::vector<std::string> paths_;
};

TEST_F(ScrapesTest, AnswersAndCloses) {
  EXPECT_EQ(ask("GET /ok?a=b HTTP/1.1\r\nHost: x\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 4\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\nsaid");
  EXPECT_EQ(paths_, std::vector<std::string>{"/ok"});
  const std::string head = ask("HEAD /ok HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  EXPECT_NE(head.find("Content-Length: 4"), std::string::npos);
  EXPECT_TRUE(ask("GET /no HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
}

TEST_F(ScrapesTest, RefusesWhatIsNoRequest) {
  EXPECT_TRUE(ask("POST /ok HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  for (const char* garbage : {"\r\n\r\n", "GET\r\n\r\n", " HTTP/1.1\r\n\r\n", "GET HTTP/1.1\r\n\r\n"})
    EXPECT_TRUE(ask(garbage).starts_with("HTTP/1.1 400 ")) << garbage;
  EXPECT_TRUE(ask("GET /ok HTTP/1.1\r\n" + std::string(kScrapeBytesMax, 'a')).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(paths_.empty());
}

TEST_F(ScrapesTest, ARequestMayComeInPartsAndAnAnswerBeLong) {
  const net::OwnedFd socket = connect();
  for (const char letter : std::string("GET /big HTTP/1.1\r\n\r\n")) {
    ASSERT_EQ(::send(socket.get(), &letter, 1, MSG_NOSIGNAL), 1);
    turn();
  }
  const std::string got = read_all(socket.get());
  EXPECT_GT(got.size(), 8U << 20);
  EXPECT_TRUE(got.ends_with("xxx")) << got.size();
}

TEST_F(ScrapesTest, SilentConnectionsGiveWay) {
  std::vector<net::OwnedFd> silent;
  for (std::size_t count = 0; count < 3 * kScrapesMax; ++count) silent.push_back(connect());
  EXPECT_TRUE(ask("GET /ok HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(read_all(silent.front().get()), "") << "the oldest was closed";
  EXPECT_FALSE(scrapes_.deadline().poll_timeout_ms(60'000) > 10'000) << "the others have a deadline";
}

TEST(ScrapesAddress, IsLoopbackUnlessAskedOtherwise) {
  EXPECT_EQ(Scrapes::parse("9464").value().to_string(), "127.0.0.1:9464");
  EXPECT_EQ(Scrapes::parse("0.0.0.0:9464").value().to_string(), "0.0.0.0:9464");
  EXPECT_EQ(Scrapes::parse("[::1]:9464").value().port(), 9464);
  EXPECT_TRUE(Scrapes::parse("unix:/run/metrics").value().is_unix());
  for (const char* bad : {"", "host", "[::1]", "65536", "-1", "host:x"})
    EXPECT_FALSE(Scrapes::parse(bad).is_ok()) << bad;
}

}  // namespace
}  // namespace tf::worker
