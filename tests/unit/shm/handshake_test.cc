// SPDX-License-Identifier: Apache-2.0
// The offer: refusals arrive with their reason, garbage is named, wrong descriptors are refused.
#include "shm/handshake.h"

#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "shm/transport.h"
#include "tests/unit/shm/pair.h"
#include "transport/net/socket.h"
#include "transport/net/transport.h"

namespace tf::shm {
namespace {

using std::chrono::seconds;

TEST(ShmHandshake, BothSidesMapTheSameMemory) {
  auto [worker, client] = socket_pair();
  Result<Segment> offered = offer_segment(worker.get(), Deadline::after(seconds(1)));
  ASSERT_TRUE(offered.is_ok()) << offered.status().to_string();
  Result<Segment> received = receive_segment(client.get(), Deadline::after(seconds(1)));
  ASSERT_TRUE(received.is_ok()) << received.status().to_string();
}

// What the acceptor says is what the client is told.
TEST(ShmHandshake, TheReasonOfARefusalReachesTheClient) {
  Result<net::Token> token = net::Token::random();
  Result<net::Token> other = net::Token::random();
  ASSERT_TRUE(token.is_ok() && other.is_ok());
  const std::unique_ptr<net::Acceptor> acceptor = transport().acceptor(*token);
  const std::vector<net::Attach> wrong = {{.token = *other, .kind = kKind, .lane = 0},
                                          {.token = *token, .kind = net::TransportKind{3}, .lane = 0},
                                          {.token = *token, .kind = kKind, .lane = 1}};
  for (const net::Attach& attach : wrong) {
    auto [worker, client] = socket_pair();
    const Status refused = acceptor->attach(std::move(worker), attach);
    ASSERT_FALSE(refused.is_ok());
    const Status told = receive_segment(client.get(), Deadline::after(seconds(1))).status();
    EXPECT_EQ(told.code(), refused.code()) << told.to_string();
    EXPECT_NE(told.message().find(refused.message()), std::string::npos) << told.to_string();
  }
}

TEST(ShmHandshake, AStrangeReasonIsMadePrintable) {
  auto [worker, client] = socket_pair();
  Offer offer;
  offer.code = 0xffffffff;
  std::memset(offer.reason, 0x1b, sizeof offer.reason);  // and no zero at the end
  ASSERT_EQ(::send(worker.get(), &offer, sizeof offer, 0), static_cast<ssize_t>(sizeof offer));
  const Status told = receive_segment(client.get(), Deadline::after(seconds(1))).status();
  EXPECT_EQ(told.code(), Code::kProtocol);
  EXPECT_EQ(told.message().find('\x1b'), std::string::npos);
}

TEST(ShmHandshake, GarbageInsteadOfAnOfferIsNamed) {
  Offer magic;
  magic.magic ^= 1;
  Offer version;
  version.version += 1;
  Offer reason;
  reason.reason[0] = 'x';
  for (const Offer& offer : {magic, version, reason, Offer{}}) {  // the last one lacks its descriptor
    auto [worker, client] = socket_pair();
    ASSERT_EQ(::send(worker.get(), &offer, sizeof offer, 0), static_cast<ssize_t>(sizeof offer));
    EXPECT_EQ(receive_segment(client.get(), Deadline::after(seconds(1))).code(), Code::kProtocol);
  }
}

TEST(ShmHandshake, TwoDescriptorsAreRefused) {
  auto [worker, client] = socket_pair();
  const Offer offer;
  const net::OwnedFd file(::memfd_create("hip-remote-handshake-test", MFD_CLOEXEC));
  const int files[] = {file.get(), file.get()};
  ASSERT_TRUE(net::send_with_fds(worker.get(), std::as_bytes(std::span(&offer, 1)), files,
                                 Deadline::after(seconds(1)))
                  .is_ok());
  EXPECT_FALSE(receive_segment(client.get(), Deadline::after(seconds(1))).is_ok());
}

TEST(ShmHandshake, SilenceAndCloseEndInTime) {
  auto [worker, client] = socket_pair();
  const auto start = Deadline::Clock::now();
  EXPECT_EQ(receive_segment(client.get(), Deadline::after(std::chrono::milliseconds(50))).code(),
            Code::kTimeout);
  EXPECT_LT(Deadline::Clock::now() - start, seconds(5));
  worker.reset();
  EXPECT_EQ(receive_segment(client.get(), Deadline::after(seconds(1))).code(), Code::kPeerLost);
}

}  // namespace
}  // namespace tf::shm
