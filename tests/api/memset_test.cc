// SPDX-License-Identifier: Apache-2.0
// Fills: values, widths, strides, bounds.
#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

template <typename Value>
std::vector<Value> read(const void* device, std::size_t count) {
  std::vector<Value> values(count);
  EXPECT_EQ(hipMemcpy(values.data(), device, count * sizeof(Value), hipMemcpyDeviceToHost), hipSuccess);
  return values;
}

TEST(Memset, Bytes) {
  DeviceBuffer device(100001);
  HIP_OK(hipMemset(device.get(), 0x1ab, 100001));
  for (const unsigned char byte : read<unsigned char>(device.get(), 100001)) ASSERT_EQ(byte, 0xab);
  HIP_OK(hipMemsetAsync(device.at(10), 0x11, 5, nullptr));
  const auto back = read<unsigned char>(device.get(), 20);
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i], i >= 10 && i < 15 ? 0x11 : 0xab);
}

TEST(Memset, WiderElements) {
  DeviceBuffer device(4000);
  TestStream stream;
  HIP_OK(hipMemsetD32(device.get(), 0x12345678, 1000));
  EXPECT_EQ(read<std::uint32_t>(device.get(), 1000), std::vector<std::uint32_t>(1000, 0x12345678));
  HIP_OK(hipMemsetD16(device.get(), 0xbeef, 2000));
  EXPECT_EQ(read<std::uint16_t>(device.get(), 2000), std::vector<std::uint16_t>(2000, 0xbeef));
  HIP_OK(hipMemsetD8(device.get(), 0x5a, 4000));
  EXPECT_EQ(read<std::uint8_t>(device.get(), 4000), std::vector<std::uint8_t>(4000, 0x5a));
  HIP_OK(hipMemsetD32Async(device.get(), 7, 500, stream));
  HIP_OK(hipMemsetD16Async(device.at(2000), 8, 500, stream));
  HIP_OK(hipMemsetD8Async(device.at(3000), 9, 1000, stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(read<std::uint32_t>(device.get(), 500), std::vector<std::uint32_t>(500, 7));
  EXPECT_EQ(read<std::uint16_t>(device.at(2000), 500), std::vector<std::uint16_t>(500, 8));
  EXPECT_EQ(read<std::uint8_t>(device.at(3000), 1000), std::vector<std::uint8_t>(1000, 9));
}

TEST(Memset, RowsLeaveTheGaps) {
  DeviceBuffer device(64 * 10);
  HIP_OK(hipMemset(device.get(), 1, 64 * 10));
  HIP_OK(hipMemset2D(device.get(), 64, 2, 40, 9));
  const auto back = read<unsigned char>(device.get(), 64 * 10);
  for (std::size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], i / 64 < 9 && i % 64 < 40 ? 2 : 1) << i;
}

TEST(Memset, BoxesLeaveTheGaps) {
  DeviceBuffer device(32 * 6 * 3);
  HIP_OK(hipMemset(device.get(), 1, 32 * 6 * 3));
  HIP_OK(hipMemset3D(make_hipPitchedPtr(device.get(), 32, 32, 6), 2, make_hipExtent(20, 4, 3)));
  const auto back = read<unsigned char>(device.get(), 32 * 6 * 3);
  for (std::size_t i = 0; i < back.size(); ++i)
    ASSERT_EQ(back[i], i % 32 < 20 && i / 32 % 6 < 4 ? 2 : 1) << i;
}

TEST(Memset, BadArgumentsAreRefused) {
  DeviceBuffer device(100);
  char host[100];
  EXPECT_EQ(hipMemset(nullptr, 0, 10), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(device.get(), 0, 101), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(host, 0, 100), hipErrorInvalidValue);
  HIP_OK(hipMemset(device.get(), 0, 0));
  // Slices that overlap: there may be more of them than anybody can fill.
  EXPECT_EQ(
      hipMemset3D(make_hipPitchedPtr(device.get(), 1, 1, 0), 0, make_hipExtent(1, 1, std::size_t{1} << 62)),
      hipErrorInvalidValue);
  EXPECT_EQ(hipMemset3D(make_hipPitchedPtr(device.get(), 8, 8, 1), 0, make_hipExtent(8, 2, 2)),
            hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
