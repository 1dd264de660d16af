// SPDX-License-Identifier: Apache-2.0
#include "transport/base/small_copy.h"

#include <gtest/gtest.h>

#include <vector>

namespace tf {
namespace {

TEST(SmallCopy, CopiesExactlyTheBytes) {
  constexpr std::size_t kMargin = 32;
  for (std::size_t bytes = 0; bytes <= 300; ++bytes) {
    std::vector<std::byte> from(bytes);
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
    std::vector<std::byte> to(bytes + 2 * kMargin, std::byte{0xee});
    copy_small(to.data() + kMargin, from.data(), bytes);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const bool inside = i >= kMargin && i < kMargin + bytes;
      ASSERT_EQ(to[i], inside ? from[i - kMargin] : std::byte{0xee}) << bytes << " bytes, at " << i;
    }
  }
}

}  // namespace
}  // namespace tf
