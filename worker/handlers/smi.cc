// SPDX-License-Identifier: Apache-2.0
// What the session's devices are doing (smi/api/messages.h). Executor thread.
#include "worker/gen/custom_smi.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void smi_describe(Call& call, const protocol::SmiDescribeRequest& request) {
  protocol::SmiDescribeReply reply;
  const hipError_t error = call.session().monitor.describe(request.device, reply);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void smi_sample(Call& call, const protocol::SmiSampleRequest& request) {
  protocol::SmiSampleReply reply;
  const hipError_t error = call.session().monitor.sample(request.device, reply);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void smi_find_session(Call& call, const protocol::SmiFindSessionRequest& request) {
  protocol::SmiFindSessionReply reply;
  const hipError_t error = call.session().monitor.find_session(request.index, reply);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

void smi_find_link(Call& call, const protocol::SmiFindLinkRequest& request) {
  protocol::SmiFindLinkReply reply;
  const hipError_t error = call.session().monitor.find_link(request.from, request.to, reply);
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

}  // namespace tf::worker::custom
