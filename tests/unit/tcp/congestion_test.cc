// SPDX-License-Identifier: Apache-2.0
#include "tcp/congestion.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

#include "tcp/transport.h"
#include "transport/base/file_reader.h"
#include "transport/net/socket.h"

namespace tf::tcp {
namespace {

std::string congestion_of(int socket) {
  std::array<char, 32> name{};
  socklen_t length = name.size();
  EXPECT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length), 0);
  return name.data();
}

TEST(TcpCongestion, TakesNamesAndNothingElse) {
  for (const char* text : {"", "system", "cubic", "bbr2", "a_name-15-bytes"})
    EXPECT_EQ(parse_congestion(text).value(), text);
  for (const char* text : {"Cubic", "cubic ", "a,b", "a_name_16_bytes_", "../x"})
    EXPECT_EQ(parse_congestion(text).code(), Code::kInvalidArgument) << text;
}

TEST(TcpCongestion, IsSetOrTheReasonIsTold) {
  const Deadline deadline = Deadline::after(std::chrono::seconds(5));
  Result<net::Listener> listener = net::Listener::open(net::Address::tcp("127.0.0.1", 0));
  ASSERT_TRUE(listener.is_ok()) << listener.status().to_string();
  Result<net::OwnedFd> socket = net::dial(listener->address(), deadline);
  ASSERT_TRUE(socket.is_ok()) << socket.status().to_string();
  const std::string systems = congestion_of(socket->get());
  EXPECT_EQ(systems + "\n", read_file("/proc/sys/net/ipv4/tcp_congestion_control", 64));
  ASSERT_TRUE(set_congestion(socket->get(), "system").is_ok());
  EXPECT_EQ(congestion_of(socket->get()), systems);
  ASSERT_TRUE(set_congestion(socket->get(), "reno").is_ok());  // every kernel has it
  EXPECT_EQ(congestion_of(socket->get()), "reno");
  ASSERT_TRUE(set_congestion(socket->get(), "").is_ok());
  const std::string chosen = congestion_of(socket->get());
  EXPECT_TRUE(chosen == "cubic" || chosen == "reno") << chosen;  // a kernel may lack cubic
  const Status refused = set_congestion(socket->get(), "nonesuch");
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_NE(refused.message().find("reno"), std::string::npos) << refused.message();
}

TEST(TcpTransport, TellsWhatIsInForce) {
  Options options;
  options.payload_lanes = 6;
  options.congestion = "reno";
  EXPECT_EQ(make_transport(options)->details(),
            (std::vector<std::string>{"6 connections for large payload (TF_TCP_LANES)",
                                      "congestion control reno (TF_TCP_CONGESTION)"}));
  EXPECT_EQ(make_transport({})->details(),
            (std::vector<std::string>{
                "one connection for all payload (TF_TCP_LANES)",
                "congestion control cubic where a round trip takes less than 2 ms, else the system's "
                "(TF_TCP_CONGESTION)"}));
}

TEST(TcpCongestion, LeavesOtherSocketsAlone) {
  int pair[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const net::OwnedFd first(pair[0]);
  const net::OwnedFd second(pair[1]);
  EXPECT_TRUE(set_congestion(first.get(), "nonesuch").is_ok());
}

}  // namespace
}  // namespace tf::tcp
