// SPDX-License-Identifier: Apache-2.0
// Pinned and registered host memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/api/hip_test.h"
#include "tests/api/module_fixture.h"

namespace tf::api_test {
namespace {

TEST(HostMemory, MallocAndAttributes) {
  PinnedBuffer buffer(10000);
  auto* const bytes = buffer.as<char>();
  ASSERT_NE(bytes, nullptr);
  bytes[0] = 1;
  bytes[9999] = 2;
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, bytes + 10));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, bytes + 10);
  unsigned flags = 77;
  HIP_OK(hipHostGetFlags(&flags, bytes));
  int on_stack = 0;
  EXPECT_EQ(hipHostGetFlags(&flags, &on_stack), hipErrorInvalidValue);
  void* device = nullptr;
  EXPECT_EQ(hipHostGetDevicePointer(&device, &on_stack, 0), hipErrorInvalidValue);
}

TEST(HostMemory, HasADevicePointer) {
  PinnedBuffer buffer(10000);
  void* device = nullptr;
  const hipError_t error = hipHostGetDevicePointer(&device, buffer.as<char>(), 0);
  // A pointer that kernels could not follow would be worse than none: the proxy says so instead.
  if (is_remote() && error == hipErrorNotSupported)
    GTEST_SKIP() << "devices do not reach host memory here, hipHostGetDevicePointer is refused";
  EXPECT_EQ(error, hipSuccess);
  EXPECT_NE(device, nullptr);
}

TEST(HostMemory, EdgesOfMalloc) {
  void* pointer = &pointer;
  HIP_OK(hipHostMalloc(&pointer, 0, hipHostMallocDefault));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(hipHostMalloc(static_cast<void**>(nullptr), 10, hipHostMallocDefault), hipErrorInvalidValue);
  EXPECT_EQ(hipHostMalloc(&pointer, 10, 0x100), hipErrorInvalidValue);
  HIP_OK(hipHostFree(nullptr));
}

TEST(HostMemory, OnlyWhatIsThereIsRegistered) {
  std::vector<char> memory(10000);
  constexpr std::size_t kBeyond = std::size_t{1} << 45;  // no program has that much in one piece
  EXPECT_EQ(hipHostRegister(memory.data(), kBeyond, hipHostRegisterDefault), hipErrorInvalidValue);
  EXPECT_EQ(hipHostRegister(memory.data(), SIZE_MAX, hipHostRegisterDefault), hipErrorInvalidValue);
  EXPECT_EQ(hipHostUnregister(memory.data()), hipErrorHostMemoryNotRegistered);
  HIP_OK(hipHostRegister(memory.data(), memory.size(), hipHostRegisterDefault));
  HIP_OK(hipHostUnregister(memory.data()));
}

// As with AMD's runtime: a program may free registered memory, and get the address again.
TEST(HostMemory, TheSameAddressIsRegisteredAgain) {
  constexpr std::size_t kAll = 100'000;
  std::vector<std::uint32_t> memory = counting(kAll, 3);
  DeviceBuffer device(kAll * sizeof(std::uint32_t));
  for (const std::size_t count : {kAll / 2, kAll, kAll / 4}) {
    const std::size_t bytes = count * sizeof memory[0];
    HIP_OK(hipHostRegister(memory.data(), bytes, hipHostRegisterMapped));
    ++memory[count - 1];
    HIP_OK(hipMemcpy(device.get(), memory.data(), bytes, hipMemcpyHostToDevice));
    std::vector<std::uint32_t> back(count);
    HIP_OK(hipMemcpy(back.data(), device.get(), bytes, hipMemcpyDeviceToHost));
    EXPECT_TRUE(std::equal(back.begin(), back.end(), memory.begin())) << count;
  }
  HIP_OK(hipHostUnregister(memory.data()));
  EXPECT_EQ(hipHostUnregister(memory.data()), hipErrorHostMemoryNotRegistered);
}

TEST(HostMemory, RegisterAndCopy) {
  const auto values = counting(100000, 9);
  std::vector<std::uint32_t> source = values;
  const std::size_t bytes = source.size() * sizeof source[0];
  HIP_OK(hipHostRegister(source.data(), bytes, hipHostRegisterDefault));
  EXPECT_EQ(hipHostRegister(source.data() + 5, 4, hipHostRegisterDefault),
            hipErrorHostMemoryAlreadyRegistered);
  DeviceBuffer device(bytes);
  TestStream stream;
  HIP_OK(hipMemcpyAsync(device.get(), source.data(), bytes, hipMemcpyHostToDevice, stream));
  HIP_OK(hipStreamSynchronize(stream));
  std::vector<std::uint32_t> back(source.size());
  HIP_OK(hipMemcpy(back.data(), device.get(), bytes, hipMemcpyDeviceToHost));
  EXPECT_EQ(back, values);
  HIP_OK(hipHostUnregister(source.data()));
  EXPECT_EQ(hipHostUnregister(source.data()), hipErrorHostMemoryNotRegistered);
  EXPECT_EQ(hipHostRegister(nullptr, 10, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipHostRegister(source.data(), 0, 0), hipErrorInvalidValue);
}

// A shared mapping of a file, the second page of it.
class SharedPages {
 public:
  static constexpr std::size_t kPage = 4096;

  explicit SharedPages(std::size_t bytes) : bytes_(bytes) {
    const int file = ::memfd_create("hip-api-test", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(file, static_cast<off_t>(bytes + kPage)), 0);
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, kPage);
    EXPECT_NE(memory_, MAP_FAILED);
    other_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, kPage);
    ::close(file);
  }
  ~SharedPages() {
    ::munmap(memory_, bytes_);
    ::munmap(other_, bytes_);
  }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  int* ints() const { return static_cast<int*>(memory_); }
  const int* seen_elsewhere() const { return static_cast<int*>(other_); }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
  void* other_ = nullptr;
};

// Where the program's pages can be shared, kernels and copies work on them and not on a copy.
TEST(HostMemory, RegisteredSharedMapping) {
  constexpr int kCount = 50000;
  constexpr std::size_t kBytes = kCount * sizeof(int);
  SharedPages pages(kBytes + 8192);
  int* const data = pages.ints() + 10;  // neither ends of the range are ends of pages
  HIP_OK(hipHostRegister(data, kBytes, hipHostRegisterMapped));
  EXPECT_EQ(hipHostRegister(data + 5, 4, hipHostRegisterMapped), hipErrorHostMemoryAlreadyRegistered);
  void* device = nullptr;
  const hipError_t error = hipHostGetDevicePointer(&device, data + 100, 0);
  if (is_remote() && error == hipErrorNotSupported) {
    HIP_OK(hipHostUnregister(data));
    GTEST_SKIP() << "the worker cannot be given the pages";
  }
  ASSERT_EQ(error, hipSuccess);
  auto* const first = static_cast<int*>(device) - 100;
  hipPointerAttribute_t attributes = {};
  HIP_OK(hipPointerGetAttributes(&attributes, data + 7));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, data + 7);
  EXPECT_EQ(attributes.devicePointer, first + 7);

  std::fill(data, data + kCount, 5);
  LoadedModule module;
  TestStream stream;
  int n = kCount;
  void* arguments[] = {&device, &n};
  device = first;
  HIP_OK(hipModuleLaunchKernel(module.function("increment"), (kCount + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                               arguments, nullptr));
  DeviceBuffer buffer(kBytes);
  HIP_OK(hipMemcpyAsync(buffer.get(), data, kBytes, hipMemcpyHostToDevice, stream));
  HIP_OK(hipMemsetAsync(first + 1, 0, sizeof(int), stream));
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(data[0], 6);
  EXPECT_EQ(data[1], 0);
  EXPECT_EQ(pages.seen_elsewhere()[10 + kCount - 1], 6);
  EXPECT_EQ(read_ints(buffer.get(), kCount), std::vector<int>(kCount, 6));

  HIP_OK(hipMemset(buffer.get(), 1, kBytes));
  HIP_OK(hipMemcpy(data + 20, buffer.get(), 400, hipMemcpyDeviceToHost));
  HIP_OK(hipMemcpy2D(data + 1000, 100, buffer.get(), 40, 40, 3, hipMemcpyDeviceToHost));
  HIP_OK(hipMemcpy(first + 500, data + 20, 4, hipMemcpyDefault));
  EXPECT_EQ(data[19], 6);
  EXPECT_EQ(data[20], 0x01010101);
  EXPECT_EQ(data[120], 6);
  EXPECT_EQ(data[1000 + 25 + 9], 0x01010101);
  EXPECT_EQ(data[1000 + 25 + 10], 6);
  EXPECT_EQ(data[500], 0x01010101);

  if (is_remote()) {
    EXPECT_EQ(hipHostUnregister(first), hipErrorHostMemoryNotRegistered);
  }
  EXPECT_EQ(hipHostFree(data), hipErrorInvalidValue);
  HIP_OK(hipHostUnregister(data));
  EXPECT_EQ(hipHostGetDevicePointer(&device, data, 0), hipErrorInvalidValue);
  EXPECT_EQ(data[0], 6) << "the memory stays the program's";
}

TEST(HostMemory, RegisteredManyTimes) {
  SharedPages pages(1 << 20);
  DeviceBuffer buffer(4096);
  for (int round = 0; round < 200; ++round) {
    int* const data = pages.ints() + 1024 * (round % 100);
    data[0] = round;
    HIP_OK(hipHostRegister(data, 4096, hipHostRegisterDefault));
    HIP_OK(hipMemcpy(buffer.get(), data, 4096, hipMemcpyHostToDevice));
    HIP_OK(hipHostUnregister(data));
    ASSERT_EQ(read_ints(buffer.get(), 1)[0], round);
  }
}

TEST(HostMemory, RegisteredByManyThreads) {
  constexpr int kThreads = 40;
  SharedPages pages(kThreads * 8192);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) {
    threads.emplace_back([&pages, id] {
      int* const data = pages.ints() + 2048 * id;
      DeviceBuffer buffer(8192);
      for (int round = 0; round < 5; ++round) {
        HIP_OK(hipHostRegister(data, 8192, hipHostRegisterDefault));
        data[2047] = id + round;
        HIP_OK(hipMemcpy(buffer.get(), data, 8192, hipMemcpyHostToDevice));
        HIP_OK(hipHostUnregister(data));
        EXPECT_EQ(read_ints(buffer.get(), 2048)[2047], id + round);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HostMemory, RegisteredAnonymousSharedMapping) {
  DeviceBuffer buffer(4096);
  void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  HIP_OK(hipHostRegister(memory, 4096, hipHostRegisterDefault));
  *static_cast<int*>(memory) = 77;
  HIP_OK(hipMemcpy(buffer.get(), memory, 4096, hipMemcpyHostToDevice));
  EXPECT_EQ(read_ints(buffer.get(), 1)[0], 77);
  HIP_OK(hipHostUnregister(memory));
  ::munmap(memory, 4096);
}

}  // namespace
}  // namespace tf::api_test
