// SPDX-License-Identifier: Apache-2.0
// Reserves the host window, and turns it into a shared file or a mirror.
#include "worker/memory/host_window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "worker/memory/machine_memory.h"
#include "worker/memory/pointer_to.h"

namespace tf::worker {
namespace {

// Differs from the devices' windows (lease.cc) in address bits 21 to 27 too. AMD processors look up lines in
// their first cache by a hash of bits 12 to 27. If both windows began at round addresses, the first pinned
// buffer and the first buffer of a device would evict each other with every line of a copy, and so on.
constexpr std::uint64_t kApart = 0x0aa0'0000;
#if defined(TF_THREAD_SANITIZER)
// See lease.cc: the thread sanitizer allows low addresses only.
constexpr std::uint64_t kBases[] = {0x60'0000'0000 + kApart};
constexpr std::uint64_t kBytesMax = 64ull << 30;
#else
// Below the windows of the devices, above the shadows of sanitizers.
constexpr std::uint64_t kBases[] = {0x1800'0000'0000 + kApart, 0x1c00'0000'0000 + kApart,
                                    0x1400'0000'0000 + kApart};
constexpr std::uint64_t kBytesMax = 2ull << 40;
#endif
constexpr std::uint64_t kBytesMin = 16ull << 30;
constexpr std::uint64_t kBytesPerMemory = 2;  // addresses per byte of memory, so that gaps do not matter

// Maps memory over the reservation. Huge pages where the system provides them: fewer faults, and registering
// is per page.
bool map_over(const protocol::AddressWindow& window, int flags, int file) {
  void* const base = pointer_to(window.base);
  if (::mmap(base, window.bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED | MAP_NORESERVE, file, 0) != base)
    return false;
  static_cast<void>(::madvise(base, window.bytes, MADV_HUGEPAGE));
  return true;
}

// A file whose size is fixed, whoever holds it.
net::OwnedFd make_file(std::uint64_t bytes) {
  net::OwnedFd file(::memfd_create("hip-remote-host", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  const bool made = file && ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0 &&
                    ::fcntl(file.get(), F_ADD_SEALS, kSeals) == 0;
  return made ? std::move(file) : net::OwnedFd();
}

}  // namespace

void reserve_host_window(protocol::WorkerSnapshot& snapshot) {
  snapshot.host_access = protocol::HostAccess::kNone;
  snapshot.host_window = {};
  if (snapshot.devices.empty()) return;
  const std::uint64_t bytes =
      std::clamp(std::bit_ceil(machine_bytes() * kBytesPerMemory), kBytesMin, kBytesMax);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  for (const std::uint64_t base : kBases) {
    void* const got = ::mmap(pointer_to(base), bytes, PROT_NONE, kFlags, -1, 0);
    if (got == MAP_FAILED) continue;
    if (got == pointer_to(base)) {
      snapshot.host_window = {base, bytes};
      return;
    }
    ::munmap(got, bytes);  // kernels before 4.17 take the address as a hint
  }
}

net::OwnedFd share_host_window(protocol::WorkerSnapshot& snapshot) {
  if (snapshot.host_window.bytes == 0) return {};
  net::OwnedFd file = make_file(snapshot.host_window.bytes);
  if (file && map_over(snapshot.host_window, MAP_SHARED, file.get())) {
    snapshot.host_access = protocol::HostAccess::kShared;
    return file;
  }
  snapshot.host_window = {};
  return {};
}

void mirror_host_window(protocol::WorkerSnapshot& snapshot) {
  const bool mapped =
      snapshot.host_window.bytes != 0 && map_over(snapshot.host_window, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  snapshot.host_access = mapped ? protocol::HostAccess::kMirrored : protocol::HostAccess::kNone;
  if (!mapped) snapshot.host_window = {};
}

}  // namespace tf::worker
