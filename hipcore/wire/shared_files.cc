// SPDX-License-Identifier: Apache-2.0
// Passes the host window's file and the files of leases to a client.
#include "hipcore/wire/shared_files.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/net/socket.h"

namespace tf::protocol {
namespace {

bool has_host_window(const WorkerSnapshot& snapshot) { return snapshot.host_access == HostAccess::kShared; }
bool has_leases(const WorkerSnapshot& snapshot) { return snapshot.device_access == DeviceAccess::kMapped; }

}  // namespace

Status send_shared_files(int socket, const WorkerSnapshot& snapshot, const SharedFiles& files,
                         Deadline deadline) {
  std::vector<int> descriptors;
  if (has_host_window(snapshot)) descriptors.push_back(files.host_window.get());
  if (has_leases(snapshot)) descriptors.push_back(files.leases.get());
  if (descriptors.empty()) return Status::ok();
  const std::byte mark{1};
  return net::send_with_fds(socket, {&mark, 1}, descriptors, deadline);
}

Result<SharedFiles> receive_shared_files(int socket, const WorkerSnapshot& snapshot, Deadline deadline) {
  const std::size_t wanted =
      static_cast<std::size_t>(has_host_window(snapshot)) + static_cast<std::size_t>(has_leases(snapshot));
  if (wanted == 0) return SharedFiles{};
  std::byte mark{};
  std::vector<net::OwnedFd> came;
  TF_RETURN_IF_ERROR(net::receive_with_fds(socket, {&mark, 1}, came, deadline));
  if (came.size() != wanted)
    return Status(Code::kProtocol, std::to_string(came.size()) + " descriptors came after HELLO instead of " +
                                       std::to_string(wanted));
  SharedFiles files;
  if (has_host_window(snapshot)) files.host_window = std::move(came.front());
  if (has_leases(snapshot)) files.leases = std::move(came.back());
  return files;
}

Result<LeaseSocket> make_lease_socket() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
    return Status::from_errno("socketpair", errno);
  return LeaseSocket{net::OwnedFd(ends[0]), net::OwnedFd(ends[1])};
}

Status send_lease_file(int socket, std::uint64_t address, int file, Deadline deadline) {
  return net::send_with_fds(socket, std::as_bytes(std::span(&address, 1)), {&file, 1}, deadline);
}

Result<net::OwnedFd> receive_lease_file(int socket, std::uint64_t address, Deadline deadline) {
  std::uint64_t whose = 0;
  std::vector<net::OwnedFd> came;
  TF_RETURN_IF_ERROR(
      net::receive_with_fds(socket, std::as_writable_bytes(std::span(&whose, 1)), came, deadline));
  if (came.size() == 1 && whose == address) return std::move(came.front());
  return Status(Code::kProtocol, "the file that came is not that of the lease");
}

}  // namespace tf::protocol
