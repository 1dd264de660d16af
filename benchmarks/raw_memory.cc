// SPDX-License-Identifier: Apache-2.0
// The limit of memcpy, with the page sizes that our mappings use.
#include "benchmarks/raw_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "benchmarks/report/statistics.h"

namespace tf::bench {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kHugePageBytes = 2 << 20;
constexpr std::uint64_t kBatchBytes = 1 << 20;  // a sample copies so much, so that the clock costs nothing

std::uint64_t whole(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

void* map_pages(std::uint64_t bytes, std::uint64_t address, int file) {
  const int kind = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  const int place = address != 0 ? MAP_FIXED_NOREPLACE : 0;
  void* const got =
      ::mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE, kind | place, file, 0);
  return got == MAP_FAILED ? nullptr : got;
}

void* map_file(std::uint64_t bytes, std::uint64_t address) {
  const int file = ::memfd_create("raw_memory", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* const got =
      ::ftruncate(file, static_cast<off_t>(bytes)) == 0 ? map_pages(bytes, address, file) : nullptr;
  ::close(file);
  return got;
}

}  // namespace

RawMemory::RawMemory(Pages pages, std::uint64_t bytes, std::uint64_t address)
    : pages_(pages),
      bytes_(bytes),
      mapped_bytes_(whole(bytes, pages == Pages::kHuge ? kHugePageBytes : kPageBytes)) {
  void* memory = nullptr;
  switch (pages) {
    case Pages::kHeap: memory = std::aligned_alloc(kPageBytes, mapped_bytes_); break;
    case Pages::kFile: memory = map_file(mapped_bytes_, address); break;
    case Pages::kSmall:
    case Pages::kHuge: memory = map_pages(mapped_bytes_, address, -1); break;
  }
  if (memory == nullptr) return;
  if (pages == Pages::kSmall) ::madvise(memory, mapped_bytes_, MADV_NOHUGEPAGE);
  if (pages == Pages::kHuge) ::madvise(memory, mapped_bytes_, MADV_HUGEPAGE);
  std::memset(memory, 1, bytes_);
  data_ = static_cast<std::byte*>(memory);
}

RawMemory::~RawMemory() {
  if (pages_ == Pages::kHeap)
    std::free(data_);
  else if (data_ != nullptr)
    ::munmap(data_, mapped_bytes_);
}

double memcpy_gb_per_s(const RawMemory& target, const RawMemory& source, double budget_s) {
  if (target.data() == nullptr || source.data() == nullptr) return 0;
  const std::uint64_t bytes = std::min(target.bytes(), source.bytes());
  const std::uint64_t batch = std::max<std::uint64_t>(1, kBatchBytes / bytes);
  const Samples samples = repeat(budget_s, 3, 100'000, [&] {
    for (std::uint64_t copy = 0; copy < batch; ++copy) {
      std::memcpy(target.data(), source.data(), bytes);
      asm volatile("" : : "r"(target.data()) : "memory");  // the copy is wanted
    }
  });
  return static_cast<double>(bytes * batch) / samples.median() / 1e9;
}

}  // namespace tf::bench
