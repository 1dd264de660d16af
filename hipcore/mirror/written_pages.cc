// SPDX-License-Identifier: Apache-2.0
// Asks the kernel which pages were written.
#include "hipcore/mirror/written_pages.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace tf::mirror {
namespace {

// Of newer headers than Debian 12's: linux/userfaultfd.h and linux/fs.h of Linux 6.7.
constexpr std::uint64_t kWriteProtectAsync = 1u << 15;  // UFFD_FEATURE_WP_ASYNC
constexpr std::uint64_t kPageWritten = 1u << 1;         // PAGE_IS_...
constexpr std::uint64_t kPagePresent = 1u << 3;
constexpr std::uint64_t kPageSwapped = 1u << 4;
constexpr std::uint64_t kPageZero = 1u << 5;        // the page of zeros that all share
constexpr std::uint64_t kProtectMatching = 1u;      // PM_SCAN_WP_MATCHING
constexpr std::uint64_t kCheckProtected = 1u << 1;  // PM_SCAN_CHECK_WPASYNC

struct Region {  // struct page_region
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};

struct Scan {  // struct pm_scan_arg
  std::uint64_t size = sizeof(Scan);
  std::uint64_t flags = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t walk_end = 0;
  std::uint64_t regions = 0;
  std::uint64_t regions_max = 0;
  std::uint64_t pages_max = 0;
  std::uint64_t categories_inverted = 0;
  std::uint64_t categories = 0;
  std::uint64_t any_of_categories = 0;
  std::uint64_t returned_categories = 0;
};
static_assert(sizeof(Region) == 24 && sizeof(Scan) == 96);
constexpr unsigned long kScanPages = _IOWR('f', 16, Scan);  // PAGEMAP_SCAN
constexpr std::size_t kRegionsMax = 256;                    // per system call

bool run(int pages, Scan scan, const Piece& memory, std::vector<Piece>& found) {
  std::array<Region, kRegionsMax> regions;
  scan.regions = reinterpret_cast<std::uint64_t>(regions.data());
  scan.regions_max = regions.size();
  scan.end = memory.end();
  for (scan.start = memory.address; scan.start < scan.end; scan.start = scan.walk_end) {
    const int count = ::ioctl(pages, kScanPages, &scan);
    if (count < 0 || scan.walk_end <= scan.start) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      append(found, {regions[i].start, regions[i].end - regions[i].start});
  }
  return true;
}

net::OwnedFd open_faults() {
  net::OwnedFd faults(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
  uffdio_api wanted{};
  wanted.api = UFFD_API;
  wanted.features = kWriteProtectAsync;
  return faults && ::ioctl(faults.get(), UFFDIO_API, &wanted) == 0 ? std::move(faults) : net::OwnedFd();
}

// One descriptor for the process, if it was opened early.
net::OwnedFd& kept_page_tables() {
  static net::OwnedFd kept;
  return kept;
}

net::OwnedFd open_page_tables() {
  const int kept = kept_page_tables().get();
  return net::OwnedFd(kept >= 0 ? ::fcntl(kept, F_DUPFD_CLOEXEC, kept)
                                : ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
}

}  // namespace

void keep_page_tables() { kept_page_tables() = open_page_tables(); }

WrittenPages::WrittenPages(Use use) {
  if (use == Use::kNever) return;
  faults_ = open_faults();
  if (!faults_) return;
  pages_ = open_page_tables();
  if (pages_ && !works()) pages_.reset();
}

// Two pages, one of which is written.
bool WrittenPages::works() {
  constexpr std::uint64_t kBytes = 2 * kPageBytes;
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  const Piece both{reinterpret_cast<std::uint64_t>(memory), kBytes};
  volatile char* const bytes = static_cast<char*>(memory);
  bytes[0] = 1;
  std::vector<Piece> first;
  std::vector<Piece> later;
  bool told = watch(both) && forget(both) && take(both, first);
  bytes[kPageBytes] = 1;
  told = told && take(both, later);
  ::munmap(memory, kBytes);
  return told && first.empty() && later == std::vector{Piece{both.address + kPageBytes, kPageBytes}};
}

bool WrittenPages::watch(const Piece& memory) {
  if (!pages_ || memory.bytes == 0) return false;
  uffdio_register wanted{};
  wanted.range = {memory.address, memory.bytes};
  wanted.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(faults_.get(), UFFDIO_REGISTER, &wanted) == 0;
}

void WrittenPages::unwatch(const Piece& memory) {
  uffdio_range range{memory.address, memory.bytes};
  static_cast<void>(::ioctl(faults_.get(), UFFDIO_UNREGISTER, &range));
}

bool WrittenPages::forget(const Piece& memory) {
  if (memory.bytes == 0) return true;
  uffdio_writeprotect wanted{};
  wanted.range = {memory.address, memory.bytes};
  wanted.mode = UFFDIO_WRITEPROTECT_MODE_WP;
  return ::ioctl(faults_.get(), UFFDIO_WRITEPROTECT, &wanted) == 0;
}

bool WrittenPages::take(const Piece& memory, std::vector<Piece>& written) {
  Scan scan;
  scan.flags = kProtectMatching | kCheckProtected;
  scan.categories = scan.returned_categories = kPageWritten;
  return run(pages_.get(), scan, memory, written);
}

// Listed twice: pages that are swapped out cannot be told from untouched ones later, and others may be
// touched meanwhile.
bool WrittenPages::begin(const Piece& memory, std::vector<Piece>& content) {
  Scan scan;
  scan.categories = scan.categories_inverted = kPageZero;
  scan.any_of_categories = kPagePresent | kPageSwapped;
  scan.returned_categories = kPagePresent;
  std::vector<Piece> before;
  std::vector<Piece> now;
  if (!run(pages_.get(), scan, memory, before) || !forget(memory)) return false;
  scan.any_of_categories = kPagePresent;
  if (!run(pages_.get(), scan, memory, now)) return false;
  unite(before, now, content);
  return true;
}

}  // namespace tf::mirror
