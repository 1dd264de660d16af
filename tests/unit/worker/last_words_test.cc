// SPDX-License-Identifier: Apache-2.0
// LastWords: what the supervisor makes of a page that a hostile process has written, and workers without one.
#include "worker/base/last_words.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "raw_client.h"
#include "tcp/transport.h"
#include "worker/base/printable.h"

namespace tf::worker {
namespace {

// The supervisor's end, and the page as the session process may write it: device, length, text.
class Page : public ::testing::Test {
 protected:
  struct Content {
    std::int32_t device;
    std::uint32_t client_bytes;
    char client[kClientWordsMax];
  };

  void SetUp() override {
    Result<LastWords> made = LastWords::make(file_);
    ASSERT_TRUE(made.is_ok()) << made.status().to_string();
    words_ = std::move(*made);
    void* const mapped = ::mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    content_ = static_cast<Content*>(mapped);
  }
  void TearDown() override { ::munmap(content_, sizeof *content_); }
  void say(std::string_view client, std::int32_t device) {
    std::memcpy(content_->client, client.data(), client.size());
    content_->client_bytes = static_cast<std::uint32_t>(client.size());
    content_->device = device;
  }

  net::OwnedFd file_;
  LastWords words_;
  Content* content_ = nullptr;
};

TEST_F(Page, SaysWhatTheProcessWroteDown) {
  EXPECT_EQ(words_.read({}), "");
  Result<LastWords> writer = LastWords::open(std::move(file_));
  ASSERT_TRUE(writer.is_ok()) << writer.status().to_string();
  writer->serve("saxpy");
  EXPECT_EQ(words_.read({}), "saxpy");
  writer->device()->store(3);
  EXPECT_EQ(words_.read({}), "saxpy, device 2");
  EXPECT_EQ(words_.read(std::vector<int>{9, 7, 5}), "saxpy, device 5") << "the third that it was shown";
  EXPECT_EQ(words_.read(std::vector<int>{9}), "saxpy, device 2") << "which it invented";
  writer->serve(std::string(kClientWordsMax + 100, 'x'));
  EXPECT_EQ(words_.read({}), std::string(kClientWordsMax, 'x') + ", device 2");
}

TEST_F(Page, IsNotReadBeyondItsEnd) {
  say("x", 0);
  for (const std::uint32_t bytes : {std::uint32_t{kClientWordsMax + 1}, 0x80000000u, 0xffffffffu}) {
    content_->client_bytes = bytes;
    EXPECT_EQ(words_.read({}).size(), kClientWordsMax) << bytes;
  }
}

TEST_F(Page, AnyNumberOfADeviceCanBeRead) {
  constexpr auto kMax = std::numeric_limits<std::int32_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int32_t>::min();
  say("x", kMax);
  EXPECT_EQ(words_.read({}), "x, device 2147483646");
  for (const std::int32_t device : {0, -1, kMin}) {
    say("x", device);
    EXPECT_EQ(words_.read({}), "x") << device;
  }
}

TEST_F(Page, ControlBytesAreForTheLogToEscape) {
  const std::string hostile("\x1b[2J\n\0hip-worker[1]: all is well", 32);
  say(hostile, 0);
  EXPECT_EQ(words_.read({}), hostile);
  EXPECT_EQ(printable(hostile), "\\x1b[2J\\x0a\\x00hip-worker[1]: all is well");
}

TEST_F(Page, ItsFileKeepsItsLength) {
  EXPECT_NE(::ftruncate(file_.get(), 0), 0);
  EXPECT_NE(::ftruncate(file_.get(), 1 << 20), 0);
}

TEST(LastWords, WithoutAPageNothingIsKnown) {
  LastWords none;
  none.serve("saxpy");
  EXPECT_EQ(none.device(), nullptr);
  EXPECT_EQ(none.read({}), "");
  EXPECT_FALSE(LastWords::open(net::OwnedFd()).is_ok());
}

// A limit on the size of files refuses the page. Later, without the limit, transports get theirs.
TEST(LastWords, WorkersServeWithoutThem) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit nothing{0, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &nothing), 0);
  net::OwnedFd file;
  const bool refused = !LastWords::make(file).is_ok();
  WorkerProcess worker;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  EXPECT_TRUE(refused);
  ASSERT_TRUE(worker.ready());
  for (const pid_t spare : worker.children()) ASSERT_EQ(::prlimit(spare, RLIMIT_FSIZE, &before, nullptr), 0);
  RawClient client(worker, tcp::transport());
  ASSERT_TRUE(client.status.is_ok()) << client.status.to_string();
  EXPECT_TRUE(client.synchronize().is_ok());
}

}  // namespace
}  // namespace tf::worker
