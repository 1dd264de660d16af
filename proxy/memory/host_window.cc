// SPDX-License-Identifier: Apache-2.0
// Opens parts of the host window, and cuts blocks from them.
#include "proxy/memory/host_window.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "proxy/memory/address_window.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// A mapping with larger pages would extend beyond the part.
bool has_small_pages(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 &&
         static_cast<std::uint64_t>(facts.st_blksize) <= protocol::kHostPartBytes;
}

}  // namespace

HostWindow::~HostWindow() {
  if (access_ != protocol::HostAccess::kNone) ::munmap(reinterpret_cast<void*>(window_.base), window_.bytes);
}

Status HostWindow::map(const protocol::AddressWindow& window, protocol::HostAccess access, int file) {
  if (!may_map(window.base, window.bytes))
    return {Code::kUnavailable, "programs under the thread sanitizer cannot map the host window"};
  void* wanted = reinterpret_cast<void*>(window.base);
  const int backing = access == protocol::HostAccess::kShared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  const int flags = backing | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* got = ::mmap(wanted, window.bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (got == MAP_FAILED) return Status::from_errno("mapping the host window", errno);
  if (got != wanted) {  // kernels before 4.17 take the address as a hint
    ::munmap(got, window.bytes);
    return {Code::kUnavailable, "the host window's addresses are in use in this process"};
  }
  // A core dump of the program should contain its memory, not terabytes of holes; the kernel skips ranges
  // without pages. Uses huge pages where the system provides them.
  (void)::madvise(got, window.bytes, MADV_HUGEPAGE);
  window_ = window;
  access_ = access;
  parts_window_ = window;
  if (access != protocol::HostAccess::kShared) return Status::ok();
  files_window_ = protocol::host_files_of(window);
  parts_window_.bytes -= files_window_.bytes;
  return Status::ok();
}

bool HostWindow::find_gap(const protocol::AddressWindow& window, const Ranges& ranges, std::uint64_t bytes,
                          std::uint64_t& address) {
  address = window.base;
  for (const auto& [base, length] : ranges) {
    if (base - address >= bytes) return true;
    address = base + length;
  }
  return window.bytes - (address - window.base) >= bytes;
}

// Where there is not enough for what is usually opened, what is needed may still be there.
hipError_t HostWindow::grow(std::uint64_t bytes) {
  const std::uint64_t exact = rounded(bytes, protocol::kHostPartBytes);
  std::uint64_t part = exact;
  if (bytes < kOwnHostPartBytes) {
    const MutexLock lock(mutex_);
    part = std::max(exact, next_part_bytes_);
  }
  const hipError_t error = open_part(part);
  return error == hipErrorOutOfMemory && part != exact ? open_part(exact) : error;
}

// A runtime that cannot take memory back (worker/base/lasting_registrations.h) refuses addresses for good:
// they stay in parts_, and others are taken.
hipError_t HostWindow::open_part(std::uint64_t part) {
  std::uint64_t address = 0;
  hipError_t error = hipErrorHostMemoryAlreadyRegistered;
  while (error == hipErrorHostMemoryAlreadyRegistered) {
    {
      const MutexLock lock(mutex_);
      if (!find_gap(parts_window_, parts_, part, address)) return hipErrorOutOfMemory;
      parts_.emplace(address, part);
    }
    error = source_.open_host_part(address, part, HostPartSource::Use::kWindow);
  }
  const MutexLock lock(mutex_);
  if (error == hipSuccess && blocks_.add_range(address, part)) {
    if (part == next_part_bytes_) next_part_bytes_ = std::min(part * 2, kLargestHostPartBytes);
    return hipSuccess;
  }
  parts_.erase(address);
  return error != hipSuccess ? error : hipErrorOutOfMemory;
}

hipError_t HostWindow::allocate(std::uint64_t bytes, std::uint64_t& address) {
  if (access_ == protocol::HostAccess::kNone) return hipErrorNotSupported;
  if (bytes == 0 || bytes > window_.bytes) return hipErrorOutOfMemory;
  const std::uint64_t whole = rounded(bytes, kHostPageBytes);
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (auto block = blocks_.allocate(whole)) {
        address = block->address;
        return hipSuccess;
      }
    }
    // Another thread may use up what this one opens: then try again.
    if (hipError_t error = grow(whole); error != hipSuccess) return error;
  }
}

void HostWindow::release(std::uint64_t address) {
  std::uint64_t unused = 0;
  std::uint64_t bytes = 0;
  {
    const MutexLock lock(mutex_);
    auto part = blocks_.range_of(address);
    if (!blocks_.release(address) || !part) return;
    bytes = part->second;
    if (part->second >= kOwnHostPartBytes && blocks_.remove_range(part->first)) unused = part->first;
  }
  if (unused == 0) return;
  source_.close_host_part(unused, bytes);
  // Only now: the next user of these addresses comes after the closing in the queue.
  const MutexLock lock(mutex_);
  parts_.erase(unused);
}

hipError_t HostWindow::reserve(std::uint64_t bytes, std::uint64_t& address) {
  if (access_ == protocol::HostAccess::kNone) return hipErrorNotSupported;
  if (bytes == 0 || bytes > window_.bytes) return hipErrorOutOfMemory;
  const std::uint64_t room = rounded(bytes, protocol::kHostPartBytes);
  const MutexLock lock(mutex_);
  if (!find_gap(parts_window_, parts_, room, address)) return hipErrorOutOfMemory;
  parts_.emplace(address, room);
  return hipSuccess;
}

hipError_t HostWindow::open(std::uint64_t address) {
  std::uint64_t bytes = 0;
  {
    const MutexLock lock(mutex_);
    bytes = parts_.at(address);
  }
  return source_.open_host_part(address, bytes, HostPartSource::Use::kCopied);
}

void HostWindow::unreserve(std::uint64_t address, bool is_open) {
  std::uint64_t bytes = 0;
  {
    const MutexLock lock(mutex_);
    bytes = parts_.at(address);
  }
  if (is_open) source_.close_host_part(address, bytes);
  // The next one to reserve them expects fresh pages.
  static_cast<void>(::madvise(reinterpret_cast<void*>(address), bytes, MADV_DONTNEED));
  const MutexLock lock(mutex_);
  parts_.erase(address);
}

hipError_t HostWindow::map_file(int file, std::uint64_t offset, std::uint64_t bytes, std::uint64_t& address) {
  const std::uint64_t room = rounded(bytes, protocol::kHostPartBytes);
  {
    const MutexLock lock(mutex_);
    if (bytes > files_window_.bytes || !find_gap(files_window_, files_, room, address))
      return hipErrorOutOfMemory;
    files_.emplace(address, room);
  }
  void* const wanted = reinterpret_cast<void*>(address);
  const bool mapped =
      has_small_pages(file) && ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                                      static_cast<off_t>(offset)) != MAP_FAILED;
  const hipError_t error =
      mapped ? source_.map_host_file(address, bytes, file, offset) : hipErrorNotSupported;
  if (error != hipSuccess) forget_file(address);
  return error;
}

void HostWindow::unmap_file(std::uint64_t address) {
  source_.unmap_host_file(address);
  forget_file(address);
}

// The next user of these addresses tells the worker after this was told.
void HostWindow::forget_file(std::uint64_t address) {
  const MutexLock lock(mutex_);
  const auto found = files_.find(address);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  (void)::mmap(reinterpret_cast<void*>(address), found->second, PROT_NONE, kFlags, -1, 0);
  files_.erase(found);
}

}  // namespace tf::proxy
