// SPDX-License-Identifier: Apache-2.0
// The tables of arrays, whose memory is only counted.
#include "hipcore/array/library.h"

#include <gtest/gtest.h>

namespace tf::array {
namespace {

class Counted final : public Side {
 public:
  hipError_t create(const Shape& shape, unsigned levels, bool, std::vector<Place>& places) override {
    places = lay_out(shape, levels, next_, Layout::kDense);
    next_ += extent(places);
    ++alive;
    return hipSuccess;
  }
  hipError_t destroy(std::uint64_t) override {
    --alive;
    return hipSuccess;
  }
  int alive = 0;

 private:
  std::uint64_t next_ = 1 << 20;
};

constexpr Shape kSquare{16, 16, 0, HIP_AD_FORMAT_FLOAT, 1, hipArrayDefault};

TEST(Library, ALevelIsOneArrayHoweverOftenItIsAskedFor) {
  Counted side;
  Library library(side);
  hipMipmappedArray_t mipmapped = nullptr;
  ASSERT_EQ(library.create_mipmapped(&mipmapped, kSquare, 5), hipSuccess);
  hipArray_t first = nullptr;
  ASSERT_EQ(library.get_level(&first, mipmapped, 1), hipSuccess);
  for (std::size_t i = 0; i < kArraysMax; ++i) {
    hipArray_t again = nullptr;
    ASSERT_EQ(library.get_level(&again, mipmapped, 1), hipSuccess) << i;
    ASSERT_EQ(again, first);
  }
  hipArray_t other = nullptr;
  ASSERT_EQ(library.create(&other, kSquare), hipSuccess);
  hipArray_t second = nullptr;
  ASSERT_EQ(library.get_level(&second, mipmapped, 2), hipSuccess);
  EXPECT_NE(second, first);
  EXPECT_EQ(library.destroy(first), hipSuccess);  // the memory stays
  EXPECT_EQ(library.destroy(first), hipErrorContextIsDestroyed);
  EXPECT_EQ(side.alive, 2);
  ASSERT_EQ(library.get_level(&first, mipmapped, 1), hipSuccess);
  EXPECT_EQ(library.destroy_mipmapped(mipmapped), hipSuccess);
  for (const hipArray_t gone : {first, second}) EXPECT_EQ(library.shape_of(gone), std::nullopt);
  EXPECT_TRUE(library.shape_of(other));
  EXPECT_EQ(side.alive, 1);
}

TEST(Channels, AreOneTwoOrFour) {
  for (const hipArray_Format format : {HIP_AD_FORMAT_UNSIGNED_INT8, HIP_AD_FORMAT_HALF, HIP_AD_FORMAT_FLOAT})
    for (const unsigned channels : {0u, 1u, 2u, 3u, 4u, 5u, 0xffffffffu}) {
      hipArray_Format read{};
      unsigned of = 0;
      const bool known = channels == 1 || channels == 2 || channels == 4;
      ASSERT_EQ(read_channels(write_channels(format, channels), read, of), known) << channels;
      if (!known) continue;
      EXPECT_EQ(read, format);
      EXPECT_EQ(of, channels);
    }
}

}  // namespace
}  // namespace tf::array
