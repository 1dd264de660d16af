// SPDX-License-Identifier: Apache-2.0
#include "transport/net/address.h"

#include <gtest/gtest.h>

#include <string>

namespace tf::net {
namespace {

TEST(Address, RoundTripsEveryForm) {
  for (const char* text : {"unix:/run/hip.sock", "unix:relative.sock", "unix:@name", "localhost:1",
                           "10.1.2.3:65535", "[::1]:18515", "[fe80::1%eth0]:7", "gpu-box.example.org:0"}) {
    const Result<Address> address = Address::parse(text);
    ASSERT_TRUE(address.is_ok()) << address.status().to_string();
    EXPECT_EQ(address.value().to_string(), text);
  }
}

TEST(Address, FillsInThePort) {
  for (const auto& [text, whole] :
       {std::pair{"gpu", "gpu:18515"}, {"::1", "[::1]:18515"}, {"[::1]", "[::1]:18515"}}) {
    const Result<Address> address = Address::parse(text);
    ASSERT_TRUE(address.is_ok()) << text;
    EXPECT_EQ(address.value().to_string(), whole);
  }
}

TEST(Address, RefusesEverythingElseAndSaysWhatWorks) {
  const std::string long_path = "unix:/" + std::string(107, 'x');
  const std::string long_host(254, 'h');
  const std::string zero("unix:a\0b", 8);
  for (const std::string& text :
       {std::string(), std::string(":"), std::string(":80"), std::string("host:"), std::string("host:x"),
        std::string("host:65536"), std::string("host:-1"), std::string("host:80 "), std::string("host: 80"),
        std::string("[::1"), std::string("[host]:1"), std::string("[::1]x"), std::string("a b:1"),
        std::string("unix:"), std::string("unix:@"), long_path, long_host, zero}) {
    const Result<Address> address = Address::parse(text);
    EXPECT_EQ(address.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(address.status().message().find("[IPv6]:port"), std::string::npos);
  }
}

TEST(Address, SaysWhatWasProbablyMeant) {
  for (const auto& [text, meant] :
       std::vector<std::pair<std::string, std::string>>{{"/run/hip.sock", "unix:/run/hip.sock"},
                                                        {"../hip.sock", "unix:../hip.sock"},
                                                        {"@hip", "unix:@hip"},
                                                        {"tcp://host:1", "host:1"},
                                                        {"http://host:80/path", "host:80"},
                                                        {"unix:///run/hip.sock", ""}}) {
    const Result<Address> address = Address::parse(text);
    if (meant.empty()) {
      EXPECT_TRUE(address) << text;
      continue;
    }
    EXPECT_EQ(address.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(address.status().message().find("did you mean " + meant + "?"), std::string::npos)
        << address.status().message();
  }
}

TEST(Address, KnowsWhatIsLocal) {
  for (const char* text : {"unix:/x", "unix:@x", "localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1"})
    EXPECT_TRUE(Address::parse(text).value().is_local()) << text;
  for (const char* text : {"10.0.0.1:1", "[2001:db8::1]:1", "example.org:1", "128.0.0.1:1", "0.0.0.0:1"})
    EXPECT_FALSE(Address::parse(text).value().is_local()) << text;
}

TEST(Address, ResolvesNumbersAndUnixPaths) {
  const auto v4 = Address::tcp("127.0.0.1", 80).resolve();
  ASSERT_TRUE(v4.is_ok());
  EXPECT_EQ(v4.value().at(0).storage.ss_family, AF_INET);
  const auto v6 = Address::tcp("::1", 80).resolve();
  ASSERT_TRUE(v6.is_ok());
  EXPECT_EQ(v6.value().at(0).storage.ss_family, AF_INET6);
  const auto abstract = Address::unix_socket("@abc").resolve();
  ASSERT_TRUE(abstract.is_ok());
  EXPECT_EQ(abstract.value().at(0).length, sizeof(sa_family_t) + 4);
  EXPECT_EQ(Address::unix_socket(std::string(200, 'x')).resolve().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tf::net
