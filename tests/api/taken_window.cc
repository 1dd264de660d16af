// SPDX-License-Identifier: Apache-2.0
// With TF_TEST_TAKE_WINDOW=1 a page of the first device's addresses is in use before the library connects, as
// in a program that is in the way: nothing can be mapped there then, and copies over shm go through the
// buffers that client and worker share, as they do with devices whose memory is no host's to map.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

#if defined(TF_THREAD_SANITIZER)
constexpr std::uintptr_t kFirstWindow = 0x10'0000'0000;  // worker/memory/lease.cc
#else
constexpr std::uintptr_t kFirstWindow = 0x2000'0000'0000;  // worker/memory/lease.cc
#endif

[[maybe_unused]] const bool kTaken = [] {
  const char* const wanted = std::getenv("TF_TEST_TAKE_WINDOW");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0) return false;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  return ::mmap(reinterpret_cast<void*>(kFirstWindow), 4096, PROT_NONE, kFlags, -1, 0) != MAP_FAILED;
}();

}  // namespace
