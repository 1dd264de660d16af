// SPDX-License-Identifier: Apache-2.0
// Order between streams: the legacy default stream, non-blocking streams, per-thread streams, events.
#include "tests/api/hip_test.h"

// The header has them only for programs built with one default stream per thread.
extern "C" {
hipError_t hipMemset_spt(void* target, int value, size_t bytes);
hipError_t hipMemset2D_spt(void* target, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemset3D_spt(hipPitchedPtr target, int value, hipExtent extent);
}

namespace tf::api_test {
namespace {

TEST(StreamOrder, DefaultStreamWaitsForBlockingStreams) {
  TestStream blocking;
  DeviceBuffer device(4096);
  Gate gate;
  gate.close(blocking);
  HIP_OK(hipMemsetAsync(device.get(), 1, 4096, blocking));
  HIP_OK(hipMemsetAsync(device.get(), 2, 4096, nullptr));
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
  gate.open();
  unsigned char back = 0;
  HIP_OK(hipMemcpy(&back, device.get(), 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, 2);
}

TEST(StreamOrder, BlockingStreamsWaitForTheDefaultStream) {
  TestStream blocking;
  DeviceBuffer device(4096);
  Gate gate;
  gate.close(nullptr);
  HIP_OK(hipMemsetAsync(device.get(), 1, 4096, nullptr));
  HIP_OK(hipMemsetAsync(device.get(), 2, 4096, blocking));
  EXPECT_EQ(hipStreamQuery(blocking), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(blocking));
  HIP_OK(hipDeviceSynchronize());
  unsigned char back = 0;
  HIP_OK(hipMemcpy(&back, device.get(), 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, 2);
}

TEST(StreamOrder, NonBlockingStreamsDoNot) {
  TestStream apart(hipStreamNonBlocking);
  DeviceBuffer device(4096);
  PinnedBuffer host(4096);
  Gate gate;
  gate.close(nullptr);
  HIP_OK(hipMemsetAsync(device.get(), 7, 4096, apart));
  HIP_OK(hipMemcpyAsync(host.as<void>(), device.get(), 4096, hipMemcpyDeviceToHost, apart));
  HIP_OK(hipStreamSynchronize(apart));  // hangs until the gate's limit when it waited for the default stream
  EXPECT_EQ(host.as<unsigned char>()[4095], 7);
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
  gate.open();
  HIP_OK(hipDeviceSynchronize());
}

constexpr std::size_t kFilledBytes = 8 * 64;

// Fills kFilledBytes with 3, without naming a stream.
using FillForm = hipError_t (*)(void*);
constexpr FillForm kFillForms[] = {
    [](void* target) { return hipMemset(target, 3, kFilledBytes); },
    [](void* target) { return hipMemsetD8(target, 3, kFilledBytes); },
    [](void* target) { return hipMemsetD16(target, 0x303, kFilledBytes / 2); },
    [](void* target) { return hipMemsetD32(target, 0x3030303, kFilledBytes / 4); },
    [](void* target) { return hipMemset2D(target, 64, 3, 64, 8); },
    [](void* target) {
      return hipMemset3D(make_hipPitchedPtr(target, 64, 64, 4), 3, make_hipExtent(64, 4, 2));
    },
};

// As work of the thread's own stream, which created streams do not wait for.
constexpr FillForm kFillFormsOfThreads[] = {
    [](void* target) { return hipMemset_spt(target, 3, kFilledBytes); },
    [](void* target) { return hipMemset2D_spt(target, 64, 3, 64, 8); },
    [](void* target) {
      return hipMemset3D_spt(make_hipPitchedPtr(target, 64, 64, 4), 3, make_hipExtent(64, 4, 2));
    },
};

std::vector<FillForm> all_fill_forms() {
  std::vector<FillForm> all(std::begin(kFillForms), std::end(kFillForms));
  all.insert(all.end(), std::begin(kFillFormsOfThreads), std::end(kFillFormsOfThreads));
  return all;
}

TEST(StreamOrder, FillsWithoutAStreamWaitForHostFunctions) {
  TestStream blocking;
  for (hipStream_t stream : {hipStream_t{nullptr}, hipStream_t{blocking}}) {
    for (const FillForm& form : kFillForms) {
      DeviceBuffer device(kFilledBytes);
      Gate gate;
      gate.close(stream);
      HIP_OK(hipMemsetAsync(device.get(), 1, kFilledBytes, stream));
      const SoonOpen opener(gate);
      HIP_OK(form(device.get()));
      HIP_OK(hipDeviceSynchronize());
      std::vector<unsigned char> back(kFilledBytes);
      HIP_OK(hipMemcpy(back.data(), device.get(), kFilledBytes, hipMemcpyDeviceToHost));
      EXPECT_EQ(back, std::vector<unsigned char>(kFilledBytes, 3)) << (&form - kFillForms);
    }
  }
}

// hipMemset() may return before the memory is filled, but what is called later finds it so, on whichever
// stream.
TEST(StreamOrder, FillsWithoutAStreamAreDoneForEveryStream) {
  TestStream before(hipStreamNonBlocking);
  DeviceBuffer device(kFilledBytes);
  PinnedBuffer host(2 * kFilledBytes);
  auto* const back = host.as<unsigned char>();
  const std::vector<FillForm> forms = all_fill_forms();
  for (const FillForm& form : forms) {
    HIP_OK(hipMemset(device.get(), 1, kFilledBytes));
    HIP_OK(hipDeviceSynchronize());
    Gate gate;
    gate.close(nullptr);
    const SoonOpen opener(gate);
    HIP_OK(form(device.get()));
    TestStream after(hipStreamNonBlocking);
    HIP_OK(hipMemcpyAsync(back, device.get(), kFilledBytes, hipMemcpyDeviceToHost, before));
    HIP_OK(hipMemcpyAsync(back + kFilledBytes, device.get(), kFilledBytes, hipMemcpyDeviceToHost, after));
    HIP_OK(hipStreamSynchronize(before));
    HIP_OK(hipStreamSynchronize(after));
    EXPECT_EQ(std::vector<unsigned char>(back, back + 2 * kFilledBytes),
              std::vector<unsigned char>(2 * kFilledBytes, 3))
        << (&form - forms.data());
  }
}

TEST(StreamOrder, FillsWithoutAStreamAreDoneForTheHost) {
  void* managed = nullptr;
  HIP_OK(hipMallocManaged(&managed, kFilledBytes, hipMemAttachGlobal));
  auto* const bytes = static_cast<unsigned char*>(managed);
  const std::vector<FillForm> forms = all_fill_forms();
  for (const FillForm& form : forms) {
    HIP_OK(hipMemset(managed, 1, kFilledBytes));
    HIP_OK(hipDeviceSynchronize());
    Gate gate;
    gate.close(nullptr);
    const SoonOpen opener(gate);
    HIP_OK(form(managed));
    EXPECT_EQ(std::vector<unsigned char>(bytes, bytes + kFilledBytes),
              std::vector<unsigned char>(kFilledBytes, 3))
        << (&form - forms.data());
  }
  HIP_OK(hipFree(managed));
}

TEST(StreamOrder, FillsWithoutAStreamAreDoneForEveryDevice) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  DeviceBuffer device(kFilledBytes);
  HIP_OK(hipMemset(device.get(), 1, kFilledBytes));
  HIP_OK(hipDeviceSynchronize());
  Gate gate;
  gate.close(nullptr);
  const SoonOpen opener(gate);
  HIP_OK(hipMemset(device.get(), 3, kFilledBytes));
  HIP_OK(hipSetDevice(1));
  DeviceBuffer there(kFilledBytes);
  HIP_OK(hipMemcpyPeerAsync(there.get(), 1, device.get(), 0, kFilledBytes, nullptr));
  std::vector<unsigned char> back(kFilledBytes);
  HIP_OK(hipMemcpy(back.data(), there.get(), kFilledBytes, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, std::vector<unsigned char>(kFilledBytes, 3));
  HIP_OK(hipSetDevice(0));
}

// More requests than the worker, its staging and the request ring hold stand behind the host function.
TEST(StreamOrder, AHostFunctionEndsWhateverIsPostedBehindIt) {
  TestStream stream;
  DeviceBuffer device(64);
  for (const unsigned copies : {1000u, 20'000u}) {
    Gate gate;
    gate.close(stream);
    const SoonOpen opener(gate);
    for (unsigned copy = 1; copy <= copies; ++copy)
      HIP_OK(hipMemcpyAsync(device.get(), &copy, sizeof copy, hipMemcpyHostToDevice, stream));
    HIP_OK(hipStreamSynchronize(stream));
    unsigned back = 0;
    HIP_OK(hipMemcpy(&back, device.get(), sizeof back, hipMemcpyDeviceToHost));
    EXPECT_EQ(back, copies);
  }
}

TEST(StreamOrder, EventsOrderStreams) {
  TestStream first(hipStreamNonBlocking);
  TestStream second(hipStreamNonBlocking);
  TestEvent event(hipEventDisableTiming);
  DeviceBuffer device(1 << 16);
  Gate gate;
  gate.close(first);
  HIP_OK(hipMemsetAsync(device.get(), 1, 1 << 16, first));
  HIP_OK(hipEventRecord(event, first));
  HIP_OK(hipStreamWaitEvent(second, event, 0));
  HIP_OK(hipMemsetAsync(device.get(), 2, 1 << 16, second));
  EXPECT_EQ(hipStreamQuery(second), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(second));
  HIP_OK(hipStreamQuery(first));
  unsigned char back = 0;
  HIP_OK(hipMemcpy(&back, device.at(65535), 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, 2);
}

TEST(StreamOrder, WaitsForWhatTheEventWasWhenAsked) {
  TestStream first(hipStreamNonBlocking);
  TestStream second(hipStreamNonBlocking);
  TestEvent event(hipEventDisableTiming);
  HIP_OK(hipEventRecord(event, first));
  HIP_OK(hipEventSynchronize(event));
  HIP_OK(hipStreamWaitEvent(second, event, 0));
  Gate gate;
  gate.close(first);
  HIP_OK(hipEventRecord(event, first));  // later than the wait: no matter for it
  HIP_OK(hipStreamSynchronize(second));
  EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
  gate.open();
  HIP_OK(hipStreamSynchronize(first));
}

TEST(StreamOrder, WaitOnUnrecordedEventIsNothing) {
  TestStream stream;
  TestEvent event;
  HIP_OK(hipStreamWaitEvent(stream, event, 0));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_NE(hipStreamWaitEvent(stream, nullptr, 0), hipSuccess);
}

TEST(StreamOrder, PerThreadStream) {
  DeviceBuffer device(4096);
  HIP_OK(hipMemsetAsync(device.get(), 3, 4096, hipStreamPerThread));
  HIP_OK(hipStreamSynchronize(hipStreamPerThread));
  HIP_OK(hipStreamQuery(hipStreamPerThread));
  unsigned char back = 0;
  HIP_OK(hipMemcpy(&back, device.at(4000), 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, 3);
  EXPECT_NE(hipStreamDestroy(hipStreamPerThread), hipSuccess);
}

TEST(StreamOrder, LongChainAcrossStreams) {
  TestStream first(hipStreamNonBlocking);
  TestStream second(hipStreamNonBlocking);
  TestEvent forth(hipEventDisableTiming);
  TestEvent back(hipEventDisableTiming);
  DeviceBuffer device(256 * 256);
  for (int i = 0; i < 200; ++i) {
    HIP_OK(hipMemsetAsync(device.get(), i, 256 * 256, first));
    HIP_OK(hipEventRecord(forth, first));
    HIP_OK(hipStreamWaitEvent(second, forth, 0));
    HIP_OK(hipMemcpyAsync(device.at(256 * 128), device.get(), 128, hipMemcpyDeviceToDevice, second));
    HIP_OK(hipMemsetAsync(device.get(), 255 - i, 128, second));
    HIP_OK(hipEventRecord(back, second));
    HIP_OK(hipStreamWaitEvent(first, back, 0));
  }
  HIP_OK(hipDeviceSynchronize());
  unsigned char bytes[2] = {};
  HIP_OK(hipMemcpy(&bytes[0], device.get(), 1, hipMemcpyDeviceToHost));
  HIP_OK(hipMemcpy(&bytes[1], device.at(256 * 128), 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(bytes[0], 255 - 199);
  EXPECT_EQ(bytes[1], 199);
}

}  // namespace
}  // namespace tf::api_test
