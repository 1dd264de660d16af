// SPDX-License-Identifier: Apache-2.0
// Tells descriptors from pointers to them.
#include "hipcore/memory/os_handle.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tf::hipcore {
namespace {

constexpr std::uintptr_t kDescriptorMax = 1 << 16;               // nothing is mapped below
constexpr std::uintptr_t kAddressMax = std::uintptr_t{1} << 47;  // of a program on x86-64

// Reads without a fault. False: nothing is mapped there.
bool read_int(const void* address, int& value) {
  const iovec to{&value, sizeof value};
  const iovec from{const_cast<void*>(address), sizeof value};
  const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
  if (got == ssize_t{sizeof value}) return true;
  if (got >= 0 || errno == EFAULT) return false;
  std::memcpy(&value, address, sizeof value);  // a sandbox without this call
  return true;
}

}  // namespace

int descriptor_in(const void* os_handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(os_handle);
  int descriptor = -1;
  if (number >= kDescriptorMax && number < kAddressMax && read_int(os_handle, descriptor)) return descriptor;
  return static_cast<int>(static_cast<std::uint32_t>(number));
}

}  // namespace tf::hipcore
