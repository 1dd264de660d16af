// SPDX-License-Identifier: Apache-2.0
// Maps the files of leases at the device's addresses.
#include "proxy/memory/lease_mappings.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "hipcore/wire/shared_files.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

constexpr std::chrono::seconds kFileTime{5};  // the worker sent it before it answered

// As large as the lease, permanently: nobody can remove pages during a copy. Huge pages (hugetlbfs) may be
// missing all the same, and then whoever touches them dies.
bool is_whole(int file, std::uint64_t bytes) {
  struct stat facts = {};
  struct statfs system = {};
  if (::fstatfs(file, &system) != 0 || system.f_type == HUGETLBFS_MAGIC) return false;
  const int seals = ::fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && ::fstat(file, &facts) == 0 && facts.st_size > 0 &&
         static_cast<std::uint64_t>(facts.st_size) >= bytes;
}

// No host memory may come to lie at a device's addresses. If this fails whatever is mapped there stays, and
// nobody reads it.
void reserve(std::uint64_t address, std::uint64_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  static_cast<void>(::mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, kFlags, -1, 0));
}

}  // namespace

void LeaseMappings::open(net::OwnedFd socket) {
  const MutexLock lock(order_);
  socket_ = std::move(socket);
  complete_.store(static_cast<bool>(socket_), std::memory_order_release);  // pairs with complete()
}

Status LeaseMappings::take(std::uint64_t address, std::uint64_t bytes, bool has_file) {
  if (!socket_) return Status::ok();
  Status status = has_file ? map(address, bytes)
                           : Status(Code::kUnavailable, "the worker did not pass the memory of a lease");
  if (!status.is_ok()) give_up();
  return status;
}

Status LeaseMappings::map(std::uint64_t address, std::uint64_t bytes) {
  Result<net::OwnedFd> file =
      protocol::receive_lease_file(socket_.get(), address, Deadline::after(kFileTime));
  if (!file) return file.status();
  if (!is_whole(file->get(), bytes))
    return {Code::kProtocol,
            "the file of a lease is smaller than the lease, or may come to have fewer pages"};
  void* const wanted = reinterpret_cast<void*>(address);
  // Maps over the window's reservation.
  const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags, file->get(), 0) != wanted) {
    Status failed = Status::from_errno("mapping a lease", errno);
    reserve(address, bytes);  // the kernel may have removed the reservation before it failed
    return failed;
  }
  static_cast<void>(::madvise(wanted, bytes, MADV_HUGEPAGE));  // where the system gives them
  const MutexLock lock(mutex_);
  mapped_[address] = bytes;
  return Status::ok();
}

// The worker finds the other end closed, and passes no more files.
void LeaseMappings::give_up() {
  complete_.store(false, std::memory_order_release);  // pairs with complete()
  socket_.reset();
}

std::uint64_t LeaseMappings::drop(std::uint64_t address) {
  const MutexLock lock(mutex_);
  const auto found = mapped_.find(address);
  if (found == mapped_.end()) return 0;
  const std::uint64_t bytes = found->second;
  reserve(address, bytes);
  mapped_.erase(found);
  return bytes;
}

}  // namespace tf::proxy
