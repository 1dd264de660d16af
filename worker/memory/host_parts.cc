// SPDX-License-Identifier: Apache-2.0
// Opens and closes parts of the host window.
#include "worker/memory/host_parts.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <iterator>
#include <utility>

#include "worker/base/ranges.h"
#include "worker/memory/machine_memory.h"
#include "worker/memory/pointer_to.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::uint64_t rounded(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// Whether this is a regular file that has these pages now. Not one with pages larger than a part, which would
// extend beyond it.
bool has_pages(int file, std::uint64_t bytes, std::uint64_t offset) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size <= 0) return false;
  if (static_cast<std::uint64_t>(facts.st_blksize) > protocol::kHostPartBytes) return false;
  const std::uint64_t there = rounded(static_cast<std::uint64_t>(facts.st_size), kPageBytes);
  return offset <= there && bytes <= there - offset;
}

// Turns the addresses back into a mere reservation.
void close_pages(std::uint64_t address, std::uint64_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  static_cast<void>(
      ::mmap(pointer_to(address), rounded(bytes, protocol::kHostPartBytes), PROT_NONE, kFlags, -1, 0));
}

}  // namespace

HostParts::HostParts(const protocol::HipTable& hip, OwnCalls& own_calls,
                     const protocol::WorkerSnapshot& snapshot, AddressMap& addresses, Share& share)
    : hip_(hip),
      own_calls_(own_calls),
      window_(snapshot.host_window),
      access_(snapshot.host_access),
      addresses_(addresses),
      share_(share),
      bytes_left_(machine_bytes()),
      files_window_(access_ == protocol::HostAccess::kShared ? protocol::host_files_of(window_)
                                                             : protocol::AddressWindow{}) {}

HostParts::~HostParts() {
  for (const auto& [address, bytes] : open_) {
    own_calls_.pass_on(hip_.hipHostUnregister(pointer_to(address)));
    static_cast<void>(::madvise(pointer_to(address), bytes, is_mirror() ? MADV_DONTNEED : MADV_REMOVE));
  }
  for (const auto& [address, bytes] : files_) own_calls_.pass_on(hip_.hipHostUnregister(pointer_to(address)));
}

bool HostParts::take(std::uint64_t bytes) {
  if (bytes > bytes_left_ || !share_.take(Limit::kHost, Counter::kHost, bytes)) return false;
  bytes_left_ -= bytes;
  return true;
}

void HostParts::give(std::uint64_t bytes) {
  bytes_left_ += bytes;
  share_.give(Counter::kHost, bytes);
}

bool HostParts::is_free(std::uint64_t address, std::uint64_t bytes) const {
  return !overlaps(open_, address, bytes) && !overlaps(files_, address, bytes);
}

bool HostParts::is_for_files(std::uint64_t address, std::uint64_t bytes) const {
  return address - files_window_.base < files_window_.bytes &&
         bytes <= files_window_.bytes - (address - files_window_.base);
}

hipError_t HostParts::tell_runtime(std::uint64_t address, std::uint64_t bytes) {
  const hipError_t error =
      hip_.hipHostRegister(pointer_to(address), bytes, hipHostRegisterPortable | hipHostRegisterMapped);
  if (error != hipSuccess) return error;
  if (addresses_.add(address, bytes, 0, AddressMap::Edge::kEnds)) return hipSuccess;
  own_calls_.pass_on(hip_.hipHostUnregister(pointer_to(address)));
  return hipErrorOutOfMemory;
}

hipError_t HostParts::open(std::uint64_t address, std::uint64_t bytes) {
  const bool whole = bytes != 0 && bytes % protocol::kHostPartBytes == 0 &&
                     address % protocol::kHostPartBytes == 0 && inside(address) &&
                     bytes <= window_.bytes - (address - window_.base);
  if (access_ == protocol::HostAccess::kNone || !whole || !is_free(address, bytes))
    return hipErrorInvalidValue;
  if (address + bytes > files_window_.base && files_window_.bytes != 0) return hipErrorInvalidValue;
  if (open_.size() >= kHostPartsMax || !take(bytes)) return hipErrorOutOfMemory;
  const hipError_t error = tell_runtime(address, bytes);
  if (error == hipSuccess)
    open_.emplace(address, bytes);
  else
    give(bytes);
  return error;
}

hipError_t HostParts::close(std::uint64_t address) {
  const auto part = open_.find(address);
  if (part == open_.end()) return hipErrorInvalidValue;
  const std::uint64_t bytes = part->second;
  addresses_.remove(address);
  open_.erase(part);
  const hipError_t error = hip_.hipHostUnregister(pointer_to(address));
  static_cast<void>(::madvise(pointer_to(address), bytes, is_mirror() ? MADV_DONTNEED : MADV_REMOVE));
  give(bytes);
  return error;
}

hipError_t HostParts::map_file(std::uint64_t address, std::uint64_t bytes, int file, std::uint64_t offset) {
  const bool whole = bytes != 0 && bytes % kPageBytes == 0 && offset % kPageBytes == 0 &&
                     address % protocol::kHostPartBytes == 0 && is_for_files(address, bytes) &&
                     is_free(address, rounded(bytes, protocol::kHostPartBytes));
  if (!whole || !has_pages(file, bytes, offset)) return hipErrorInvalidValue;
  if (files_.size() >= kHostFilesMax || !take(bytes)) return hipErrorOutOfMemory;
  const hipError_t error = map_pages(address, bytes, file, offset);
  if (error == hipSuccess)
    files_.emplace(address, bytes);
  else
    give(bytes);
  return error;
}

hipError_t HostParts::map_pages(std::uint64_t address, std::uint64_t bytes, int file, std::uint64_t offset) {
  constexpr int kAccess = PROT_READ | PROT_WRITE;
  if (::mmap(pointer_to(address), bytes, kAccess, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset)) ==
      MAP_FAILED) {
    close_pages(address, bytes);  // the kernel may have removed the reservation before it failed
    return hipErrorInvalidValue;
  }
  const hipError_t error = tell_runtime(address, bytes);
  if (error != hipSuccess) close_pages(address, bytes);
  return error;
}

hipError_t HostParts::unmap_file(std::uint64_t address) {
  const auto part = files_.find(address);
  if (part == files_.end()) return hipErrorInvalidValue;
  const std::uint64_t bytes = part->second;
  addresses_.remove(address);
  files_.erase(part);
  const hipError_t error = hip_.hipHostUnregister(pointer_to(address));
  close_pages(address, bytes);
  give(bytes);
  return error;
}

bool HostParts::holds(std::uint64_t address, std::uint64_t bytes) const {
  auto part = open_.upper_bound(address);
  if (part == open_.begin()) return false;
  --part;
  const std::uint64_t offset = address - part->first;
  return offset < part->second && bytes <= part->second - offset;
}

hipMemcpyKind HostParts::kind(std::uint64_t target, std::uint64_t source) const {
  if (inside(target)) return inside(source) ? hipMemcpyHostToHost : hipMemcpyDeviceToHost;
  return inside(source) ? hipMemcpyHostToDevice : hipMemcpyDeviceToDevice;
}

}  // namespace tf::worker
