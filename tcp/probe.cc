// SPDX-License-Identifier: Apache-2.0
// Asks the kernel which io_uring features it has.
#include "tcp/probe.h"

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "transport/net/fd.h"

namespace tf::tcp {
namespace {

constexpr unsigned kProbeEntries = 2;

int disabled_sysctl() {
  const net::OwnedFd file(::open("/proc/sys/kernel/io_uring_disabled", O_RDONLY | O_CLOEXEC));
  char digit = 0;
  if (!file || ::read(file.get(), &digit, 1) != 1 || digit < '0' || digit > '9') return -1;
  return digit - '0';
}

struct FreeProbe {
  void operator()(io_uring_probe* found) const { ::io_uring_free_probe(found); }
};

bool can_register_buffers(io_uring& ring) {
  io_uring_buf_reg request{};
  constexpr std::size_t kPageBytes = 4096;
  const std::unique_ptr<void, decltype(&std::free)> page(std::aligned_alloc(kPageBytes, kPageBytes),
                                                         &std::free);
  if (page == nullptr) return false;
  request.ring_addr = reinterpret_cast<std::uintptr_t>(page.get());
  request.ring_entries = 1;
  if (::io_uring_register_buf_ring(&ring, &request, 0) != 0) return false;
  ::io_uring_unregister_buf_ring(&ring, 0);
  return true;
}

Probe probe_ring(io_uring& ring) {
  const std::unique_ptr<io_uring_probe, FreeProbe> found(::io_uring_get_probe_ring(&ring));
  const auto has = [&](int operation) {
    return found != nullptr && ::io_uring_opcode_supported(found.get(), operation) != 0;
  };
  if (!has(IORING_OP_SEND) || !has(IORING_OP_RECV) || !has(IORING_OP_ASYNC_CANCEL))
    return {.available = {Code::kUnavailable, "this kernel's io_uring has no send and receive"},
            .features = {false, false, false}};
  // Multishot receive (6.0) has no probe of its own; SEND_ZC came with the same release.
  return {.available = Status::ok(),
          .features = {.multishot_receive = has(IORING_OP_SEND_ZC) && can_register_buffers(ring),
                       .zero_copy_send = has(IORING_OP_SEND_ZC),
                       .registered_files = true}};
}

}  // namespace

Status explain_setup_failure(int error_number, int disabled) {
  if (error_number == ENOSYS)
    return {Code::kUnavailable,
            "io_uring: this kernel was built without it, or a seccomp filter hides it (ENOSYS)"};
  if (error_number == EPERM && disabled > 0)
    return {Code::kUnavailable,
            "io_uring is disabled by sysctl kernel.io_uring_disabled=" + std::to_string(disabled)};
  if (error_number == EPERM || error_number == EACCES)
    return {Code::kUnavailable, "io_uring is forbidden here: a seccomp filter or security module (" +
                                    std::string(error_number == EPERM ? "EPERM" : "EACCES") +
                                    "), as in most containers"};
  if (error_number == ENOMEM)
    return {Code::kUnavailable, "io_uring: no memory that may be locked (ENOMEM); see ulimit -l"};
  const Status status = Status::from_errno("io_uring_setup", error_number);
  return {Code::kUnavailable, status.message()};
}

Probe probe_now() {
  io_uring ring{};
  const int result = ::io_uring_queue_init(kProbeEntries, &ring, 0);
  if (result < 0)
    return {.available = explain_setup_failure(-result, disabled_sysctl()),
            .features = {false, false, false}};
  Probe found = probe_ring(ring);
  ::io_uring_queue_exit(&ring);
  return found;
}

const Probe& probe() {
  static const Probe& answer = *new Probe(probe_now());  // never destroyed, as transport()
  return answer;
}

}  // namespace tf::tcp
