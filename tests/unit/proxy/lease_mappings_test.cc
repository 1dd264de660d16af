// SPDX-License-Identifier: Apache-2.0
// LeaseMappings beside a worker that passes what it should, and one that does not.
#include "proxy/memory/lease_mappings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "hipcore/wire/shared_files.h"
#include "proxy/memory/address_window.h"
#include "tests/support/pageless_file.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBytes = 4ull << 20;

net::OwnedFd make_file(std::uint64_t bytes, bool sealed) {
  net::OwnedFd file(::memfd_create("lease", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  const int seals = sealed ? F_SEAL_SHRINK | F_SEAL_GROW : 0;
  EXPECT_EQ(::fcntl(file.get(), F_ADD_SEALS, seals), 0);
  return file;
}

class LeaseMappingsTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<protocol::LeaseSocket> made = protocol::make_lease_socket();
    ASSERT_TRUE(made.is_ok());
    socket_ = std::move(*made);
    void* const got = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(got, MAP_FAILED);
    base_ = reinterpret_cast<std::uint64_t>(got);
    mappings_.open(std::move(socket_.client));
  }
  void TearDown() override { ::munmap(reinterpret_cast<void*>(base_), kBytes); }

  void pass(const net::OwnedFd& file, std::uint64_t further = 0) {
    ASSERT_TRUE(
        protocol::send_lease_file(socket_.worker.get(), base_ + further, file.get(), Deadline::after(5s)));
  }
  Status take(std::uint64_t bytes, bool has_file = true, std::uint64_t further = 0) {
    const MutexLock lock(mappings_.order());
    return mappings_.take(base_ + further, bytes, has_file);
  }

  std::uint64_t base_ = 0;  // reserved
  protocol::LeaseSocket socket_;
  LeaseMappings mappings_;
};

TEST_F(LeaseMappingsTest, ALeaseIsTheFilesMemoryAtItsAddress) {
  const net::OwnedFd file = make_file(kBytes, true);
  pass(file);
  ASSERT_TRUE(take(kBytes).is_ok());
  EXPECT_TRUE(mappings_.complete());
  std::memcpy(reinterpret_cast<void*>(base_ + 5), "lease", 5);
  char seen[5] = {};
  ASSERT_EQ(::pread(file.get(), seen, sizeof seen, 5), 5);
  EXPECT_EQ(std::memcmp(seen, "lease", 5), 0);
  mappings_.drop(base_);
  EXPECT_TRUE(mappings_.complete());
  std::byte first{};
  const int pipe = ::memfd_create("probe", MFD_CLOEXEC);
  EXPECT_LT(::write(pipe, reinterpret_cast<void*>(base_), sizeof first), 0) << "still readable";
  ::close(pipe);
}

TEST_F(LeaseMappingsTest, AWorkerThatPassesNothingEndsIt) {
  ASSERT_FALSE(take(kBytes, false).is_ok());
  EXPECT_FALSE(mappings_.complete());
  const MutexLock lock(mappings_.order());
  EXPECT_TRUE(mappings_.take(base_, kBytes, true).is_ok()) << "nothing is expected any more";
}

TEST_F(LeaseMappingsTest, AFileThatIsTooSmallIsNotMapped) {
  pass(make_file(kBytes / 2, true));
  EXPECT_EQ(take(kBytes).code(), Code::kProtocol);
  EXPECT_FALSE(mappings_.complete());
}

// Whoever touched it would die.
TEST_F(LeaseMappingsTest, AFileThatLacksItsPagesIsNotMapped) {
  constexpr std::uint64_t kHugePage = kBytes / 2;
  const net::OwnedFd file = test::pageless_file(kHugePage);
  if (!file) GTEST_SKIP() << "this machine has huge pages, or no files of them";
  const std::uint64_t further = -base_ % kHugePage;
  pass(file, further);
  EXPECT_EQ(take(kHugePage, true, further).code(), Code::kProtocol);
  EXPECT_FALSE(mappings_.complete());
  EXPECT_TRUE(test::is_taken(base_, kBytes));
}

TEST_F(LeaseMappingsTest, AFileThatMayShrinkIsNotMapped) {
  pass(make_file(kBytes, false));
  EXPECT_EQ(take(kBytes).code(), Code::kProtocol);
}

TEST_F(LeaseMappingsTest, AnotherLeasesFileIsNotMapped) {
  pass(make_file(kBytes, true), kBytes);
  EXPECT_EQ(take(kBytes).code(), Code::kProtocol);
  EXPECT_FALSE(mappings_.complete());
}

}  // namespace
}  // namespace tf::proxy
