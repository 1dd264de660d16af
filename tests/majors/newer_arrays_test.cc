// SPDX-License-Identifier: Apache-2.0
// Functions on arrays and texture references since HIP 6 that are other functions of HIP.
#include <numeric>
#include <vector>

#include "tests/majors/major.h"

namespace tf::majors {
namespace {

class NewerArrays : public Major {
 protected:
  void SetUp() override {
    Major::SetUp();
    if (major_ < 6) GTEST_SKIP() << "the functions are of HIP 6";
  }
  hipArray_t make_array(std::size_t width, std::size_t height, int bits) const {
    const hipChannelFormatDesc elements{bits, 0, 0, 0, hipChannelFormatKindUnsigned};
    hipArray_t array = nullptr;
    EXPECT_EQ(get<decltype(hipMallocArray)>("hipMallocArray")(&array, &elements, width, height, 0),
              hipSuccess);
    return array;
  }
  void free_array(hipArray_t array) const {
    EXPECT_EQ(get<decltype(hipFreeArray)>("hipFreeArray")(array), hipSuccess);
  }
};

using BetweenRows = hipError_t(hipArray_t, std::size_t, std::size_t, hipArray_const_t, std::size_t,
                               std::size_t, std::size_t, std::size_t, hipMemcpyKind);

TEST_F(NewerArrays, LinesGoToAndFromArrays) {
  using ToArray = hipError_t(hipArray_t, std::size_t, const void*, std::size_t, hipStream_t);
  using FromArray = hipError_t(void*, hipArray_t, std::size_t, std::size_t, hipStream_t);
  using BetweenLines = hipError_t(hipArray_t, std::size_t, hipArray_t, std::size_t, std::size_t);
  using FromDevice = hipError_t(hipArray_t, std::size_t, hipDeviceptr_t, std::size_t);
  using ToDevice = hipError_t(hipDeviceptr_t, hipArray_t, std::size_t, std::size_t);
  const hipArray_t first = make_array(64, 0, 32);
  const hipArray_t second = make_array(64, 0, 32);
  std::vector<unsigned> values(64), back(20);
  std::iota(values.begin(), values.end(), 1u);
  ASSERT_EQ(get<ToArray>("hipMemcpyHtoAAsync")(first, 0, values.data(), 256, nullptr), hipSuccess);
  ASSERT_EQ(get<BetweenLines>("hipMemcpyAtoA")(second, 16, first, 40, 200), hipSuccess);
  void* const device = allocate(256);
  ASSERT_EQ(get<ToDevice>("hipMemcpyAtoD")(device, second, 20, 80), hipSuccess);
  ASSERT_EQ(get<FromDevice>("hipMemcpyDtoA")(first, 100, device, 80), hipSuccess);
  ASSERT_EQ(get<FromArray>("hipMemcpyAtoHAsync")(back.data(), first, 100, 80, nullptr), hipSuccess);
  synchronize();
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], values[i + 11]) << i;
  const auto across = get<BetweenLines>("hipMemcpyAtoA");
  EXPECT_EQ(across(nullptr, 0, first, 0, 16), kInvalid);
  EXPECT_EQ(across(second, 0, first, 0, 300), kInvalid) << "beyond the end";
  EXPECT_EQ(across(second, 2, first, 0, 16), kInvalid) << "no whole elements";
  EXPECT_EQ(get<ToDevice>("hipMemcpyAtoD")(nullptr, second, 0, 16), kInvalid);
  EXPECT_EQ(get<FromDevice>("hipMemcpyDtoA")(first, 0, nullptr, 16), kInvalid);
  EXPECT_EQ(get<ToArray>("hipMemcpyHtoAAsync")(first, 0, nullptr, 16, nullptr), kInvalid);
  EXPECT_EQ(get<FromArray>("hipMemcpyAtoHAsync")(back.data(), nullptr, 0, 16, nullptr), kInvalid);
  free_array(first);
  free_array(second);
}

TEST_F(NewerArrays, RowsGoBetweenArrays) {
  const hipArray_t first = make_array(16, 8, 16);
  const hipArray_t second = make_array(16, 8, 16);
  std::vector<unsigned short> values(16 * 8), back(16 * 8);
  std::iota(values.begin(), values.end(), static_cast<unsigned short>(1));
  const auto up = get<decltype(hipMemcpy2DToArray)>("hipMemcpy2DToArray");
  const auto down = get<decltype(hipMemcpy2DFromArray)>("hipMemcpy2DFromArray");
  const auto across = get<BetweenRows>("hipMemcpy2DArrayToArray");
  ASSERT_EQ(up(first, 0, 0, values.data(), 32, 32, 8, hipMemcpyHostToDevice), hipSuccess);
  ASSERT_EQ(up(second, 0, 0, back.data(), 32, 32, 8, hipMemcpyHostToDevice), hipSuccess);
  ASSERT_EQ(across(second, 4, 3, first, 8, 1, 20, 5, hipMemcpyDeviceToDevice), hipSuccess);
  ASSERT_EQ(down(back.data(), 32, second, 0, 0, 32, 8, hipMemcpyDeviceToHost), hipSuccess);
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 16; ++x) {
      const bool copied = x >= 2 && x < 12 && y >= 3;
      EXPECT_EQ(back[16 * y + x], copied ? values[16 * (y - 2) + x + 2] : 0) << x << ", " << y;
    }
  EXPECT_EQ(across(second, 0, 4, first, 0, 0, 32, 5, hipMemcpyDeviceToDevice), kInvalid);
  EXPECT_EQ(across(second, 0, 0, first, 0, 0, 32, 5, hipMemcpyHostToDevice), kInvalid);
  const hipArray_t bytes = make_array(64, 8, 8);
  EXPECT_EQ(across(bytes, 0, 0, first, 0, 0, 32, 5, hipMemcpyDeviceToDevice), kInvalid);
  for (const hipArray_t array : {first, second, bytes}) free_array(array);
}

}  // namespace
}  // namespace tf::majors
