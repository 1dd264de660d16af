// SPDX-License-Identifier: Apache-2.0
// Slabs of stacks; see fiber_pool.h.
#include "worker/runtime/cpu/kernel/fiber_pool.h"

#include <sys/mman.h>

#include <system_error>
#include <thread>
#include <utility>

#include "transport/base/mutex.h"

namespace tf::cpu {
namespace {

constexpr std::size_t kGuardBytes = 4096;
// Stacks whose tops are a power of two apart map to the same few sets of the caches and of the translation
// buffers, and every switch misses. So they are an odd number of pages apart, and begin at different lines.
constexpr std::size_t kStrideBytes = kFiberStackBytes + 4096;
constexpr std::size_t kSkippedBytes = 3 * 64;

}  // namespace

std::unique_ptr<FiberSlab> FiberSlab::make(std::uint32_t fibers) {
  const std::size_t bytes = kGuardBytes + fibers * kStrideBytes;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const mapping = static_cast<std::byte*>(memory);
  if (mprotect(mapping, kGuardBytes, PROT_NONE) != 0) {
    munmap(mapping, bytes);
    return nullptr;
  }
  return std::unique_ptr<FiberSlab>(new FiberSlab(mapping, bytes, fibers));
}

FiberSlab::FiberSlab(std::byte* mapping, std::size_t bytes, std::uint32_t fibers)
    : mapping_(mapping), bytes_(bytes) {
  for (std::uint32_t i = 0; i < fibers; ++i)
    fibers_.emplace_back(mapping + kGuardBytes + i * kStrideBytes, i * kSkippedBytes);
}

FiberSlab::~FiberSlab() {
  fibers_.clear();
  munmap(mapping_, bytes_);
}

FiberPool& FiberPool::process() {
  static FiberPool* const pool = new FiberPool;  // handed to the process, for its whole life
  return *pool;
}

FiberPool::Share::Share(FiberPool& pool, std::uint32_t slabs) : pool_(pool), slabs_(slabs) {
  if (slabs_ == 0) return;
  UniqueLock lock(pool_.mutex_);
  const std::uint64_t ticket = pool_.next_ticket_++;
  const auto mine = [&]() TF_REQUIRES(pool_.mutex_) {
    return pool_.served_ == ticket && pool_.shared_out_ + slabs_ <= kLaunchSlabs;
  };
  if (!mine()) ++pool_.waited_;
  pool_.returned_.wait(pool_.mutex_, mine);
  pool_.shared_out_ += slabs_;
  const bool others = ++pool_.served_ != pool_.next_ticket_;
  lock.unlock();
  if (others) pool_.returned_.notify_all();
}

FiberPool::Share::~Share() {
  if (slabs_ == 0) return;
  bool others = false;
  {
    const MutexLock lock(pool_.mutex_);
    pool_.shared_out_ -= slabs_;
    others = pool_.served_ != pool_.next_ticket_;
  }
  if (others) pool_.returned_.notify_all();
}

std::unique_ptr<FiberSlab> FiberPool::take() {
  {
    const MutexLock lock(mutex_);
    if (!idle_.empty()) {
      auto slab = std::move(idle_.back().slab);  // the one whose stacks are likeliest in a cache
      idle_.pop_back();
      return slab;
    }
  }
  auto slab = FiberSlab::make();
  if (slab == nullptr) return nullptr;
  const MutexLock lock(mutex_);
  ++mapped_;
  return slab;
}

void FiberPool::give(Slabs& slabs) {
  if (slabs.empty()) return;
  const auto now = Clock::now();
  const MutexLock lock(mutex_);
  for (auto& slab : slabs) idle_.push_back({std::move(slab), now});
  slabs.clear();
  if (trimming_) return;
  try {
    std::thread([this] { keep_trimming(); }).detach();
    trimming_ = true;
  } catch (const std::system_error&) {  // no thread to be had: the next who gives tries again
  }
}

void FiberPool::keep_trimming() {
  UniqueLock lock(mutex_);
  while (!idle_.empty()) {
    const auto wake = idle_.front().since + kIdleSlab;
    lock.unlock();
    std::this_thread::sleep_until(wake);
    lock.lock();
    trim();
  }
  trimming_ = false;
}

void FiberPool::trim() {
  Slabs old;
  const auto limit = Clock::now() - kIdleSlab;
  while (!idle_.empty() && idle_.front().since <= limit) {
    old.push_back(std::move(idle_.front().slab));
    idle_.pop_front();
  }
  const std::size_t unmapped = old.size();
  {
    const MutexUnlock meanwhile(mutex_);  // unmapping takes its time
    old.clear();
  }
  mapped_ -= unmapped;
}

FiberPool::Counts FiberPool::counts() {
  const MutexLock lock(mutex_);
  return {mapped_, idle_.size(), waited_};
}

}  // namespace tf::cpu
