// SPDX-License-Identifier: Apache-2.0
// Sends and receives the messages of the control connection.
#include "hipcore/wire/control_message.h"

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "transport/net/socket.h"

namespace tf::protocol {
namespace {

// No other message starts with these.
constexpr std::uint64_t kFileMagic = 0x656c'6966'2d46'5401;
constexpr std::uint64_t kCallbackDoneMagic = 0x656e'6f64'2d46'5401;

struct Wire {
  std::uint64_t magic = 0;
  std::uint64_t number = 0;
};
static_assert(sizeof(Wire) == 16 && std::has_unique_object_representations_v<Wire>);

}  // namespace

Status send_passed_file(int socket, std::uint64_t number, int file, Deadline deadline) {
  const Wire wire{kFileMagic, number};
  return net::send_with_fds(socket, std::as_bytes(std::span(&wire, 1)), {&file, 1}, deadline);
}

Status send_callback_done(int socket, std::uint64_t cookie, Deadline deadline) {
  const Wire wire{kCallbackDoneMagic, cookie};
  return net::write_all(socket, std::as_bytes(std::span(&wire, 1)), deadline);
}

Result<ControlMessage> receive_control_message(int socket, Deadline deadline) {
  Wire wire;
  std::vector<net::OwnedFd> files;
  TF_RETURN_IF_ERROR(
      net::receive_with_fds(socket, std::as_writable_bytes(std::span(&wire, 1)), files, deadline));
  if (wire.magic == kCallbackDoneMagic && files.empty())
    return ControlMessage{ControlMessage::Kind::kCallbackDone, wire.number, {}};
  if (wire.magic == kFileMagic && files.size() == 1)
    return ControlMessage{ControlMessage::Kind::kFile, wire.number, std::move(files.front())};
  return Status(Code::kProtocol, "an unknown message on the control connection");
}

}  // namespace tf::protocol
