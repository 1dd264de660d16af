// SPDX-License-Identifier: Apache-2.0
#include "transport/base/streaming_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tf {
namespace {

constexpr std::size_t kAround = 64;
constexpr std::byte kUntouched{0xee};

// Every place that a line, a word of 16 bytes and their ends can have.
TEST(StreamingCopy, CopiesAllBytesAndNoneAround) {
  for (std::size_t place = 0; place < 64; ++place) {
    for (std::size_t bytes = 0; bytes < 300; bytes += 1 + place % 3) {
      std::vector<std::byte> source(bytes + place % 7);
      for (std::size_t at = 0; at < source.size(); ++at) source[at] = static_cast<std::byte>(at * 31 + bytes);
      const std::byte* const from = source.data() + place % 7;
      std::vector<std::byte> target(kAround + place + bytes + kAround, kUntouched);
      std::byte* const to = target.data() + kAround + place;
      streaming_copy(to, from, bytes);
      ASSERT_TRUE(std::equal(from, from + bytes, to)) << bytes << " bytes at " << place;
      ASSERT_EQ(std::count(target.begin(), target.begin() + kAround + place, kUntouched), kAround + place);
      ASSERT_EQ(std::count(to + bytes, target.data() + target.size(), kUntouched), kAround)
          << bytes << " bytes at " << place;
    }
  }
}

}  // namespace
}  // namespace tf
