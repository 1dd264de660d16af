// SPDX-License-Identifier: Apache-2.0
// The MessagePack reader on every form and on cut-off input.
#include "hipcore/codeobject/msgpack.h"

#include "tests/unit/codeobject/builder.h"

#include <gtest/gtest.h>

namespace tf::codeobject::msgpack {
namespace {

using testing::bytes_of;
using namespace std::string_literals;

Value one(const std::string& input) {
  Reader reader(bytes_of(input));
  auto value = reader.next();
  EXPECT_TRUE(value.is_ok()) << value.status().to_string();
  return value ? *value : Value{};
}

TEST(MessagePack, ReadsNumbersOfEverySize) {
  EXPECT_EQ(5u, one("\x05"s).integer);
  EXPECT_EQ(~std::uint64_t{0}, one("\xff"s).integer);
  EXPECT_TRUE(one("\xe0"s).negative);
  EXPECT_EQ(200u, one("\xcc\xc8"s).integer);
  EXPECT_EQ(0x1234u, one("\xcd\x12\x34"s).integer);
  EXPECT_EQ(0x12345678u, one("\xce\x12\x34\x56\x78"s).integer);
  EXPECT_EQ(0x0102030405060708u, one("\xcf\x01\x02\x03\x04\x05\x06\x07\x08"s).integer);
  EXPECT_EQ(static_cast<std::uint64_t>(-2), one("\xd0\xfe"s).integer);
  EXPECT_EQ(static_cast<std::uint64_t>(-256), one("\xd1\xff\x00"s).integer);
  EXPECT_FALSE(one("\xd0\x02"s).negative);
}

TEST(MessagePack, ReadsTextAndContainers) {
  EXPECT_EQ("abc", one("\xa3"
                       "abc"s)
                       .text);
  EXPECT_EQ("abc", one("\xd9\x03"
                       "abc"s)
                       .text);
  EXPECT_EQ("abc", one("\xdb\0\0\0\x03"
                       "abc"s)
                       .text);
  EXPECT_EQ(2u, one("\x92\x01\x02"s).count);
  EXPECT_EQ(1u, one("\x81\xa1k\x02"s).count);
  EXPECT_TRUE(one("\xc3"s).boolean);
  EXPECT_EQ(Kind::kNil, one("\xc0"s).kind);
}

TEST(MessagePack, SkipPassesOverWholeValues) {
  const std::string input = "\x82\xa1k\x93\x01\x02\x03\xa1l\xcb\1\2\3\4\5\6\7\x08\x2a"s;
  Reader reader(bytes_of(input));
  ASSERT_TRUE(reader.skip());
  auto rest = reader.next();
  ASSERT_TRUE(rest);
  EXPECT_EQ(42u, rest->integer);
  EXPECT_TRUE(reader.at_end());
}

TEST(MessagePack, RefusesWhatIsCutOffOrAbsurd) {
  for (const std::string& input : {""s,
                                   "\xa3"
                                   "ab"s,
                                   "\xcd\x01"s, "\xdd\xff\xff\xff\xff\x01"s, "\xdf\x7f\xff\xff\xff"s, "\xc1"s,
                                   "\xdb\xff\xff\xff\xff"s}) {
    Reader reader(bytes_of(input));
    EXPECT_EQ(Code::kProtocol, reader.next().code());
  }
  const std::string deep(1000, '\x91');
  Reader reader(bytes_of(deep));
  EXPECT_EQ(Code::kResourceExhausted, reader.skip().code());
}

}  // namespace
}  // namespace tf::codeobject::msgpack
