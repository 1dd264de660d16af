// SPDX-License-Identifier: Apache-2.0
// Stands before glibc's functions, and calls them by their other names.
#include "tests/api/failing_malloc.h"

#include <cerrno>
#include <cstddef>

extern "C" void* __libc_malloc(std::size_t bytes);                           // NOLINT: glibc's names
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);        // NOLINT
extern "C" void* __libc_realloc(void* memory, std::size_t bytes);            // NOLINT
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);  // NOLINT

namespace tf::api_test {
namespace {

thread_local int allocations_left = 0;  // until one fails; 0: none does
thread_local bool has_failed = false;

bool fails() {
  if (allocations_left == 0 || --allocations_left != 0) return false;
  has_failed = true;
  errno = ENOMEM;
  return true;
}

}  // namespace

void fail_allocation(int k) {
  has_failed = false;
  allocations_left = k;
}

bool stop_failing() {
  allocations_left = 0;
  return has_failed;
}

}  // namespace tf::api_test

using tf::api_test::fails;

extern "C" void* malloc(std::size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
extern "C" void* calloc(std::size_t count, std::size_t bytes) {
  return fails() ? nullptr : __libc_calloc(count, bytes);
}
extern "C" void* realloc(void* memory, std::size_t bytes) {
  return fails() ? nullptr : __libc_realloc(memory, bytes);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
