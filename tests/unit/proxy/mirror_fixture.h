// SPDX-License-Identifier: Apache-2.0
// A client that mirrors host memory, and the fake worker that has the other half.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "proxy/client/client.h"
#include "tests/unit/proxy/fake_worker.h"
#include "transport/loopback.h"

namespace tf::proxy {

using mirror::kPageBytes;
using mirror::Piece;

inline constexpr std::uint64_t kWindowBytes = 4ull << 30;
// What the thread sanitizer allows (it turns any other address into 0, so this one comes first), and what is
// above the shadow of the address sanitizer.
inline constexpr std::uint64_t kBases[] = {0x50'0000'0000, 0x1a00'0000'0000};
inline constexpr std::uint64_t kMirroredDeviceBytes = 64ull << 20;

inline std::uint64_t free_base() {
  for (const std::uint64_t base : kBases) {
    void* const got = ::mmap(reinterpret_cast<void*>(base), kWindowBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) continue;
    ::munmap(got, kWindowBytes);
    if (got == reinterpret_cast<void*>(base)) return base;
  }
  return 0;
}

// With the kernel's account of written pages (true), and as on a system without it.
class MirrorOf : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { start(true); }
  void start(bool mirrors_pinned) {
    client_.reset();
    worker_.reset();
    auto [ours, theirs] = make_loopback_pair();
    int control[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, control), 0);
    worker_ = std::make_unique<FakeWorker>(std::move(theirs), kMirroredDeviceBytes, net::OwnedFd(control[0]));
    Connected connected;
    connected.control = net::OwnedFd(control[1]);
    connected.endpoint = std::move(ours);
    connected.snapshot = fake_snapshot(kMirroredDeviceBytes);
    connected.snapshot.host_window = {free_base(), kWindowBytes};
    connected.snapshot.host_access = protocol::HostAccess::kMirrored;
    connected.mirrors_pinned = mirrors_pinned;
    connected.watches_pages = GetParam();
    client_ = std::make_unique<Client>(std::move(connected));
    if (client_->snapshot().host_access == protocol::HostAccess::kNone)
      GTEST_SKIP() << "the window is not free in this process";
  }
  Piece allocate(HostRange::Kind kind, std::uint64_t bytes, unsigned flags = 0) {
    void* pointer = nullptr;
    EXPECT_EQ(client_->host_allocations().allocate(kind, 0, bytes, flags, pointer), hipSuccess);
    return {to_raw(pointer), bytes};
  }
  // A kernel that gets the words as its arguments.
  void launch(std::vector<std::uint64_t> arguments = {}) {
    protocol::LaunchRequest request{};
    EXPECT_EQ(client_->connection().post(0, request, std::as_bytes(std::span(arguments))), hipSuccess);
  }
  hipError_t wait() { return client_->connection().synchronize_device(0); }
  // What has been written at the worker so far.
  // Pieces that touch are joined here: the ends of a range may travel apart.
  std::vector<Piece> written() {
    EXPECT_EQ(client_->connection().call(0, protocol::SynchronizeDeviceRequest{}), hipSuccess);
    std::vector<Piece> joined;
    for (const Piece& piece : worker_->host_pieces_written()) mirror::append(joined, piece);
    return joined;
  }
  static char* bytes(const Piece& memory) { return reinterpret_cast<char*>(memory.address); }
  std::vector<Piece> none() const { return {}; }

  std::unique_ptr<FakeWorker> worker_;
  std::unique_ptr<Client> client_;
};

}  // namespace tf::proxy
