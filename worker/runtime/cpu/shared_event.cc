// SPDX-License-Identifier: Apache-2.0
// Events that several processes record and wait for.
#include "worker/runtime/cpu/shared_event.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "worker/runtime/cpu/memory_file.h"
#include "worker/runtime/cpu/memory_map.h"

namespace tf::cpu {
namespace {

constexpr timespec kLookAfter{0, 50'000'000};  // whether the recorder is still there

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* time) {
  return ::syscall(SYS_futex, &word, operation, value, time, nullptr, 0);
}

}  // namespace

std::shared_ptr<SharedEvent> SharedEvent::make() {
  const int descriptor = make_memory_file(kPage_bytes);
  return descriptor < 0 ? nullptr : attach(descriptor);
}

std::shared_ptr<SharedEvent> SharedEvent::attach(int descriptor) {
  void* const base = ::mmap(nullptr, kPage_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (base == MAP_FAILED) {
    ::close(descriptor);
    return nullptr;
  }
  // A fresh file is zero, which is an event that was never recorded.
  return std::shared_ptr<SharedEvent>(new SharedEvent(descriptor, *static_cast<Page*>(base)));  // NOLINT
}

SharedEvent::~SharedEvent() {
  ::munmap(&page_, kPage_bytes);
  ::close(descriptor_);
}

std::uint64_t SharedEvent::begin_recording() {
  page_.recorder.store(::getpid(), std::memory_order_relaxed);  // only asked for after a long wait
  return page_.recorded.fetch_add(1, std::memory_order_acq_rel) + 1;
}

void SharedEvent::reach(std::uint64_t number) {
  std::uint64_t before = page_.reached.load(std::memory_order_relaxed);
  // Release pairs with reached(): a thread that sees the number sees the stream's earlier work.
  while (before < number && !page_.reached.compare_exchange_weak(before, number, std::memory_order_acq_rel)) {
  }
  page_.changed.fetch_add(1, std::memory_order_release);
  futex(page_.changed, FUTEX_WAKE, INT_MAX, nullptr);
}

std::uint64_t SharedEvent::last() const { return page_.recorded.load(std::memory_order_acquire); }

bool SharedEvent::reached(std::uint64_t number) const {
  return page_.reached.load(std::memory_order_acquire) >= number;  // pairs with reach()
}

bool SharedEvent::recorder_is_gone() const {
  const pid_t recorder = page_.recorder.load(std::memory_order_relaxed);
  return recorder > 0 && ::kill(recorder, 0) != 0 && errno == ESRCH;
}

void SharedEvent::wait(std::uint64_t number) const {
  for (;;) {
    // Read before the look at `reached`: a number reached in between has changed it, and the wait returns.
    const std::uint32_t seen = page_.changed.load(std::memory_order_acquire);
    if (reached(number)) return;
    const bool timed_out = futex(page_.changed, FUTEX_WAIT, seen, &kLookAfter) != 0 && errno == ETIMEDOUT;
    if (timed_out && recorder_is_gone()) return;
  }
}

}  // namespace tf::cpu
