// SPDX-License-Identifier: Apache-2.0
// Memory of other APIs, here a memory file's, and their semaphores, which nobody can import.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kExternalBytes = 1 << 20;
// Outside the enums: conversions that the compiler must not see through.
volatile int raw_nosuchtype = 99;

int make_file(std::size_t bytes) {
  const int file = memfd_create("external", MFD_CLOEXEC);
  EXPECT_GE(file, 0);
  EXPECT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
  return file;
}

hipExternalMemoryHandleDesc describe(int file, std::size_t bytes) {
  hipExternalMemoryHandleDesc description = {};
  description.type = hipExternalMemoryHandleTypeOpaqueFd;
  description.handle.fd = file;
  description.size = bytes;
  return description;
}

hipExternalMemoryBufferDesc part(std::size_t offset, std::size_t bytes) {
  hipExternalMemoryBufferDesc description = {};
  description.offset = offset;
  description.size = bytes;
  return description;
}

// Over a connection that shares no pages with the worker an import is refused, and the descriptor stays ours.
class ExternalMemory : public testing::Test {
 protected:
  void SetUp() override {
    const int file = make_file(kExternalBytes);
    host_ = static_cast<unsigned char*>(
        mmap(nullptr, kExternalBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    ASSERT_NE(host_, MAP_FAILED);
    const auto description = describe(file, kExternalBytes);
    const hipError_t error = hipImportExternalMemory(&memory_, &description);
    if (error == hipErrorNotSupported) {
      EXPECT_TRUE(is_remote());
      EXPECT_EQ(memory_, nullptr);
      EXPECT_EQ(close(file), 0) << "still ours";
      GTEST_SKIP() << "nothing is shared with this worker";
    }
    ASSERT_EQ(error, hipSuccess);
    EXPECT_EQ(fcntl(file, F_GETFD), -1) << "the import has it";
  }
  void TearDown() override {
    if (memory_ != nullptr) {
      EXPECT_EQ(hipDestroyExternalMemory(memory_), hipSuccess);
    }
    munmap(host_, kExternalBytes);
  }

  unsigned char* host_ = nullptr;
  hipExternalMemory_t memory_ = nullptr;
};

TEST_F(ExternalMemory, DevicesReadAndWriteIt) {
  const auto whole = part(0, kExternalBytes);
  const auto half = part(kExternalBytes / 2, kExternalBytes / 2);
  void* start = nullptr;
  void* middle = nullptr;
  HIP_OK(hipExternalMemoryGetMappedBuffer(&start, memory_, &whole));
  HIP_OK(hipExternalMemoryGetMappedBuffer(&middle, memory_, &half));
  EXPECT_EQ(static_cast<std::byte*>(start) + kExternalBytes / 2, middle);
  std::memset(host_, 5, kExternalBytes);
  DeviceBuffer device(kExternalBytes);
  HIP_OK(hipMemcpy(device.get(), start, kExternalBytes, hipMemcpyDefault));
  unsigned char seen = 0;
  HIP_OK(hipMemcpy(&seen, device.at(kExternalBytes - 1), 1, hipMemcpyDeviceToHost));
  EXPECT_EQ(seen, 5);
  HIP_OK(hipMemset(device.get(), 9, kExternalBytes));
  HIP_OK(hipMemcpy(middle, device.get(), kExternalBytes / 2, hipMemcpyDefault));
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(host_[0], 5);
  EXPECT_EQ(host_[kExternalBytes / 2], 9);
  EXPECT_EQ(host_[kExternalBytes - 1], 9);
  HIP_OK(hipFree(start));
  HIP_OK(hipFree(middle));
}

TEST_F(ExternalMemory, WrongPartsAreRefused) {
  void* pointer = nullptr;
  const auto whole = part(0, kExternalBytes);
  EXPECT_EQ(hipExternalMemoryGetMappedBuffer(nullptr, memory_, &whole), hipErrorInvalidValue);
  EXPECT_EQ(hipExternalMemoryGetMappedBuffer(&pointer, nullptr, &whole), hipErrorInvalidValue);
  EXPECT_EQ(hipExternalMemoryGetMappedBuffer(&pointer, memory_, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipExternalMemoryGetMappedBuffer(&pointer, &pointer, &whole), hipErrorInvalidValue)
      << "no handle";
  for (const auto& wrong : {part(0, kExternalBytes + 1), part(kExternalBytes, 1), part(1, ~std::size_t{0}),
                            part(~std::size_t{0}, 2)})
    EXPECT_EQ(hipExternalMemoryGetMappedBuffer(&pointer, memory_, &wrong), hipErrorInvalidValue);
  auto flagged = whole;
  flagged.flags = 1;
  EXPECT_EQ(hipExternalMemoryGetMappedBuffer(&pointer, memory_, &flagged), hipErrorInvalidValue);
  EXPECT_EQ(pointer, nullptr);
  HIP_OK(hipDestroyExternalMemory(memory_));
  EXPECT_EQ(hipExternalMemoryGetMappedBuffer(&pointer, memory_, &whole), hipErrorInvalidValue)
      << "it is gone";
  EXPECT_EQ(hipDestroyExternalMemory(memory_), hipErrorInvalidValue);
  memory_ = nullptr;
}

TEST(ExternalMemoryImport, BadArgumentsAreRefused) {
  hipExternalMemory_t memory = nullptr;
  const int file = make_file(4096);
  const auto good = describe(file, 4096);
  EXPECT_EQ(hipImportExternalMemory(nullptr, &good), hipErrorInvalidValue);
  EXPECT_EQ(hipImportExternalMemory(&memory, nullptr), hipErrorInvalidValue);
  auto wrong = good;
  wrong.size = 0;
  EXPECT_EQ(hipImportExternalMemory(&memory, &wrong), hipErrorInvalidValue);
  wrong = good;
  wrong.flags = 2;
  EXPECT_EQ(hipImportExternalMemory(&memory, &wrong), hipErrorInvalidValue);
  wrong = good;
  wrong.type = static_cast<hipExternalMemoryHandleType>(raw_nosuchtype);
  EXPECT_EQ(hipImportExternalMemory(&memory, &wrong), hipErrorInvalidValue);
  wrong = good;
  wrong.handle.fd = -1;
  EXPECT_EQ(hipImportExternalMemory(&memory, &wrong), hipErrorInvalidValue);
  wrong = good;
  wrong.type = hipExternalMemoryHandleTypeD3D12Heap;
  EXPECT_EQ(hipImportExternalMemory(&memory, &wrong), hipErrorNotSupported);
  wrong = good;
  wrong.size = 1 << 20;
  EXPECT_EQ(hipImportExternalMemory(&memory, &wrong), hipErrorNotSupported) << "more than there is";
  EXPECT_EQ(hipPeekAtLastError(), hipErrorNotSupported);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(close(file), 0) << "still ours";
  EXPECT_EQ(hipDestroyExternalMemory(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipDestroyExternalMemory(&memory), hipErrorInvalidValue);
}

TEST(ExternalSemaphore, CannotBeImported) {
  hipExternalSemaphore_t semaphore = nullptr;
  const int file = make_file(4096);
  hipExternalSemaphoreHandleDesc description = {};
  description.type = hipExternalSemaphoreHandleTypeOpaqueFd;
  description.handle.fd = file;
  EXPECT_EQ(hipImportExternalSemaphore(&semaphore, &description), hipErrorNotSupported);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorNotSupported);
  EXPECT_EQ(hipImportExternalSemaphore(nullptr, &description), hipErrorInvalidValue);
  EXPECT_EQ(hipImportExternalSemaphore(&semaphore, nullptr), hipErrorInvalidValue);
  description.type = static_cast<hipExternalSemaphoreHandleType>(raw_nosuchtype);
  EXPECT_EQ(hipImportExternalSemaphore(&semaphore, &description), hipErrorInvalidValue);
  EXPECT_EQ(semaphore, nullptr);
  close(file);
}

TEST(ExternalSemaphore, ThereIsNoneToSignalOrToWaitFor) {
  hipExternalSemaphore_t semaphore = &semaphore;
  hipExternalSemaphoreSignalParams signal = {};
  hipExternalSemaphoreWaitParams wait = {};
  EXPECT_EQ(hipSignalExternalSemaphoresAsync(nullptr, &signal, 1, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipSignalExternalSemaphoresAsync(&semaphore, nullptr, 1, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipSignalExternalSemaphoresAsync(&semaphore, &signal, 1, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipWaitExternalSemaphoresAsync(nullptr, &wait, 1, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipWaitExternalSemaphoresAsync(&semaphore, nullptr, 1, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipWaitExternalSemaphoresAsync(&semaphore, &wait, 1, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipDestroyExternalSemaphore(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipDestroyExternalSemaphore(semaphore), hipErrorInvalidValue);
}

}  // namespace
}  // namespace tf::api_test
