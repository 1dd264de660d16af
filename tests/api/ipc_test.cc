// SPDX-License-Identifier: Apache-2.0
// Memory and events shared between processes.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/api/hip_test.h"
#include "tests/api/partner.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kIpcCount = 300'000;
constexpr std::size_t kIpcBytes = kIpcCount * sizeof(std::uint32_t);

bool physical_memory_is_offered(hipMemAllocationProp& properties, std::size_t& granularity) {
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  properties.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  return hipMemGetAllocationGranularity(&granularity, &properties, hipMemAllocationGranularityMinimum) ==
         hipSuccess;
}

// Reserved, mapped, accessible.
void* map_physical(hipMemGenericAllocationHandle_t handle, std::size_t bytes) {
  void* base = nullptr;
  hipMemAccessDesc access = {};
  access.location = {hipMemLocationTypeDevice, 0};
  access.flags = hipMemAccessFlagsProtReadWrite;
  EXPECT_EQ(hipMemAddressReserve(&base, bytes, 0, nullptr, 0), hipSuccess);
  EXPECT_EQ(hipMemMap(base, bytes, 0, handle, 0), hipSuccess);
  EXPECT_EQ(hipMemSetAccess(base, bytes, &access, 1), hipSuccess);
  return base;
}

void unmap_physical(void* base, std::size_t bytes) {
  EXPECT_EQ(hipMemUnmap(base, bytes), hipSuccess);
  EXPECT_EQ(hipMemAddressFree(base, bytes), hipSuccess);
}

// --- what partners do -------------------------------------------------------------------------------------

// Sees the exporter's numbers and leaves 42 in the last of them.
void change(void* shared, std::size_t bytes) {
  std::vector<std::uint32_t> seen(bytes / sizeof(std::uint32_t));
  HIP_OK(hipMemcpy(seen.data(), shared, bytes, hipMemcpyDeviceToHost));
  EXPECT_TRUE(seen == counting(seen.size(), 7));
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, shared));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  HIP_OK(hipMemsetD32(static_cast<std::byte*>(shared) + bytes - sizeof(std::uint32_t), 42, 1));
  EXPECT_EQ(hipMemset(shared, 0, bytes + (64 << 20)), hipErrorInvalidValue) << "more than was shared";
  HIP_OK(hipDeviceSynchronize());
}

void open_and_change(const hipIpcMemHandle_t& handle) {
  void* shared = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&shared, handle, hipIpcMemLazyEnablePeerAccess));
  change(shared, kIpcBytes);
  EXPECT_EQ(hipFree(shared), hipErrorInvalidValue) << "not ours to free";
  HIP_OK(hipIpcCloseMemHandle(shared));
  EXPECT_EQ(hipIpcCloseMemHandle(shared), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(shared, 0, 1), hipErrorInvalidValue) << "closed";
}

void open_inside(const hipIpcMemHandle_t& handle) {
  void* shared = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&shared, handle, hipIpcMemLazyEnablePeerAccess));
  std::uint32_t seen = 0;
  HIP_OK(hipMemcpy(&seen, shared, sizeof seen, hipMemcpyDeviceToHost));
  EXPECT_EQ(seen, 7u + 1000);
  void* again = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&again, handle, hipIpcMemLazyEnablePeerAccess)) << "twice is fine";
  HIP_OK(hipMemcpy(&seen, again, sizeof seen, hipMemcpyDeviceToHost));
  EXPECT_EQ(seen, 7u + 1000);
  HIP_OK(hipIpcCloseMemHandle(shared));
  HIP_OK(hipMemcpy(&seen, again, sizeof seen, hipMemcpyDeviceToHost));
  HIP_OK(hipIpcCloseMemHandle(again));
}

void find_it_gone(const hipIpcMemHandle_t& handle) {
  void* shared = nullptr;
  EXPECT_EQ(hipIpcOpenMemHandle(&shared, handle, hipIpcMemLazyEnablePeerAccess),
            hipErrorInvalidDevicePointer);
}

void leave_it_open(const hipIpcMemHandle_t& handle) {
  void* shared = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&shared, handle, hipIpcMemLazyEnablePeerAccess));
  change(shared, kIpcBytes);
}

void import_and_change() {
  hipMemAllocationProp properties = {};
  std::size_t bytes = 0;
  ASSERT_TRUE(physical_memory_is_offered(properties, bytes));
  hipMemGenericAllocationHandle_t handle = nullptr;
  void* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(kPartnerFd));
  HIP_OK(hipMemImportFromShareableHandle(&handle, descriptor, hipMemHandleTypePosixFileDescriptor));
  void* const base = map_physical(handle, bytes);
  HIP_OK(hipMemRelease(handle));
  change(base, bytes);
  unmap_physical(base, bytes);
}

// The event is recorded behind a closed gate, which its owner opens when told.
void wait_for_event(const std::string& handles) {
  const auto memory = from_hex(handles.substr(0, handles.find(',')));
  const auto handle = from_hex<hipIpcEventHandle_t>(handles.substr(handles.find(',') + 1));
  void* shared = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&shared, memory, hipIpcMemLazyEnablePeerAccess));
  hipEvent_t event = nullptr;
  HIP_OK(hipIpcOpenEventHandle(&event, handle));
  EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
  TestStream stream(hipStreamNonBlocking);
  HIP_OK(hipStreamWaitEvent(stream, event, 0));
  PinnedBuffer seen(kIpcBytes);
  HIP_OK(hipMemcpyAsync(seen.as<void>(), shared, kIpcBytes, hipMemcpyDeviceToHost, stream));
  EXPECT_EQ(hipStreamQuery(stream), hipErrorNotReady);
  ASSERT_EQ(::write(kPartnerFd, "!", 1), 1);
  HIP_OK(hipEventSynchronize(event));
  EXPECT_EQ(hipEventQuery(event), hipSuccess);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(seen.as<std::uint32_t>()[0], 55u);
  EXPECT_EQ(seen.as<std::uint32_t>()[kIpcCount - 1], 55u);
  // Recorded here, seen there.
  HIP_OK(hipMemsetD32Async(shared, 66, kIpcCount, stream));
  HIP_OK(hipEventRecord(event, stream));
  HIP_OK(hipEventSynchronize(event));
  float time = 0;
  EXPECT_NE(hipEventElapsedTime(&time, event, event), hipSuccess) << "shared events take no time";
  HIP_OK(hipEventDestroy(event));
  HIP_OK(hipIpcCloseMemHandle(shared));
}

// Ends with a recording of the event under way.
void die_before_the_event(const std::string& text) {
  hipEvent_t event = nullptr;
  HIP_OK(hipIpcOpenEventHandle(&event, from_hex<hipIpcEventHandle_t>(text)));
  TestStream stream;
  HIP_OK(hipStreamAddCallback(
      stream, [](hipStream_t, hipError_t, void*) { ::pause(); }, nullptr, 0));
  HIP_OK(hipEventRecord(event, stream));
  EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
  ::_exit(::testing::Test::HasFailure() ? 1 : 0);
}

// Memory of the second device, while the first is current.
void see_the_second_device(const hipIpcMemHandle_t& handle) {
  void* shared = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&shared, handle, hipIpcMemLazyEnablePeerAccess));
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, shared));
  EXPECT_EQ(attributes.device, 1);
  int current = -1;
  HIP_OK(hipGetDevice(&current));
  EXPECT_EQ(current, 0);
  change(shared, kIpcBytes);
  HIP_OK(hipIpcCloseMemHandle(shared));
}

// What a synchronous call of the owner has done is there when the owner says so.
void watch(const hipIpcMemHandle_t& handle) {
  void* shared = nullptr;
  HIP_OK(hipIpcOpenMemHandle(&shared, handle, hipIpcMemLazyEnablePeerAccess));
  std::uint32_t told = 0;
  while (::read(kPartnerFd, &told, sizeof told) == static_cast<ssize_t>(sizeof told)) {
    std::uint32_t seen = 0;
    HIP_OK(hipMemcpy(&seen, static_cast<std::byte*>(shared) + kIpcBytes - sizeof seen, sizeof seen,
                     hipMemcpyDeviceToHost));
    EXPECT_EQ(seen, told);
    ASSERT_EQ(::write(kPartnerFd, &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
  }
  HIP_OK(hipIpcCloseMemHandle(shared));
}

void find_event_gone(const std::string& text) {
  hipEvent_t event = nullptr;
  EXPECT_EQ(hipIpcOpenEventHandle(&event, from_hex<hipIpcEventHandle_t>(text)), hipErrorInvalidValue);
}

TEST(IpcPartner, DISABLED_Run) {
  const char* role = std::getenv("HIP_TEST_PARTNER");
  const char* text = std::getenv("HIP_TEST_HANDLE");
  if (role == nullptr || text == nullptr) GTEST_SKIP() << "only as somebody's partner";
  const hipIpcMemHandle_t handle = from_hex(text);
  const std::string wanted = role;
  if (wanted == "change") return open_and_change(handle);
  if (wanted == "inside") return open_inside(handle);
  if (wanted == "gone") return find_it_gone(handle);
  if (wanted == "leave") return leave_it_open(handle);
  if (wanted == "import") return import_and_change();
  if (wanted == "second device") return see_the_second_device(handle);
  if (wanted == "watch") return watch(handle);
  if (wanted == "event") return wait_for_event(text);
  if (wanted == "event dies") return die_before_the_event(text);
  if (wanted == "event gone") return find_event_gone(text);
  FAIL() << wanted;
}

// --- what is tested ---------------------------------------------------------------------------------------

class Ipc : public ::testing::Test {
 protected:
  void SetUp() override {
    HIP_OK(hipIpcGetMemHandle(&handle_, shared_.get()));
    const std::vector<std::uint32_t> numbers = counting(kIpcCount, 7);
    HIP_OK(hipMemcpy(shared_.get(), numbers.data(), kIpcBytes, hipMemcpyHostToDevice));
    HIP_OK(hipDeviceSynchronize());
  }
  std::uint32_t last() {
    std::uint32_t value = 0;
    EXPECT_EQ(hipMemcpy(&value, shared_.at(kIpcBytes - sizeof value), sizeof value, hipMemcpyDeviceToHost),
              hipSuccess);
    return value;
  }

  DeviceBuffer before_{1000};  // so that the memory does not start where a lease does
  DeviceBuffer shared_{kIpcBytes};
  hipIpcMemHandle_t handle_{};
};

TEST_F(Ipc, AnotherProcessSeesAndChangesTheMemory) {
  EXPECT_EQ(run_partner("change", hex(handle_)), 0);
  EXPECT_EQ(last(), 42u);
  hipIpcMemHandle_t again = {};
  HIP_OK(hipIpcGetMemHandle(&again, shared_.get()));
  const std::uint32_t seven = static_cast<std::uint32_t>(7 + kIpcCount - 1);
  HIP_OK(hipMemcpy(shared_.at(kIpcBytes - sizeof seven), &seven, sizeof seven, hipMemcpyHostToDevice));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(run_partner("change", hex(again)), 0);
}

TEST_F(Ipc, APointerInsideIsOpenedInside) {
  hipIpcMemHandle_t inside = {};
  HIP_OK(hipIpcGetMemHandle(&inside, shared_.at(1000 * sizeof(std::uint32_t))));
  EXPECT_EQ(run_partner("inside", hex(inside)), 0);
}

TEST_F(Ipc, APartnerThatEndsLeavesTheMemoryAlone) {
  EXPECT_EQ(run_partner("leave", hex(handle_)), 0);
  EXPECT_EQ(last(), 42u);
  HIP_OK(hipMemset(shared_.get(), 0, kIpcBytes));
  EXPECT_EQ(last(), 0u);
}

TEST_F(Ipc, ContentsSurviveTheExport) {
  DeviceBuffer buffer(kIpcBytes);
  const std::vector<std::uint32_t> numbers = counting(kIpcCount, 3);
  HIP_OK(hipMemcpy(buffer.get(), numbers.data(), kIpcBytes, hipMemcpyHostToDevice));
  hipIpcMemHandle_t handle = {};
  HIP_OK(hipIpcGetMemHandle(&handle, buffer.get()));
  std::vector<std::uint32_t> back(kIpcCount);
  HIP_OK(hipMemcpy(back.data(), buffer.get(), kIpcBytes, hipMemcpyDeviceToHost));
  EXPECT_TRUE(back == numbers);
}

TEST_F(Ipc, MemoryOfAnyDeviceIsShared) {
  if (device_count() < 2) GTEST_SKIP() << "one device";
  if (is_nvidia() && !is_remote())
    GTEST_SKIP() << "NVIDIA's driver takes memory for that of the device that opens it";
  HIP_OK(hipSetDevice(1));
  DeviceBuffer buffer(kIpcBytes);
  const std::vector<std::uint32_t> numbers = counting(kIpcCount, 7);
  HIP_OK(hipMemcpy(buffer.get(), numbers.data(), kIpcBytes, hipMemcpyHostToDevice));
  HIP_OK(hipSetDevice(0));
  hipIpcMemHandle_t handle = {};
  HIP_OK(hipIpcGetMemHandle(&handle, buffer.get()));
  EXPECT_EQ(run_partner("second device", hex(handle)), 0);
  std::uint32_t value = 0;
  HIP_OK(hipMemcpy(&value, buffer.at(kIpcBytes - sizeof value), sizeof value, hipMemcpyDeviceToHost));
  EXPECT_EQ(value, 42u);
}

TEST_F(Ipc, FreedMemoryCannotBeOpened) {
  void* pointer = nullptr;
  HIP_OK(hipMalloc(&pointer, kIpcBytes));
  hipIpcMemHandle_t handle = {};
  HIP_OK(hipIpcGetMemHandle(&handle, pointer));
  HIP_OK(hipFree(pointer));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(run_partner("gone", hex(handle)), 0);
}

TEST_F(Ipc, AProcessDoesNotOpenItsOwnMemory) {
  void* pointer = nullptr;
  EXPECT_EQ(hipIpcOpenMemHandle(&pointer, handle_, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidContext);
}

TEST_F(Ipc, BadArgumentsAreRefused) {
  hipIpcMemHandle_t handle = {};
  EXPECT_EQ(hipIpcGetMemHandle(nullptr, shared_.get()), hipErrorInvalidValue);
  EXPECT_EQ(hipIpcGetMemHandle(&handle, nullptr), hipErrorInvalidValue);
  int on_stack = 0;
  EXPECT_EQ(hipIpcGetMemHandle(&handle, &on_stack), hipErrorInvalidDevicePointer);
  PinnedBuffer pinned(4096);
  EXPECT_EQ(hipIpcGetMemHandle(&handle, pinned.as<void>()), hipErrorInvalidDevicePointer);
  void* pooled = nullptr;
  HIP_OK(hipMallocAsync(&pooled, 4096, nullptr));
  EXPECT_EQ(hipIpcGetMemHandle(&handle, pooled), hipErrorInvalidDevicePointer);
  HIP_OK(hipFreeAsync(pooled, nullptr));
  void* pointer = nullptr;
  EXPECT_EQ(hipIpcOpenMemHandle(nullptr, handle_, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
  EXPECT_EQ(hipIpcOpenMemHandle(&pointer, hipIpcMemHandle_t{}, hipIpcMemLazyEnablePeerAccess),
            hipErrorInvalidValue);
  EXPECT_EQ(hipIpcOpenMemHandle(&pointer, handle_, 7), hipErrorInvalidValue);
  EXPECT_EQ(hipIpcCloseMemHandle(shared_.get()), hipErrorInvalidValue) << "not opened";
  EXPECT_EQ(hipIpcCloseMemHandle(nullptr), hipErrorInvalidValue);
}

TEST_F(Ipc, WhatASynchronousCallDidThePartnerSees) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const pid_t partner = start_partner("watch", hex(handle_), ends[1]);
  ::close(ends[1]);
  for (std::uint32_t round = 1; round <= 100; ++round) {
    const std::uint32_t value = 0x01010101 * round;
    if (round % 2 == 0) {
      HIP_OK(hipMemset(shared_.get(), static_cast<int>(round), kIpcBytes));
    } else {
      const std::vector<std::uint32_t> values(kIpcCount, value);
      HIP_OK(hipMemcpy(shared_.get(), values.data(), kIpcBytes, hipMemcpyHostToDevice));
    }
    ASSERT_EQ(::write(ends[0], &value, sizeof value), static_cast<ssize_t>(sizeof value));
    std::uint32_t seen = 0;
    ASSERT_EQ(::read(ends[0], &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
    ASSERT_EQ(seen, value) << round;
  }
  ::close(ends[0]);
  EXPECT_EQ(exit_code(partner), 0);
}

constexpr unsigned kSharedEvent = hipEventInterprocess | hipEventDisableTiming;

TEST_F(Ipc, AnEventOrdersTwoProcesses) {
  TestEvent event(kSharedEvent);
  TestStream stream(hipStreamNonBlocking);
  Gate gate;
  gate.close(stream);
  HIP_OK(hipMemsetD32Async(shared_.get(), 55, kIpcCount, stream));
  HIP_OK(hipEventRecord(event, stream));
  hipIpcEventHandle_t handle = {};
  HIP_OK(hipIpcGetEventHandle(&handle, event));
  hipIpcEventHandle_t again = {};
  HIP_OK(hipIpcGetEventHandle(&again, event));
  EXPECT_EQ(hex(handle), hex(again));
  int pipe_ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t partner = start_partner("event", hex(handle_) + "," + hex(handle), pipe_ends[1]);
  ::close(pipe_ends[1]);
  char told = 0;
  EXPECT_EQ(::read(pipe_ends[0], &told, 1), 1) << "the partner got as far as waiting";
  ::close(pipe_ends[0]);
  EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
  gate.open();
  EXPECT_EQ(exit_code(partner), 0);
  HIP_OK(hipEventSynchronize(event));
  EXPECT_EQ(last(), 66u);
}

TEST_F(Ipc, ARecorderThatDiesHoldsNobodyUp) {
  if (is_nvidia() && !is_remote())
    GTEST_SKIP() << "NVIDIA's driver never completes an event whose recorder died";
  TestEvent event(kSharedEvent);
  hipIpcEventHandle_t handle = {};
  HIP_OK(hipIpcGetEventHandle(&handle, event));
  EXPECT_EQ(hipEventQuery(event), hipSuccess) << "never recorded";
  EXPECT_EQ(run_partner("event dies", hex(handle)), 0);
  HIP_OK(hipEventSynchronize(event));
}

TEST_F(Ipc, BadEventsAreRefused) {
  hipIpcEventHandle_t handle = {};
  TestEvent plain;
  EXPECT_EQ(hipIpcGetEventHandle(&handle, plain), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipIpcGetEventHandle(nullptr, plain), hipErrorInvalidValue);
  EXPECT_EQ(hipIpcGetEventHandle(&handle, nullptr), hipErrorInvalidValue);
  hipEvent_t shared = nullptr;
  HIP_OK(hipEventCreateWithFlags(&shared, kSharedEvent));
  HIP_OK(hipIpcGetEventHandle(&handle, shared));
  hipEvent_t opened = nullptr;
  EXPECT_EQ(hipIpcOpenEventHandle(&opened, handle), hipErrorInvalidContext) << "our own";
  EXPECT_EQ(hipIpcOpenEventHandle(nullptr, handle), hipErrorInvalidValue);
  EXPECT_EQ(hipIpcOpenEventHandle(&opened, hipIpcEventHandle_t{}), hipErrorInvalidValue);
  HIP_OK(hipEventDestroy(shared));
  EXPECT_EQ(hipIpcGetEventHandle(&handle, shared), hipErrorInvalidHandle);
}

TEST_F(Ipc, EventsThatAreGoneAreNotOpened) {
  if (is_nvidia() && !is_remote())
    GTEST_SKIP() << "NVIDIA's driver opens the handle of an event that was destroyed";
  hipIpcEventHandle_t handle = {};
  hipEvent_t shared = nullptr;
  HIP_OK(hipEventCreateWithFlags(&shared, kSharedEvent));
  HIP_OK(hipIpcGetEventHandle(&handle, shared));
  HIP_OK(hipEventDestroy(shared));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(run_partner("event gone", hex(handle)), 0);
}

class SharedPhysical : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(physical_memory_is_offered(properties_, bytes_));
    HIP_OK(hipMemCreate(&handle_, bytes_, &properties_, 0));
    HIP_OK(hipMemExportToShareableHandle(&fd_, handle_, hipMemHandleTypePosixFileDescriptor, 0));
    base_ = map_physical(handle_, bytes_);
    const std::vector<std::uint32_t> numbers = counting(bytes_ / sizeof(std::uint32_t), 7);
    HIP_OK(hipMemcpy(base_, numbers.data(), bytes_, hipMemcpyHostToDevice));
    HIP_OK(hipDeviceSynchronize());
  }
  void TearDown() override {
    if (base_ != nullptr) unmap_physical(base_, bytes_);
    if (fd_ >= 0) ::close(fd_);
  }
  std::uint32_t last() {
    std::uint32_t value = 0;
    EXPECT_EQ(hipMemcpy(&value, static_cast<std::byte*>(base_) + bytes_ - sizeof value, sizeof value,
                        hipMemcpyDeviceToHost),
              hipSuccess);
    return value;
  }

  hipMemAllocationProp properties_ = {};
  std::size_t bytes_ = 0;
  hipMemGenericAllocationHandle_t handle_ = nullptr;
  int fd_ = -1;
  void* base_ = nullptr;
};

TEST_F(SharedPhysical, AnotherProcessImportsAndChangesIt) {
  HIP_OK(hipMemRelease(handle_)) << "what is mapped can still be imported";
  EXPECT_EQ(run_partner("import", "", fd_), 0);
  EXPECT_EQ(last(), 42u);
}

TEST_F(SharedPhysical, TheSameProcessCanImportItToo) {
  hipMemGenericAllocationHandle_t again = nullptr;
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  HIP_OK(hipMemGetInfo(&before, &total));
  HIP_OK(hipMemImportFromShareableHandle(&again, &fd_, hipMemHandleTypePosixFileDescriptor))
      << "by a pointer, as AMD's runtimes read it";
  EXPECT_NE(again, handle_);
  void* const second = map_physical(again, bytes_);
  HIP_OK(hipMemGetInfo(&after, &total));
  // NVIDIA's driver books 64 KiB for the second mapping.
  EXPECT_LT(before - after, is_nvidia() ? bytes_ : 1) << "it is the same memory";
  HIP_OK(hipMemsetD32(static_cast<std::byte*>(second) + bytes_ - 4, 99, 1));
  EXPECT_EQ(last(), 99u);
  hipMemAllocationProp properties = {};
  HIP_OK(hipMemGetAllocationPropertiesFromHandle(&properties, again));
  EXPECT_EQ(properties.requestedHandleType, hipMemHandleTypePosixFileDescriptor);
  int fd = -1;
  HIP_OK(hipMemExportToShareableHandle(&fd, again, hipMemHandleTypePosixFileDescriptor, 0));
  EXPECT_GE(fd, 0);
  ::close(fd);
  HIP_OK(hipMemRelease(again));
  unmap_physical(second, bytes_);
  HIP_OK(hipMemRelease(handle_));
}

TEST_F(SharedPhysical, BadArgumentsAreRefused) {
  int fd = -1;
  constexpr auto kType = hipMemHandleTypePosixFileDescriptor;
  EXPECT_EQ(hipMemExportToShareableHandle(nullptr, handle_, kType, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemExportToShareableHandle(&fd, nullptr, kType, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemExportToShareableHandle(&fd, handle_, hipMemHandleTypeNone, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemExportToShareableHandle(&fd, handle_, kType, 1), hipErrorInvalidValue);
  hipMemGenericAllocationHandle_t imported = nullptr;
  EXPECT_EQ(hipMemImportFromShareableHandle(nullptr, &fd_, kType), hipErrorInvalidValue);
  EXPECT_EQ(hipMemImportFromShareableHandle(&imported, &fd_, hipMemHandleTypeNone), hipErrorInvalidValue);
  int closed = 1000;
  EXPECT_EQ(hipMemImportFromShareableHandle(&imported, &closed, kType), hipErrorInvalidValue);
  int pipe_ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(pipe_ends), 0);
  EXPECT_EQ(hipMemImportFromShareableHandle(&imported, &pipe_ends[0], kType), hipErrorInvalidValue);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  HIP_OK(hipMemRelease(handle_));
}

}  // namespace
}  // namespace tf::api_test
