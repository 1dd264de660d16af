// SPDX-License-Identifier: Apache-2.0
// For how long a connection takes care of what it posts: while a stream is captured, and no longer.
#include <gtest/gtest.h>

#include <memory>

#include "proxy/client/client.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy {
namespace {

constexpr std::uint64_t kMemoryBytes = 64ull << 20;

class CareForPosts : public ::testing::Test {
 protected:
  CareForPosts() {
    auto [ours, theirs] = make_loopback_pair();
    worker_ = std::make_unique<FakeWorker>(std::move(theirs), kMemoryBytes);
    Connected connected;
    connected.endpoint = std::move(ours);
    connected.snapshot = fake_snapshot(kMemoryBytes);
    client_ = std::make_unique<Client>(std::move(connected));
  }

  std::uint64_t add_stream() { return client_->handles().of(protocol::HandleKind::kStream).create(0)->raw(); }
  hipError_t begin(std::uint64_t stream) {
    return client_->graphs().begin_capture(client_->graphs().reference(0, stream),
                                           hipStreamCaptureModeRelaxed);
  }
  hipError_t end(std::uint64_t stream) {
    hipGraph_t graph = nullptr;
    return client_->graphs().end_capture(client_->graphs().reference(0, stream), &graph);
  }
  bool is_capturing() { return client_->connection().is_capturing(); }

  std::unique_ptr<FakeWorker> worker_;
  std::unique_ptr<Client> client_;
};

TEST_F(CareForPosts, LastsAsLongAsTheLastCapture) {
  const std::uint64_t one = add_stream();
  const std::uint64_t other = add_stream();
  EXPECT_FALSE(is_capturing());
  ASSERT_EQ(begin(one), hipSuccess);
  ASSERT_EQ(begin(other), hipSuccess);
  EXPECT_EQ(end(one), hipSuccess);
  EXPECT_TRUE(is_capturing());
  EXPECT_EQ(end(other), hipSuccess);
  EXPECT_FALSE(is_capturing());
}

TEST_F(CareForPosts, EndsWithACaptureThatDoesNotBeginOrLosesItsStream) {
  const std::uint64_t stream = add_stream();
  EXPECT_NE(begin(0), hipSuccess) << "the null stream is not captured";
  EXPECT_FALSE(is_capturing());
  ASSERT_EQ(begin(stream), hipSuccess);
  EXPECT_TRUE(is_capturing());
  protocol::DestroyStreamRequest request{};
  request.stream = stream;
  EXPECT_EQ(client_->connection().post(0, request), hipSuccess);
  EXPECT_FALSE(is_capturing());
}

}  // namespace
}  // namespace tf::proxy
