// SPDX-License-Identifier: Apache-2.0
// Passes one numbered file from the client to the worker.
#include "hipcore/wire/passed_file.h"

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "transport/net/socket.h"

namespace tf::protocol {
namespace {

constexpr std::uint64_t kMagic = 0x656c'6966'2d46'5401;  // no other message starts with this

struct Wire {
  std::uint64_t magic = kMagic;
  std::uint64_t number = 0;
};
static_assert(sizeof(Wire) == 16 && std::has_unique_object_representations_v<Wire>);

}  // namespace

Status send_passed_file(int socket, std::uint64_t number, int file, Deadline deadline) {
  Wire wire;
  wire.number = number;
  return net::send_with_fds(socket, std::as_bytes(std::span(&wire, 1)), {&file, 1}, deadline);
}

Result<PassedFile> receive_passed_file(int socket, Deadline deadline) {
  Wire wire;
  std::vector<net::OwnedFd> files;
  TF_RETURN_IF_ERROR(
      net::receive_with_fds(socket, std::as_writable_bytes(std::span(&wire, 1)), files, deadline));
  if (wire.magic != kMagic || files.size() != 1)
    return Status(Code::kProtocol, "something other than a file on the control connection");
  return PassedFile{wire.number, std::move(files.front())};
}

}  // namespace tf::protocol
