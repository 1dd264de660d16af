// SPDX-License-Identifier: Apache-2.0
// The _spt forms: for programs built with one default stream per thread. Their null stream is the thread's
// own, which the legacy default stream does not wait for.
#include <hip/hip_runtime_api.h>

#include <future>
#include <thread>

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"

// HIP 5.3's, which the headers declare only in place of the plain names.
extern "C" {
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream);
hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function, void* data);
hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback, void* data,
                                    unsigned flags);
hipError_t hipMemcpy2DAsync_spt(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                                size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* copy, hipStream_t stream);
hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* source, size_t bytes, size_t offset,
                                      hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyFromSymbolAsync_spt(void* target, const void* symbol, size_t bytes, size_t offset,
                                        hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemsetAsync_spt(void* target, int value, size_t bytes, hipStream_t stream);
hipError_t hipMemset2DAsync_spt(void* target, size_t pitch, int value, size_t width, size_t height,
                                hipStream_t stream);
hipError_t hipMemset3DAsync_spt(hipPitchedPtr target, int value, hipExtent extent, hipStream_t stream);
}

namespace tf::api_test {
namespace {

constexpr std::size_t kPitch = 64;
constexpr std::size_t kRows = 4;
constexpr std::size_t kThreadBytes = kPitch * kRows;

std::vector<unsigned char> bytes_of(const void* device, std::size_t count = kThreadBytes) {
  std::vector<unsigned char> back(count);
  EXPECT_EQ(hipMemcpyAsync(back.data(), device, count, hipMemcpyDeviceToHost, hipStreamPerThread),
            hipSuccess);
  EXPECT_EQ(hipStreamSynchronize(hipStreamPerThread), hipSuccess);
  return back;
}

// While it lives, another thread's own stream is busy: work of the legacy stream, which is ordered with that
// one, would not come about. Work of this thread's own stream does.
class BusyElsewhere {
 public:
  BusyElsewhere() {
    std::promise<void> closed;
    thread_ = std::thread([&] {
      gate_.close(hipStreamPerThread);
      closed.set_value();
      done_.get_future().wait();
      gate_.open();
      EXPECT_EQ(hipStreamSynchronize(hipStreamPerThread), hipSuccess);
    });
    closed.get_future().wait();
    EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
  }
  ~BusyElsewhere() {
    done_.set_value();
    thread_.join();
  }
  BusyElsewhere(const BusyElsewhere&) = delete;
  BusyElsewhere& operator=(const BusyElsewhere&) = delete;

  static void wait_for_own_stream() { EXPECT_EQ(hipStreamSynchronize(hipStreamPerThread), hipSuccess); }

 private:
  Gate gate_;
  std::promise<void> done_;
  std::thread thread_;
};

void add_one(void* number) { ++*static_cast<int*>(number); }
void add_ten(hipStream_t, hipError_t status, void* number) {
  *static_cast<int*>(number) += status == hipSuccess ? 10 : 1000;
}

TEST(Spt, EventsAndHostFunctions) {
  if (!runs_host_functions_at_once()) GTEST_SKIP() << "the driver calls host functions one at a time";
  TestEvent event;
  int calls = 0;
  const BusyElsewhere busy;
  HIP_OK(hipEventRecord_spt(event, nullptr));
  HIP_OK(hipLaunchHostFunc_spt(nullptr, add_one, &calls));
  HIP_OK(hipStreamAddCallback_spt(nullptr, add_ten, &calls, 0));
  BusyElsewhere::wait_for_own_stream();
  EXPECT_EQ(hipEventQuery(event), hipSuccess);
  EXPECT_EQ(calls, 11);
}

TEST(Spt, Fills) {
  DeviceBuffer line(kThreadBytes);
  DeviceBuffer rows(kThreadBytes);
  DeviceBuffer box(kThreadBytes);
  for (void* const all : {line.get(), rows.get(), box.get()}) HIP_OK(hipMemset(all, 0, kThreadBytes));
  HIP_OK(hipDeviceSynchronize());
  const BusyElsewhere busy;
  HIP_OK(hipMemsetAsync_spt(line.get(), 7, kThreadBytes, nullptr));
  HIP_OK(hipMemset2DAsync_spt(rows.get(), kPitch, 8, 3, kRows, nullptr));
  HIP_OK(hipMemset3DAsync_spt(hipPitchedPtr{box.get(), kPitch, kPitch, 2}, 9, hipExtent{2, 2, 2}, nullptr));
  BusyElsewhere::wait_for_own_stream();
  EXPECT_EQ(bytes_of(line.get()), std::vector<unsigned char>(kThreadBytes, 7));
  const auto in_rows = bytes_of(rows.get());
  const auto in_box = bytes_of(box.get());
  for (std::size_t i = 0; i < kThreadBytes; ++i) {
    ASSERT_EQ(in_rows[i], i % kPitch < 3 ? 8 : 0) << i;
    ASSERT_EQ(in_box[i], i % kPitch < 2 ? 9 : 0) << i;
  }
}

TEST(Spt, CopiesOfRowsAndBoxes) {
  if (copies_end_in_host_functions() && !runs_host_functions_at_once())
    GTEST_SKIP() << "the driver calls host functions one at a time, and a copy to the host ends in one";
  PinnedBuffer host(kThreadBytes);
  PinnedBuffer back(kThreadBytes);
  for (std::size_t i = 0; i < kThreadBytes; ++i) host.as<unsigned char>()[i] = static_cast<unsigned char>(i);
  std::memset(back.as<void>(), 0, kThreadBytes);
  DeviceBuffer device(kThreadBytes);
  HIP_OK(hipMemset(device.get(), 255, kThreadBytes));
  HIP_OK(hipDeviceSynchronize());
  hipMemcpy3DParms box{};
  box.srcPtr = hipPitchedPtr{device.get(), kPitch, kPitch, kRows};
  box.dstPtr = hipPitchedPtr{back.as<void>(), kPitch, kPitch, kRows};
  box.extent = hipExtent{kPitch, kRows, 1};
  box.kind = hipMemcpyDeviceToHost;
  const BusyElsewhere busy;
  HIP_OK(hipMemcpy2DAsync_spt(device.get(), kPitch, host.as<void>(), kPitch, 5, kRows, hipMemcpyHostToDevice,
                              nullptr));
  HIP_OK(hipMemcpy3DAsync_spt(&box, nullptr));
  BusyElsewhere::wait_for_own_stream();
  for (std::size_t i = 0; i < kThreadBytes; ++i) {
    const auto expected = i % kPitch < 5 ? static_cast<unsigned char>(i) : 255;
    ASSERT_EQ(back.as<unsigned char>()[i], expected) << i;
  }
}

TEST(Spt, CopiesOfSymbols) {
  if (copies_end_in_host_functions() && !runs_host_functions_at_once())
    GTEST_SKIP() << "the driver calls host functions one at a time, and a copy to the host ends in one";
  PinnedBuffer host(4 * sizeof(int));
  for (int i = 0; i < 4; ++i) host.as<int>()[i] = i < 2 ? 40 + i : -1;
  void* loaded = nullptr;  // for loading, NVIDIA's driver waits for host functions that run
  HIP_OK(hipGetSymbolAddress(&loaded, table_symbol()));
  HIP_OK(hipDeviceSynchronize());
  const BusyElsewhere busy;
  HIP_OK(hipMemcpyToSymbolAsync_spt(table_symbol(), host.as<int>(), 2 * sizeof(int), 3 * sizeof(int),
                                    hipMemcpyHostToDevice, nullptr));
  HIP_OK(hipMemcpyFromSymbolAsync_spt(host.as<int>() + 2, table_symbol(), 2 * sizeof(int), 3 * sizeof(int),
                                      hipMemcpyDeviceToHost, nullptr));
  BusyElsewhere::wait_for_own_stream();
  EXPECT_EQ(host.as<int>()[2], 40);
  EXPECT_EQ(host.as<int>()[3], 41);
}

TEST(Spt, AnswersLikeThePlainForms) {
  auto* const gone = reinterpret_cast<hipStream_t>(0x7777);
  int value = 0;
  EXPECT_EQ(hipEventRecord_spt(nullptr, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipLaunchHostFunc_spt(nullptr, nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamAddCallback_spt(nullptr, nullptr, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamAddCallback_spt(nullptr, add_ten, &value, 1), hipErrorInvalidValue);
  EXPECT_EQ(hipMemsetAsync_spt(&value, 0, 4, gone), hipMemsetAsync(&value, 0, 4, gone));
  EXPECT_EQ(hipMemset2DAsync_spt(&value, 4, 0, 8, 2, nullptr), hipMemset2DAsync(&value, 4, 0, 8, 2, nullptr));
  EXPECT_EQ(hipMemcpy3DAsync_spt(nullptr, nullptr), hipMemcpy3DAsync(nullptr, nullptr));
  EXPECT_EQ(hipMemcpyToSymbolAsync_spt(&value, &value, 4, 0, hipMemcpyHostToDevice, nullptr),
            hipMemcpyToSymbolAsync(&value, &value, 4, 0, hipMemcpyHostToDevice, nullptr));
  EXPECT_EQ(hipMemcpyFromSymbolAsync_spt(&value, nullptr, 4, 0, hipMemcpyDeviceToHost, nullptr),
            hipMemcpyFromSymbolAsync(&value, nullptr, 4, 0, hipMemcpyDeviceToHost, nullptr));
}

}  // namespace
}  // namespace tf::api_test
