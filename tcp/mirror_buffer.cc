// SPDX-License-Identifier: Apache-2.0
// Maps the same memory twice in a row.
#include "tcp/mirror_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "transport/net/fd.h"

namespace tf::tcp {

Result<MirrorBuffer> MirrorBuffer::create(std::size_t capacity) {
  const net::OwnedFd file(::memfd_create("hip-remote-tcp", MFD_CLOEXEC));
  if (!file) return Status::from_errno("memfd_create", errno);
  if (::ftruncate(file.get(), static_cast<off_t>(capacity)) != 0)
    return Status::from_errno("ftruncate", errno);
  void* whole = ::mmap(nullptr, 2 * capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) return Status::from_errno("mmap of a message buffer", errno);
  auto* base = static_cast<std::byte*>(whole);
  for (std::byte* half : {base, base + capacity}) {
    void* mapped =
        ::mmap(half, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file.get(), 0);
    if (mapped != MAP_FAILED) continue;
    const int error = errno;
    ::munmap(whole, 2 * capacity);
    return Status::from_errno("mmap of a message buffer", error);
  }
  return MirrorBuffer(base, capacity);
}

MirrorBuffer::MirrorBuffer(MirrorBuffer&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), capacity_(other.capacity_) {}

MirrorBuffer::~MirrorBuffer() {
  if (memory_ != nullptr) ::munmap(memory_, 2 * capacity_);
}

}  // namespace tf::tcp
