// SPDX-License-Identifier: Apache-2.0
// Which memory has a file behind it that another process can be given.
#include "proxy/memory/shared_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace tf::proxy {
namespace {

constexpr std::uint64_t kPage = 4096;

struct Mapped {
  Mapped(int file, std::uint64_t bytes, int flags, std::uint64_t offset = 0,
         int access = PROT_READ | PROT_WRITE)
      : size(bytes), memory(::mmap(nullptr, bytes, access, flags, file, static_cast<off_t>(offset))) {
    EXPECT_NE(memory, MAP_FAILED);
  }
  ~Mapped() { ::munmap(memory, size); }
  std::uint64_t at(std::uint64_t offset) const { return reinterpret_cast<std::uint64_t>(memory) + offset; }

  std::uint64_t size;
  void* memory;
};

net::OwnedFd make_memfd(std::uint64_t bytes) {
  net::OwnedFd file(::memfd_create("shared-file-test", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  return file;
}

// The bytes of the memory are found in the file, at the place that is said.
void expect_same(const Mapped& memory, std::uint64_t offset) {
  const auto found = find_shared_file(memory.at(offset), kPage);
  ASSERT_TRUE(found);
  std::memcpy(static_cast<char*>(memory.memory) + offset, "here", 4);
  char seen[4] = {};
  ASSERT_EQ(::pread(found->file.get(), seen, 4, static_cast<off_t>(found->offset)), 4);
  EXPECT_EQ(std::memcmp(seen, "here", 4), 0);
  EXPECT_NE(::fcntl(found->file.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SharedFile, OfMemfd) {
  const net::OwnedFd file = make_memfd(8 * kPage);
  const Mapped memory(file.get(), 4 * kPage, MAP_SHARED, 2 * kPage);
  expect_same(memory, 0);
  expect_same(memory, 3 * kPage);
  EXPECT_TRUE(find_shared_file(memory.at(0), 4 * kPage));
  EXPECT_FALSE(find_shared_file(memory.at(0), 5 * kPage)) << "ends before";
  EXPECT_FALSE(find_shared_file(memory.at(kPage), 4 * kPage));
}

TEST(SharedFile, OfAFileThatHasANameAndIsClosed) {
  std::string name = "/dev/shm/shared-file-test-XXXXXX";
  net::OwnedFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) GTEST_SKIP() << "no /dev/shm";
  ASSERT_EQ(::ftruncate(file.get(), kPage), 0);
  const Mapped memory(file.get(), kPage, MAP_SHARED);
  file.reset();
  expect_same(memory, 0);
  ::unlink(name.c_str());
}

TEST(SharedFile, OfAnonymousMemoryWhereThatIsAllowed) {
  const Mapped memory(-1, 2 * kPage, MAP_SHARED | MAP_ANONYMOUS);
  if (find_shared_file(memory.at(0), kPage)) expect_same(memory, kPage);
}

TEST(SharedFile, NotOfMemoryOfThisProcessAlone) {
  const net::OwnedFd file = make_memfd(2 * kPage);
  const Mapped copied(file.get(), kPage, MAP_PRIVATE);
  EXPECT_FALSE(find_shared_file(copied.at(0), kPage));
  const Mapped anonymous(-1, kPage, MAP_PRIVATE | MAP_ANONYMOUS);
  EXPECT_FALSE(find_shared_file(anonymous.at(0), kPage));
  const Mapped constant(file.get(), kPage, MAP_SHARED, 0, PROT_READ);
  EXPECT_FALSE(find_shared_file(constant.at(0), kPage)) << "the worker would write";
  int on_stack = 0;
  EXPECT_FALSE(find_shared_file(reinterpret_cast<std::uint64_t>(&on_stack) & ~(kPage - 1), kPage));
  EXPECT_FALSE(find_shared_file(kPage, kPage)) << "nothing is there";
  EXPECT_FALSE(find_shared_file(~0ull - kPage + 1, kPage));
}

}  // namespace
}  // namespace tf::proxy
