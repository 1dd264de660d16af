// SPDX-License-Identifier: Apache-2.0
// Files that clients pass to be mapped: which pages they may name, and what a file that shrinks does to whom.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "hipcore/wire/control_message.h"
#include "hipcore/wire/fill.h"
#include "raw_client.h"
#include "shm/transport.h"
#include "tests/support/pageless_file.h"
#include "worker/base/channel.h"
#include "worker/base/runtime_library.h"
#include "worker/memory/host_parts.h"
#include "worker/memory/host_window.h"
#include "worker/memory/machine_memory.h"
#include "worker/memory/passed_files.h"
#include "worker/session/device_facts.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kUnit = protocol::kHostPartBytes;

net::OwnedFd make_file(std::uint64_t bytes) {
  net::OwnedFd file(::memfd_create("host-files-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  return file;
}

class SharedWindow : public ::testing::Test {
 protected:
  SharedWindow() : runtime_(RuntimeLibrary::load(TF_CPU_RUNTIME)) {}
  void SetUp() override {
    ASSERT_TRUE(runtime_.is_ok()) << runtime_.status().to_string();
    snapshot_ = take_snapshot(*runtime_);
    reserve_host_window(snapshot_);
    if (!share_host_window(snapshot_)) GTEST_SKIP() << "no room for a host window here";
    files_ = protocol::host_files_of(snapshot_.host_window);
    window_.emplace(runtime_->hip(), own_calls_, snapshot_, addresses_, share_);
  }
  void TearDown() override {
    window_.reset();
    ::munmap(reinterpret_cast<void*>(snapshot_.host_window.base), snapshot_.host_window.bytes);
  }
  hipError_t map(std::uint64_t address, std::uint64_t bytes, const net::OwnedFd& file,
                 std::uint64_t offset = 0) {
    return window_->map_file(address, bytes, file.get(), offset);
  }

  Result<RuntimeLibrary> runtime_;
  protocol::WorkerSnapshot snapshot_;
  protocol::AddressWindow files_;
  AddressMap addresses_;
  Share share_;
  OwnCalls own_calls_{nullptr};
  std::optional<HostParts> window_;
};

TEST_F(SharedWindow, MapsWholeFreePagesOfAFileThatHasThem) {
  const net::OwnedFd file = make_file(10000);
  const std::uint64_t end = files_.base + files_.bytes;
  EXPECT_EQ(map(files_.base, 12288, file), hipSuccess) << "the last page of the file, too";
  for (const auto& [address, bytes, offset] : {std::tuple{files_.base + kUnit, 0ul, 0ul},
                                               {files_.base + kUnit, 100ul, 0ul},
                                               {files_.base + kUnit, 4096ul, 100ul},
                                               {files_.base + kUnit + 4096, 4096ul, 0ul},
                                               {files_.base + kUnit, 16384ul, 0ul},
                                               {files_.base + kUnit, 4096ul, 12288ul},
                                               {files_.base + kUnit, 4096ul, ~0ul - 4095},
                                               {files_.base + kUnit, ~0ul - 4095, 4096ul},
                                               {files_.base, 4096ul, 0ul},
                                               {files_.base - kUnit, 4096ul, 0ul},
                                               {end, 4096ul, 0ul},
                                               {0ul, 4096ul, 0ul}})
    EXPECT_EQ(map(address, bytes, file, offset), hipErrorInvalidValue)
        << std::hex << address << ' ' << bytes << ' ' << offset;
  EXPECT_EQ(map(end - kUnit, 4096, file, 8192), hipSuccess);
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const net::OwnedFd reader(ends[0]);
  const net::OwnedFd writer(ends[1]);
  EXPECT_EQ(map(files_.base + kUnit, 4096, reader), hipErrorInvalidValue) << "no file";
  const net::OwnedFd sealed = make_file(4096);
  ASSERT_EQ(::fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(map(files_.base + kUnit, 4096, sealed), hipErrorInvalidValue);
  EXPECT_EQ(window_->open(files_.base + kUnit, kUnit), hipErrorInvalidValue)
      << "parts have their own addresses";
  EXPECT_EQ(window_->open(files_.base - kUnit, 2 * kUnit), hipErrorInvalidValue);
}

TEST_F(SharedWindow, HasThePagesUntilTheyAreUnmapped) {
  const net::OwnedFd file = make_file(8192);
  auto* const bytes = reinterpret_cast<char*>(files_.base);
  ASSERT_EQ(map(files_.base, 4096, file, 4096), hipSuccess);
  std::memcpy(bytes, "worker", 6);
  char seen[6] = {};
  ASSERT_EQ(::pread(file.get(), seen, 6, 4096), 6);
  EXPECT_EQ(std::memcmp(seen, "worker", 6), 0);
  EXPECT_NE(addresses_.find(files_.base, 4096), nullptr);
  EXPECT_EQ(addresses_.find(files_.base, 4097), nullptr);
  EXPECT_EQ(window_->unmap_file(files_.base + 4096), hipErrorInvalidValue);
  EXPECT_EQ(window_->close(files_.base), hipErrorInvalidValue) << "is no part";
  EXPECT_EQ(window_->unmap_file(files_.base), hipSuccess);
  EXPECT_EQ(window_->unmap_file(files_.base), hipErrorInvalidValue);
  EXPECT_EQ(addresses_.find(files_.base, 1), nullptr);
  ASSERT_EQ(::pread(file.get(), seen, 6, 4096), 6);
  EXPECT_EQ(std::memcmp(seen, "worker", 6), 0) << "the pages stay the client's";
  ASSERT_EQ(map(files_.base, 8192, file), hipSuccess) << "what is free again can be used again";
}

// Else memory of the session itself would come to lie there, where the client's next file is mapped.
TEST_F(SharedWindow, StaysReservedWhereAFileCannotBeMapped) {
  const net::OwnedFd file = test::pageless_file(kUnit);
  if (!file) GTEST_SKIP() << "this machine has huge pages, or no files of them";
  EXPECT_EQ(map(files_.base, kUnit, file), hipErrorInvalidValue);
  EXPECT_TRUE(test::is_taken(files_.base, kUnit));
}

// Pages of parts and of files count together.
TEST_F(SharedWindow, NotMoreThanTheMachineHas) {
  if (snapshot_.host_window.bytes < 2 * machine_bytes())
    GTEST_SKIP() << "the window is less than twice this machine's memory";
  const std::uint64_t step = snapshot_.host_window.bytes / 64;
  std::uint64_t next = snapshot_.host_window.base;
  for (; next + step <= files_.base && window_->open(next, step) == hipSuccess; next += step) continue;
  ASSERT_LT(next + step, files_.base) << "more than twice the memory";
  const net::OwnedFd holes = make_file(2 * step);
  EXPECT_EQ(map(files_.base, step, holes), hipErrorOutOfMemory);
  EXPECT_EQ(window_->close(next - step), hipSuccess);
  EXPECT_EQ(map(files_.base, step, holes), hipSuccess);
  EXPECT_EQ(map(files_.base + step, step, holes), hipErrorOutOfMemory);
  EXPECT_EQ(window_->unmap_file(files_.base), hipSuccess);
  EXPECT_EQ(map(files_.base + step, step, holes), hipSuccess);
}

TEST(PassedFiles, AreBounded) {
  PassedFiles files;
  EXPECT_FALSE(files.take(1));
  ASSERT_TRUE(files.deliver(1, make_file(1)).is_ok());
  EXPECT_EQ(files.deliver(1, make_file(1)).code(), Code::kProtocol);
  EXPECT_TRUE(files.take(1));
  EXPECT_FALSE(files.take(1));
  for (std::uint64_t number = 0; number < protocol::kPassedFilesMax; ++number)
    ASSERT_TRUE(files.deliver(number, make_file(1)).is_ok());
  EXPECT_EQ(files.deliver(99, make_file(1)).code(), Code::kResourceExhausted);
}

struct Registered {
  explicit Registered(const WorkerProcess& worker) : client(worker, shm::transport()) {
    if (!client.status.is_ok()) return;
    const protocol::AddressWindow files = protocol::host_files_of(client.snapshot.host_window);
    EXPECT_TRUE(protocol::send_passed_file(client.control.get(), 5, file.get(), Deadline::after(5s)).is_ok());
    error = client.ask(protocol::MapHostFileRequest{5, files.base, 8192, 0});
    fill.target = files.base + 4096;
    fill.width = 4096;
    fill.form |= protocol::kFillSynchronous;
    fill.value = 'x';
  }
  net::OwnedFd file = make_file(8192);
  RawClient client;
  int error = -1;
  protocol::FillRequest fill{};
};

TEST(PassedFile, ThatShrinksEndsItsOwnSession) {
  WorkerProcess worker({}, TF_CPU_RUNTIME);
  ASSERT_TRUE(worker.ready());
  Registered good(worker);
  ASSERT_EQ(good.error, hipSuccess) << good.client.status.to_string();
  Registered bad(worker);
  ASSERT_EQ(bad.error, hipSuccess) << bad.client.status.to_string();
  ASSERT_TRUE(bad.client.post(bad.fill).is_ok());
  ASSERT_TRUE(bad.client.synchronize().is_ok());
  char seen = 0;
  ASSERT_EQ(::pread(bad.file.get(), &seen, 1, 8191), 1);
  EXPECT_EQ(seen, 'x');
  ASSERT_EQ(::ftruncate(bad.file.get(), 0), 0);
  ASSERT_TRUE(bad.client.post(bad.fill).is_ok());
  EXPECT_FALSE(bad.client.synchronize().is_ok());
  ASSERT_TRUE(good.client.post(good.fill).is_ok());
  EXPECT_TRUE(good.client.synchronize().is_ok());
  EXPECT_EQ(Registered(worker).error, hipSuccess) << "and the next one is served";
}

TEST(PassedFile, OneThatNeverComesIsAnError) {
  WorkerProcess worker({}, TF_CPU_RUNTIME);
  ASSERT_TRUE(worker.ready());
  Registered client(worker);
  ASSERT_EQ(client.error, hipSuccess) << client.client.status.to_string();
  const protocol::AddressWindow files = protocol::host_files_of(client.client.snapshot.host_window);
  EXPECT_EQ(client.client.ask(protocol::MapHostFileRequest{6, files.base + kUnit, 4096, 0}),
            hipErrorInvalidHandle);
}

bool closes(int control) {
  std::byte rest[64];
  const Deadline deadline = Deadline::after(10s);
  while (!deadline.passed()) {
    pollfd polled{control, POLLIN, 0};
    if (::poll(&polled, 1, deadline.poll_timeout_ms()) > 0 &&
        ::recv(control, rest, sizeof rest, MSG_DONTWAIT) <= 0)
      return true;
  }
  return false;
}

// The reason is the worker's, and its log must not blame the client.
TEST(PassedFile, ThatFindsNoFreeDescriptorEndsTheSessionForThatReason) {
  if (TF_SANITIZED != 0) GTEST_SKIP() << "a sanitizer needs descriptors of its own";
  testing::internal::CaptureStderr();
  WorkerProcess worker({}, TF_CPU_RUNTIME);
  ASSERT_TRUE(worker.ready());
  Registered client(worker);
  EXPECT_EQ(client.error, hipSuccess) << client.client.status.to_string();
  for (const pid_t session : worker.children()) {
    rlimit limit{};
    ASSERT_EQ(::prlimit(session, RLIMIT_NOFILE, nullptr, &limit), 0);
    limit.rlim_cur = kSessionChannelFd + 1;  // all below are in use
    ASSERT_EQ(::prlimit(session, RLIMIT_NOFILE, &limit, nullptr), 0);
  }
  const int control = client.client.control.get();
  EXPECT_TRUE(protocol::send_passed_file(control, 6, client.file.get(), Deadline::after(5s)).is_ok());
  EXPECT_TRUE(closes(control));
  worker.stop(SIGTERM);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("no descriptor is free"), std::string::npos) << log;
}

// Whatever else comes on the control connection ends the session.
TEST(PassedFile, GarbageEndsTheSession) {
  WorkerProcess worker({}, TF_CPU_RUNTIME);
  ASSERT_TRUE(worker.ready());
  for (const int kind : {0, 1, 2}) {
    Registered client(worker);
    ASSERT_EQ(client.error, hipSuccess) << client.client.status.to_string();
    const int control = client.client.control.get();
    const std::byte garbage[16] = {};
    if (kind == 0) {
      ASSERT_TRUE(net::write_all(control, garbage, Deadline::after(5s)).is_ok());
    } else if (kind == 1) {  // half a message, and no more
      ASSERT_TRUE(net::write_all(control, std::span(garbage).first(3), Deadline::after(5s)).is_ok());
    } else {
      for (std::uint64_t number = 100; number < 100 + 2 * protocol::kPassedFilesMax; ++number)
        if (!protocol::send_passed_file(control, number, client.file.get(), Deadline::after(5s)).is_ok())
          break;
    }
    EXPECT_TRUE(closes(control)) << kind;
  }
}

}  // namespace
}  // namespace tf::worker
