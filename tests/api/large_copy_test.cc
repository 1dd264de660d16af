// SPDX-License-Identifier: Apache-2.0
// A copy longer than 32 bits can count. It takes 10 GiB of memory, so it runs only where TF_TEST_LARGE=1 asks
// for it.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

constexpr std::size_t kGibibyte = std::size_t{1} << 30;
constexpr std::size_t kLargeBytes = 5 * kGibibyte + 12345;
constexpr std::size_t kStep = (64 << 20) + 8;  // between the words that are looked at

class HostPages {
 public:
  HostPages()
      : base_(::mmap(nullptr, kLargeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~HostPages() {
    if (base_ != MAP_FAILED) ::munmap(base_, kLargeBytes);
  }
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  std::uint64_t* word(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(base_) + offset);
  }
  void* get() const { return base_; }

 private:
  void* base_;
};

TEST(LargeCopy, FiveGibibytesArriveWhole) {
  const char* const wanted = std::getenv("TF_TEST_LARGE");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0)
    GTEST_SKIP() << "TF_TEST_LARGE=1 asks for it (10 GiB)";
  HostPages host;
  ASSERT_NE(host.get(), MAP_FAILED);
  void* device = nullptr;
  HIP_OK(hipMalloc(&device, kLargeBytes));
  constexpr std::size_t kLast = kLargeBytes / 8 * 8 - 8;
  for (std::size_t at = 0; at < kLast; at += kStep) *host.word(at) = at * 0x9e37'79b9'7f4a'7c15;
  *host.word(kLast) = 42;
  HIP_OK(hipMemcpy(device, host.get(), kLargeBytes, hipMemcpyHostToDevice));
  for (std::size_t at = 0; at < kLast; at += kStep) *host.word(at) = 0;
  *host.word(kLast) = 0;
  HIP_OK(hipMemcpy(host.get(), device, kLargeBytes, hipMemcpyDeviceToHost));
  for (std::size_t at = 0; at < kLast; at += kStep)
    ASSERT_EQ(*host.word(at), at * 0x9e37'79b9'7f4a'7c15) << at;
  EXPECT_EQ(*host.word(kLast), 42u);
  HIP_OK(hipFree(device));
}

}  // namespace
}  // namespace tf::api_test
