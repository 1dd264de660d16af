// SPDX-License-Identifier: Apache-2.0
// Reads and writes the names of shared memory and events in requests and replies.
#pragma once

#include <cstring>
#include <span>

#include "transport/net/attach.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

template <typename Request>
net::Token name_in(const Request& request) {
  net::Token name;
  std::memcpy(name.bytes.data(), &request.key_low, sizeof request.key_low);
  std::memcpy(name.bytes.data() + sizeof request.key_low, &request.key_high, sizeof request.key_high);
  return name;
}

template <typename Reply>
void reply_name(Call& call, hipError_t error, const net::Token& name) {
  Reply reply{};
  std::memcpy(&reply.key_low, name.bytes.data(), sizeof reply.key_low);
  std::memcpy(&reply.key_high, name.bytes.data() + sizeof reply.key_low, sizeof reply.key_high);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

}  // namespace tf::worker::custom
