// SPDX-License-Identifier: Apache-2.0
// Synchronous fills of device memory and copies within a device: the calls do not wait for them, and whatever
// comes after finds them done. Fills that the host can see are done when the call returns.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/api/copy_forms.h"
#include "tests/api/kernels.h"
#include "tests/api/partner.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kPitch = 256;
constexpr std::size_t kRows = 64;
constexpr std::size_t kSlices = 4;
constexpr std::size_t kLateBytes = kPitch * kRows * kSlices;
constexpr int kValue = 7;

// Sets all kLateBytes of `to` to kValue, which `from` has.
struct Form {
  const char* name;
  hipError_t (*make)(void* to, void* from);
};

constexpr Form kFills[] = {
    {"hipMemset", [](void* to, void*) { return hipMemset(to, kValue, kLateBytes); }},
    {"hipMemsetD8", [](void* to, void*) { return hipMemsetD8(to, kValue, kLateBytes); }},
    {"hipMemsetD16", [](void* to, void*) { return hipMemsetD16(to, kValue * 0x101, kLateBytes / 2); }},
    {"hipMemsetD32", [](void* to, void*) { return hipMemsetD32(to, kValue * 0x1010101, kLateBytes / 4); }},
    {"hipMemset2D", [](void* to, void*) { return hipMemset2D(to, kPitch, kValue, kPitch, kRows * kSlices); }},
    {"hipMemset3D",
     [](void* to, void*) {
       const hipPitchedPtr box = make_hipPitchedPtr(to, kPitch, kPitch, kRows);
       return hipMemset3D(box, kValue, make_hipExtent(kPitch, kRows, kSlices));
     }},
};

hip_Memcpy2D all_rows(void* to, void* from) {
  hip_Memcpy2D rows = {};
  rows.srcMemoryType = rows.dstMemoryType = hipMemoryTypeDevice;
  rows.srcDevice = from;
  rows.dstDevice = to;
  rows.srcPitch = rows.dstPitch = rows.WidthInBytes = kPitch;
  rows.Height = kRows * kSlices;
  return rows;
}

hipMemcpy3DParms whole_box(void* to, void* from) {
  hipMemcpy3DParms box = {};
  box.srcPtr = make_hipPitchedPtr(from, kPitch, kPitch, kRows);
  box.dstPtr = make_hipPitchedPtr(to, kPitch, kPitch, kRows);
  box.extent = make_hipExtent(kPitch, kRows, kSlices);
  box.kind = hipMemcpyDeviceToDevice;
  return box;
}

constexpr Form kCopies[] = {
    {"hipMemcpy",
     [](void* to, void* from) { return hipMemcpy(to, from, kLateBytes, hipMemcpyDeviceToDevice); }},
    {"hipMemcpy, hipMemcpyDefault",
     [](void* to, void* from) { return hipMemcpy(to, from, kLateBytes, hipMemcpyDefault); }},
    {"hipMemcpyDtoD", [](void* to, void* from) { return hipMemcpyDtoD(to, from, kLateBytes); }},
    {"hipMemcpyPeer", [](void* to, void* from) { return hipMemcpyPeer(to, 0, from, 0, kLateBytes); }},
    {"hipMemcpy2D",
     [](void* to, void* from) {
       return hipMemcpy2D(to, kPitch, from, kPitch, kPitch, kRows * kSlices, hipMemcpyDeviceToDevice);
     }},
    {"hipMemcpyParam2D",
     [](void* to, void* from) {
       const hip_Memcpy2D rows = all_rows(to, from);
       return hipMemcpyParam2D(&rows);
     }},
    {"hipDrvMemcpy2DUnaligned",
     [](void* to, void* from) {
       const hip_Memcpy2D rows = all_rows(to, from);
       return hipDrvMemcpy2DUnaligned(&rows);
     }},
    {"hipMemcpy3D",
     [](void* to, void* from) {
       const hipMemcpy3DParms box = whole_box(to, from);
       return hipMemcpy3D(&box);
     }},
    {"hipMemcpyToSymbol and back",
     [](void* to, void* from) {
       static_assert(kLateBytes <= kBlockBytes);
       const hipError_t up = hipMemcpyToSymbol(block_symbol(), from, kLateBytes, 0, hipMemcpyDeviceToDevice);
       if (up != hipSuccess) return up;
       return hipMemcpyFromSymbol(to, block_symbol(), kLateBytes, 0, hipMemcpyDeviceToDevice);
     }},
};

testing::AssertionResult holds_value(const unsigned char* bytes) {
  const auto* const other = std::find_if(bytes, bytes + kLateBytes, [](int byte) { return byte != kValue; });
  if (other == bytes + kLateBytes) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "byte " << other - bytes << " is " << int(*other);
}

testing::AssertionResult holds_value(const DeviceBuffer& device) {
  std::vector<unsigned char> back(kLateBytes);
  const hipError_t copied = hipMemcpy(back.data(), device.get(), kLateBytes, hipMemcpyDeviceToHost);
  if (copied != hipSuccess) return testing::AssertionFailure() << hipGetErrorName(copied);
  return holds_value(back.data());
}

// `before` stands still; the call returns, and its work is made when the stream goes on.
void expect_no_wait(const Form& form, hipStream_t before) {
  SCOPED_TRACE(form.name);
  DeviceBuffer from(kLateBytes);
  DeviceBuffer to(kLateBytes);
  HIP_OK(hipMemset(from.get(), 1, kLateBytes));
  HIP_OK(hipMemset(to.get(), 2, kLateBytes));
  HIP_OK(hipDeviceSynchronize());
  Gate gate;
  gate.close(before);
  HIP_OK(hipMemsetAsync(from.get(), kValue, kLateBytes, before));
  HIP_OK(form.make(to.get(), from.get()));
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady) << "the call has waited";
  (void)hipGetLastError();
  gate.open();
  HIP_OK(hipStreamSynchronize(nullptr));
  EXPECT_TRUE(holds_value(to));
}

// What the host may touch is filled when the call returns.
TEST(LateWork, FillsOfHostMemoryAreDoneOnReturn) {
  for (const Memory memory : {Memory::kPinned, Memory::kRegistered, Memory::kManaged}) {
    const HostBlock host(memory, kLateBytes);
    for (const Form& fill : kFills) {
      SCOPED_TRACE(std::string(fill.name) + ", " + name_of(memory));
      HIP_OK(hipDeviceSynchronize());
      std::fill_n(host.get(), kLateBytes, std::byte{1});
      Gate gate;
      gate.close(nullptr);
      const SoonOpen opener(gate);
      HIP_OK(fill.make(host.get(), nullptr));
      EXPECT_TRUE(holds_value(reinterpret_cast<const unsigned char*>(host.get())));
    }
  }
}

// Later work of streams that are not ordered with the null stream, new ones as well.
TEST(LateWork, IsDoneForEveryStream) {
  const TestStream unordered(hipStreamNonBlocking);
  std::vector<Form> forms(std::begin(kFills), std::end(kFills));
  forms.insert(forms.end(), std::begin(kCopies), std::end(kCopies));
  PinnedBuffer back(2 * kLateBytes);
  auto* const seen = back.as<unsigned char>();
  for (const Form& form : forms) {
    SCOPED_TRACE(form.name);
    DeviceBuffer from(kLateBytes);
    DeviceBuffer to(kLateBytes);
    HIP_OK(hipMemset(from.get(), kValue, kLateBytes));
    HIP_OK(hipMemset(to.get(), 2, kLateBytes));
    HIP_OK(hipDeviceSynchronize());
    Gate gate;
    gate.close(nullptr);
    const SoonOpen opener(gate);
    HIP_OK(form.make(to.get(), from.get()));
    const TestStream fresh(hipStreamNonBlocking);
    HIP_OK(hipMemcpyAsync(seen, to.get(), kLateBytes, hipMemcpyDeviceToHost, unordered));
    HIP_OK(hipMemcpyAsync(seen + kLateBytes, to.get(), kLateBytes, hipMemcpyDeviceToHost, fresh));
    HIP_OK(hipStreamSynchronize(unordered));
    HIP_OK(hipStreamSynchronize(fresh));
    EXPECT_TRUE(holds_value(seen));
    EXPECT_TRUE(holds_value(seen + kLateBytes));
  }
}

// --- in processes of their own: remotely, copies wait if memory is shared or there are other streams

template <typename Forms>
void expect_no_waits(const Forms& forms) {
  const TestStream blocking;
  for (const Form& form : forms)
    for (const hipStream_t before : {hipStream_t{nullptr}, hipStream_t{blocking}})
      expect_no_wait(form, before);
}

void fills_do_not_wait() { expect_no_waits(kFills); }

void fills_of_variables_do_not_wait() {
  void* block = nullptr;
  HIP_OK(hipGetSymbolAddress(&block, block_symbol()));
  Gate gate;
  gate.close(nullptr);
  HIP_OK(hipMemset(block, kValue, kLateBytes));
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady) << "the call has waited";
  (void)hipGetLastError();
  gate.open();
  std::vector<unsigned char> back(kLateBytes);
  HIP_OK(hipMemcpyFromSymbol(back.data(), block_symbol(), kLateBytes, 0, hipMemcpyDeviceToHost));
  EXPECT_TRUE(holds_value(back.data()));
}

// Those of memory that others may open wait: Ipc.WhatASynchronousCallDidThePartnerSees.
void fills_do_not_wait_while_other_memory_is_shared() {
  DeviceBuffer shared(kLateBytes);
  hipIpcMemHandle_t handle = {};
  HIP_OK(hipIpcGetMemHandle(&handle, shared.get()));
  fills_do_not_wait();
}

void copies_do_not_wait() { expect_no_waits(kCopies); }

// The null streams of the two devices are not ordered with each other.
void copies_between_devices_are_there_for_both() {
  DeviceBuffer from(kLateBytes);
  HIP_OK(hipMemset(from.get(), 1, kLateBytes));
  HIP_OK(hipSetDevice(1));
  DeviceBuffer to(kLateBytes);
  PinnedBuffer back(kLateBytes);
  auto* const seen = back.as<unsigned char>();
  const Form forms[] = {
      {"hipMemcpyPeer", [](void* t, void* f) { return hipMemcpyPeer(t, 1, f, 0, kLateBytes); }},
      {"hipMemcpy", [](void* t, void* f) { return hipMemcpy(t, f, kLateBytes, hipMemcpyDeviceToDevice); }},
      {"hipMemcpy2D",
       [](void* t, void* f) {
         return hipMemcpy2D(t, kPitch, f, kPitch, kPitch, kRows * kSlices, hipMemcpyDeviceToDevice);
       }},
  };
  for (const Form& copy : forms) {
    SCOPED_TRACE(copy.name);
    HIP_OK(hipMemset(to.get(), 2, kLateBytes));
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipSetDevice(0));
    Gate gate;
    gate.close(nullptr);
    HIP_OK(hipMemsetAsync(from.get(), kValue, kLateBytes, nullptr));
    const SoonOpen opener(gate);
    HIP_OK(copy.make(to.get(), from.get()));
    HIP_OK(hipSetDevice(1));
    HIP_OK(hipMemcpyAsync(seen, to.get(), kLateBytes, hipMemcpyDeviceToHost, nullptr));
    HIP_OK(hipStreamSynchronize(nullptr));
    EXPECT_TRUE(holds_value(seen));
  }
  HIP_OK(hipSetDevice(0));
}

TEST(LateWorkProcess, DISABLED_Run) {
  const char* const role = std::getenv("HIP_TEST_PARTNER");
  if (role == nullptr) GTEST_SKIP() << "only as somebody's partner";
  const std::string what = role;
  if (what == "fills") fills_do_not_wait();
  if (what == "sharing") fills_do_not_wait_while_other_memory_is_shared();
  if (what == "variables") fills_of_variables_do_not_wait();
  if (what == "copies") copies_do_not_wait();
  if (what == "devices") copies_between_devices_are_there_for_both();
}

int run_alone(const char* role) {
  return exit_code(start_partner(role, "", -1, "LateWorkProcess.DISABLED_Run"));
}

TEST(LateWork, FillsOfDeviceMemoryDoNotWait) { EXPECT_EQ(run_alone("fills"), 0); }

TEST(LateWork, FillsDoNotWaitWhileOtherMemoryIsShared) { EXPECT_EQ(run_alone("sharing"), 0); }

TEST(LateWork, FillsOfVariablesDoNotWait) { EXPECT_EQ(run_alone("variables"), 0); }

TEST(LateWork, CopiesWithinTheDeviceDoNotWait) {
  if (is_nvidia()) GTEST_SKIP() << "which of these copies wait is the driver's affair";
  EXPECT_EQ(run_alone("copies"), 0);
}

TEST(LateWork, CopiesBetweenDevicesAreThereForBoth) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  EXPECT_EQ(run_alone("devices"), 0);
}

}  // namespace
}  // namespace tf::api_test
