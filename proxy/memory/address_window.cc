// SPDX-License-Identifier: Apache-2.0
// Reserves the worker's device addresses in this process.
#include "proxy/memory/address_window.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cerrno>

namespace tf::proxy {
namespace {

// Such a program uses addresses in fixed ranges only, and is ended if it maps others.
bool under_thread_sanitizer() { return ::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr; }
constexpr std::uint64_t kSanitizedAddressMax = 0x80'0000'0000;  // of the lowest such range

}  // namespace

bool may_map(std::uint64_t base, std::uint64_t bytes) {
  return !under_thread_sanitizer() || (base < kSanitizedAddressMax && bytes <= kSanitizedAddressMax - base);
}

ReservedWindow::~ReservedWindow() {
  if (bytes_ != 0) ::munmap(reinterpret_cast<void*>(base_), bytes_);
}

Result<ReservedWindow> ReservedWindow::reserve(std::uint64_t base, std::uint64_t bytes) {
  if (under_thread_sanitizer()) return ReservedWindow();  // its ranges contain no window
  void* wanted = reinterpret_cast<void*>(base);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* got = ::mmap(wanted, bytes, PROT_NONE, kFlags, -1, 0);
  if (got == MAP_FAILED) return Status::from_errno("reserving the device address window", errno);
  if (got != wanted) {  // kernels before 4.17 take the address as a hint
    ::munmap(got, bytes);
    return Status(Code::kUnavailable, "the device address window is in use in this process");
  }
  ReservedWindow window;
  window.base_ = base;
  window.bytes_ = bytes;
  return window;
}

}  // namespace tf::proxy
